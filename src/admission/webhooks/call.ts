/**
 * Calls one webhook. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/webhook/validating/dispatcher.go and
 * mutating/dispatcher.go.
 */

import { RequestTimeout } from "../../apimachinery/errors.ts";
import { inSpan, type SpanAttributes } from "../../apimachinery/spans.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { ReviewObserver, WebhookReview } from "../../request/webhook-review.ts";
import { WebhookError } from "../../webhook/contract.ts";
import { InvalidClientConfig } from "../../webhook/shared-clients.ts";
import { annotateAudit } from "../annotate.ts";
import type { Match } from "../matching/contract.ts";
import type { CallNeeds, ReviewedObjects, Webhook, WebhookType } from "./contract.ts";
import { CallFailure, Denied, denial, dryRunUnsupported } from "./denial.ts";
import { encodeReview } from "./review-request.ts";
import { InvalidReview, type ReviewResponse, readResponse, type SentReview } from "./review-response.ts";

/** A request as a webhook sees it. */
export interface CallRequest extends ReviewedObjects {
  readonly attributes: AdmissionAttributes;
  readonly match: Match;
  readonly type: WebhookType;
}

/**
 * Calls a webhook, and adds its warnings and audit annotations to the request.
 *
 * @returns the response, which allows the request
 * @throws CallFailure
 * @throws Denied
 * @throws ApiError 400 for a dry run that the webhook does not support
 */
export function callWebhook(webhook: Webhook, request: CallRequest, needs: CallNeeds): Promise<ReviewResponse> {
  return needs.reviewed === undefined
    ? call(webhook, request, needs)
    : reportedCall(webhook, request, { ...needs, reviewed: needs.reviewed });
}

/** Reports the call to a test server. */
async function reportedCall(
  webhook: Webhook,
  request: CallRequest,
  needs: CallNeeds & { readonly reviewed: ReviewObserver },
): Promise<ReviewResponse> {
  const startedAt = needs.elapsed();
  const report = (outcome: WebhookReview["outcome"], message: string): void => {
    const { operation, target, subresource, namespace, name } = request.attributes;
    const { group, resource } = target.resource.definition;
    needs.reviewed({
      type: request.type === "admit" ? "mutating" : "validating",
      configuration: webhook.configuration,
      webhook: webhook.name,
      ...{ operation, group, resource, subresource, namespace, name, outcome, message },
      durationMs: needs.elapsed() - startedAt,
    });
  };
  try {
    const response = await call(webhook, request, needs);
    report(response.patch.length > 0 ? "changed" : "allowed", "");
    return response;
  } catch (error) {
    report(error instanceof Denied ? "denied" : "failed", error instanceof Error ? error.message : String(error));
    throw error;
  }
}

async function call(webhook: Webhook, request: CallRequest, needs: CallNeeds): Promise<ReviewResponse> {
  const { attributes, match, type } = request;
  const { name, reviewVersion: version } = webhook;
  if (attributes.dryRun && !webhook.supportsDryRun) throw dryRunUnsupported(name);
  if (version === undefined) throw new CallFailure(name, unknownVersions, { code: 400 });
  const uid = needs.newUid();
  const review = encodeReview(attributes, { ...request, version, uid, match });
  const response = await post(webhook, review, request, { version, uid, isMutating: type === "admit" }, needs);
  for (const [key, value] of Object.entries(response.auditAnnotations)) {
    const problem = annotateAudit(attributes, `${name}/${key}`, value);
    if (problem !== undefined)
      needs.logger.warn("Dropped an audit annotation of a webhook", { webhook: name, problem });
  }
  for (const warning of response.warnings) attributes.warnings.push(warning);
  if (!response.allowed) throw new Denied(denial(name, response.result));
  return response;
}

const unknownVersions =
  "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)";

async function post(
  webhook: Webhook,
  review: Buffer,
  { attributes, type }: CallRequest,
  sent: SentReview,
  { now }: CallNeeds,
): Promise<ReviewResponse> {
  const { lifetime, audit } = attributes;
  const leftMs = lifetime === undefined ? webhook.timeoutMs : lifetime.endsAt - now();
  if (leftMs <= 0) throw new RequestTimeout();
  const stopTimer = audit?.timing(type === "admit" ? "mutating-webhook" : "validating-webhook");
  try {
    const timeoutMs = Math.min(webhook.timeoutMs, Math.ceil(leftMs / 1000) * 1000);
    const name = `Call ${type === "admit" ? "mutating" : "validating"} webhook`;
    const traced = { name, attributes: () => spanAttributes(webhook, attributes, sent) };
    const answer = await inSpan(traced, async (span) => {
      const received = await webhook.client.post(review, { timeoutMs, lifetime });
      span?.addEvent("Request completed");
      return received;
    });
    return readResponse(answer, sent);
  } catch (error) {
    throw callFailure(webhook, error);
  } finally {
    stopTimer?.();
  }
}

function spanAttributes(
  { configuration, name }: Webhook,
  { target, subresource, operation }: AdmissionAttributes,
  { uid }: SentReview,
): SpanAttributes {
  const { group, resource } = target.resource.definition;
  const goResource = `${group}/${target.version.version}, Resource=${resource}`;
  return { configuration, webhook: name, resource: goResource, subresource, operation, UID: uid };
}

/** Other errors than those of the client are bugs, and remain as they are. */
function callFailure({ name }: Webhook, error: unknown): unknown {
  if (error instanceof InvalidClientConfig)
    return new CallFailure(name, `could not get REST client: ${error.message}`, { code: 500 });
  if (error instanceof InvalidReview)
    return new CallFailure(name, `received invalid webhook response: ${error.message}`);
  if (!(error instanceof WebhookError)) return error;
  const { code = 503 } = error.status ?? {};
  const isCanceled = error.kind === "canceled";
  return new CallFailure(name, `failed to call webhook: ${error.message}`, { code, isCanceled });
}
