/** The mode Webhook: asks another service. Source: access-control §5.3 and §7; upstream's authorizer/webhook. */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { ReviewSpec } from "../../cel-environment/index.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { type WebhookClient, WebhookError } from "../../webhook/contract.ts";
import { withBackoff } from "../../webhook/retry.ts";
import { decodeReview } from "../../webhook/review.ts";
import type { WebhookConfiguration } from "../configuration/contract.ts";
import type {
  AuthorizationAttributes,
  AuthorizationObserver,
  Authorizer,
  Decision,
  WebhookResult,
} from "../contract.ts";
import { noOpinion } from "../decisions.ts";
import { AnswerCache, type ReviewStatus } from "./answer-cache.ts";
import { encodeReview, reviewSpec } from "./review.ts";

export interface WebhookAuthorizerOptions {
  readonly name: string;
  readonly configuration: WebhookConfiguration;
  readonly client: Pick<WebhookClient, "post">;
  /** Of a SubjectAccessReview in the version that is spoken. */
  readonly schema: Struct;
  /** Gate AuthorizeWithSelectors. */
  readonly selectors: boolean;
  readonly observer: AuthorizationObserver;
  readonly clock: Clock;
  readonly logger: Logger;
  /** 0 up to 1. */
  readonly random?: () => number;
}

/** Before the second of five tries. */
const initialDelayMs = 500;
/** Of all tries together, whoever waits. */
const deadlineMs = 60_000;
/** Bytes of what a request says from which on the answer is not kept: it may be one of very many. */
const cachedBytesMax = 10_000;

export function webhookAuthorizer(options: WebhookAuthorizerOptions): Authorizer {
  const { name, configuration, client, schema, selectors, observer, clock, logger, random } = options;
  const {
    conditions,
    subjectAccessReviewVersion: version,
    authorizedTtlMs,
    unauthorizedTtlMs,
    timeoutMs,
  } = configuration;
  const kind = { group: "authorization.k8s.io", version, kind: "SubjectAccessReview", schema };
  const onError = configuration.failurePolicy === "Deny" ? "deny" : "noOpinion";
  const answers = new AnswerCache(clock);

  /** @returns what is decided without the webhook, if anything is */
  function unmatched(spec: ReviewSpec): Decision | undefined {
    if (conditions === undefined) return undefined;
    const since = clock.now();
    const match = conditions.evaluate(spec);
    const outcome = match.error !== undefined ? "failed" : match.matches ? "matched" : "excluded";
    observer.conditionsEvaluated(name, outcome, clock.now() - since);
    if (match.error !== undefined) return { decision: onError, reason: "", error: match.error };
    return match.matches ? undefined : noOpinion;
  }

  async function call(question: string, signal: AbortSignal): Promise<ReviewStatus> {
    const since = clock.now();
    let result: WebhookResult = "success";
    try {
      return statusOf(decodeReview(await client.post(question, { timeoutMs, signal }), kind));
    } catch (error) {
      result = resultOf(error);
      throw error;
    } finally {
      observer.webhookCalled(name, result, clock.now() - since);
    }
  }

  async function ask(question: string, attributes: AuthorizationAttributes): Promise<Decision> {
    const deadline = new AbortController();
    const { signal } = deadline;
    const clear = clock.after(deadlineMs, () => deadline.abort());
    attributes.waiting?.onClose(() => deadline.abort());
    try {
      const status = await withBackoff({ initialDelayMs, clock, signal, ...(random && { random }) }, () =>
        call(question, signal),
      );
      if (isCacheable(attributes)) answers.keep(question, status, status.allowed ? authorizedTtlMs : unauthorizedTtlMs);
      return decisionOf(status);
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      logger.error("Failed to make webhook authorizer request", { name, error: error.message });
      const result = resultOf(error);
      if (onError === "noOpinion" && result !== "canceled") observer.webhookFailedOpen(name, result);
      return { decision: onError, reason: "", error: error.message };
    } finally {
      clear();
    }
  }

  return (attributes) => {
    const spec = reviewSpec(attributes, { selectors });
    const decided = unmatched(spec);
    if (decided !== undefined) return decided;
    const question = encodeReview(spec, version);
    const kept = answers.find(question);
    return kept === undefined ? ask(question, attributes) : decisionOf(kept);
  };
}

/** Types are those of the schema, and each field may be absent. */
function statusOf({ status }: Record<string, unknown>): ReviewStatus {
  const { allowed = false, denied = false, reason = "" } = (status ?? {}) as Partial<ReviewStatus>;
  return { allowed, denied, reason };
}

function resultOf(error: unknown): WebhookResult {
  if (!(error instanceof WebhookError)) return "error";
  const { kind, status } = error;
  if (kind === "canceled") return "canceled";
  return kind === "timeout" || status?.code === 504 || status?.reason === "Timeout" ? "timeout" : "error";
}

function decisionOf({ allowed, denied, reason }: ReviewStatus): Decision {
  if (denied && allowed)
    return { decision: "deny", reason, error: "webhook subject access review returned both allow and deny response" };
  if (denied) return { decision: "deny", reason };
  return { decision: allowed ? "allow" : "noOpinion", reason };
}

function isCacheable({
  namespace,
  verb,
  group,
  version,
  resource,
  subresource,
  name,
  path,
}: AuthorizationAttributes): boolean {
  const parts = [namespace, verb, group, version, resource, subresource, name, path];
  return parts.reduce((bytes, part) => bytes + Buffer.byteLength(part), 0) < cachedBytesMax;
}
