/**
 * The plugin ImagePolicyWebhook asks a webhook whether pods can use their images.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/imagepolicy/admission.go.
 */
import type { Clock } from "../../../apimachinery/clock.ts";
import { ApiError } from "../../../apimachinery/errors.ts";
import type { Logger } from "../../../apimachinery/logger.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import { type WebhookClient, WebhookError } from "../../../webhook/contract.ts";
import { withBackoff } from "../../../webhook/retry.ts";
import { decodeReview } from "../../../webhook/review.ts";
import { annotateAudit } from "../../annotate.ts";
import type { AdmissionPlugin } from "../../contract.ts";
import { rejection } from "../../rejection.ts";
import type { ImagePolicy, ImageReviewStatus } from "./contract.ts";
import { encodeReview, encodeSpec, imageReview } from "./review.ts";
import { type StatusCache, statusCache } from "./status-cache.ts";

interface ImagePolicyNeeds {
  readonly client: Pick<WebhookClient, "post">;
  readonly policy: Omit<ImagePolicy, "endpoint">;
  readonly clock: Clock;
  readonly logger: Pick<Logger, "warn">;
}

interface CheckNeeds extends ImagePolicyNeeds {
  readonly cache: StatusCache;
}

const auditPrefix = "imagepolicywebhook.image-policy.k8s.io/";
/** Of one call. */
const timeoutMs = 30_000;

/** @returns the plugin ImagePolicyWebhook */
export function imagePolicyWebhook(needs: ImagePolicyNeeds): AdmissionPlugin {
  const cache = statusCache(needs.clock);
  return {
    name: "ImagePolicyWebhook",
    validate(attributes) {
      if (hasImages(attributes)) return check(attributes, { ...needs, cache });
    },
  };
}

function hasImages({ operation, target, subresource }: AdmissionAttributes): boolean {
  if (operation !== "CREATE" && operation !== "UPDATE") return false;
  const { group, resource } = target.resource.definition;
  return group === "" && resource === "pods" && (subresource === "" || subresource === "ephemeralcontainers");
}

/** @throws ApiError 403 */
async function check(attributes: AdmissionAttributes, needs: CheckNeeds): Promise<void> {
  const spec = encodeSpec(attributes);
  const status = needs.cache.find(spec) ?? (await review(spec, attributes, needs));
  if (status === "failed") return;
  const { allowed = false, reason = "", auditAnnotations = {} } = status;
  annotate(attributes, auditAnnotations, needs.logger);
  if (allowed) return;
  throw rejection(
    attributes,
    reason === ""
      ? "one or more images rejected by webhook backend"
      : `image policy webhook backend denied one or more images: ${reason}`,
  );
}

/**
 * Calls the webhook.
 *
 * @returns `failed` if it cannot be reached and pods are allowed then
 * @throws ApiError 403 if it cannot be reached otherwise
 */
async function review(
  spec: string,
  attributes: AdmissionAttributes,
  { client, policy, clock, cache }: CheckNeeds,
): Promise<ImageReviewStatus | "failed"> {
  const { lifetime } = attributes;
  const backoff = { initialDelayMs: policy.retryBackoffMs, clock, lifetime };
  const body = encodeReview(spec);
  try {
    const answer = await withBackoff(backoff, async () =>
      decodeReview(await client.post(body, { timeoutMs, lifetime }), imageReview),
    );
    const status: ImageReviewStatus = answer.status ?? {};
    cache.add(spec, status, status.allowed === true ? policy.allowTtlMs : policy.denyTtlMs);
    return status;
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    if (!policy.defaultAllow) throw failure(attributes, error);
    annotateAudit(attributes, `${auditPrefix}failed-open`, "true");
    return "failed";
  }
}

/** As upstream, an answer that says that the server is not allowed to call becomes the answer to the client. */
function failure(attributes: AdmissionAttributes, { message, status }: WebhookError): ApiError {
  if (status?.reason !== "Forbidden") return rejection(attributes, message);
  const { code, reason, isSent } = status;
  const causes = [{ reason: "UnexpectedServerResponse", message }];
  return new ApiError({ code, reason, message, ...(!isSent && { details: { causes } }) });
}

/** Keys come from the webhook, and can be invalid. */
function annotate(
  attributes: AdmissionAttributes,
  annotations: Readonly<Record<string, string>>,
  logger: Pick<Logger, "warn">,
): void {
  for (const [name, value] of Object.entries(annotations)) {
    const key = auditPrefix + name;
    const error = annotateAudit(attributes, key, value);
    if (error !== undefined) logger.warn("failed to set admission audit annotation", { key, value, error });
  }
}
