/** The mode Webhook. Source: k8s.io/apiserver@v0.36.0/plugin/pkg/authorizer/webhook/webhook.go. */
import { type Clock, realClock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { ReviewSpec } from "../../cel-environment/index.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import type { Lifetime } from "../../request/lifetime.ts";
import { untilAborted } from "../../request/lifetime.ts";
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

/** The options of {@link webhookAuthorizer}. */
export interface WebhookAuthorizerOptions {
  readonly name: string;
  readonly configuration: WebhookConfiguration;
  readonly client: Pick<WebhookClient, "post">;
  /** The schema of a SubjectAccessReview in the configured version. */
  readonly schema: Struct;
  /** The gate AuthorizeWithSelectors. */
  readonly selectors: boolean;
  readonly observer: AuthorizationObserver;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns numbers from 0 up to, but not including, 1; for the jitter of retries. */
  readonly random?: () => number;
}

/** The delay before the second of five tries. */
const initialDelayMs = 500;
/** The limit for all tries together, also when the client has no timeout. */
const deadlineMs = 60_000;
/**
 * Responses to requests with at least this many bytes of attributes are not cached, to limit
 * memory.
 */
const cachedBytesMax = 10_000;

/**
 * @returns an authorizer that evaluates the match conditions, then calls the webhook or uses a
 *   cached response
 */
export function webhookAuthorizer(options: WebhookAuthorizerOptions): Authorizer {
  const { name, configuration, selectors, observer, clock, logger, random } = options;
  const { conditions, subjectAccessReviewVersion: version, authorizedTtlMs, unauthorizedTtlMs } = configuration;
  const onError = configuration.failurePolicy === "Deny" ? "deny" : "noOpinion";
  const answers = new AnswerCache(clock);

  /** @returns undefined when the webhook must be called */
  function decideByConditions(spec: ReviewSpec): Decision | undefined {
    if (conditions === undefined) return undefined;
    const since = realClock(clock).now();
    const match = conditions.evaluate(spec);
    const outcome = match.error !== undefined ? "failed" : match.matches ? "matched" : "excluded";
    observer.conditionsEvaluated(name, outcome, realClock(clock).now() - since);
    if (match.error !== undefined) return { decision: onError, reason: "", error: match.error };
    return match.matches ? undefined : noOpinion;
  }

  async function callWithRetries(review: string, attributes: AuthorizationAttributes): Promise<Decision> {
    const deadline = new AbortController();
    const lifetime = untilAborted(deadline.signal);
    const clear = realClock(clock).after(deadlineMs, () => deadline.abort());
    attributes.connection?.onClose(() => deadline.abort());
    try {
      const status = await withBackoff({ initialDelayMs, clock, lifetime, ...(random && { random }) }, () =>
        callOnce(options, review, lifetime),
      );
      if (isCacheable(attributes)) answers.set(review, status, status.allowed ? authorizedTtlMs : unauthorizedTtlMs);
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
    const decided = decideByConditions(spec);
    if (decided !== undefined) return decided;
    const review = encodeReview(spec, version);
    const cached = answers.find(review);
    return cached === undefined ? callWithRetries(review, attributes) : decisionOf(cached);
  };
}

async function callOnce(
  { name, client, configuration, schema, observer, clock }: WebhookAuthorizerOptions,
  review: string,
  lifetime: Lifetime,
): Promise<ReviewStatus> {
  const { subjectAccessReviewVersion: version, timeoutMs } = configuration;
  const kind = { group: "authorization.k8s.io", version, kind: "SubjectAccessReview", schema };
  const since = realClock(clock).now();
  let result: WebhookResult = "success";
  try {
    return statusOf(decodeReview(await client.post(review, { timeoutMs, lifetime }), kind));
  } catch (error) {
    result = resultOf(error);
    throw error;
  } finally {
    observer.webhookCalled(name, result, realClock(clock).now() - since);
  }
}

/** The schema has checked the types of the fields; each field can be missing. */
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
