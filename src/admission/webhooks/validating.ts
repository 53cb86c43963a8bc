/**
 * ValidatingAdmissionWebhook: calls all matching webhooks in parallel. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/webhook/validating/dispatcher.go.
 */
import type { Catalog } from "../../catalog/contract.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { TraceStep } from "../../request/admission-trace.ts";
import { annotateAudit } from "../annotate.ts";
import type { AdmissionPlugin } from "../contract.ts";
import type { Match } from "../matching/contract.ts";
import type { VersionedObjects } from "../matching/versioned.ts";
import { callWebhook } from "./call.ts";
import type { CallNeeds, ReviewedObjects, Webhook } from "./contract.ts";
import { withOutcome } from "./outcome.ts";
import { RequestObjects } from "./reviewed-objects.ts";
import { calledMatch, type FirstMatch, webhookDispatcher } from "./select.ts";
import type { WebhookSource } from "./source.ts";
import { failedOpen, tracedCall } from "./trace-webhooks.ts";

/** What the plugins of webhooks need. */
export interface DispatchNeeds extends CallNeeds {
  readonly webhooks: WebhookSource;
  readonly catalog: Pick<Catalog, "generation">;
  readonly versioned: VersionedObjects;
}

/** @returns the plugin ValidatingAdmissionWebhook */
export function validatingWebhooks(needs: DispatchNeeds): AdmissionPlugin {
  const validate = webhookDispatcher(needs, "validating", (attributes, webhooks, first) =>
    callAll(attributes, webhooks, first, needs),
  );
  return { name: "ValidatingAdmissionWebhook", validate };
}

interface Review extends ReviewedObjects {
  readonly webhook: Webhook;
  readonly match: Match;
}

async function callAll(
  attributes: AdmissionAttributes,
  webhooks: readonly Webhook[],
  first: FirstMatch,
  needs: DispatchNeeds,
): Promise<void> {
  const reviews = await selectReviews(attributes, webhooks, first, needs);
  const errors: unknown[] = [];
  const calls = reviews.map((review, index) =>
    callOne(attributes, review, index, needs).catch((error: unknown) => void errors.push(error)),
  );
  await Promise.all(calls);
  if (errors.length > 0) throw errors[0]; // The first in time, as upstream.
}

async function selectReviews(
  attributes: AdmissionAttributes,
  webhooks: readonly Webhook[],
  first: FirstMatch,
  { versioned }: DispatchNeeds,
): Promise<Review[]> {
  const objects = new RequestObjects(attributes, versioned);
  const reviews: Review[] = [];
  for (let at = first.index; at < webhooks.length; at++) {
    const webhook = webhooks[at] as Webhook;
    const selected = at === first.index ? first.match : await webhook.matcher.match(attributes);
    const match = await calledMatch(webhook, { attributes, type: "validating", match: selected, objects });
    if (match !== undefined) reviews.push({ webhook, match, ...(await objects.at(match)) });
  }
  return reviews;
}

/** @param index among the webhooks that are called */
async function callOne(
  attributes: AdmissionAttributes,
  { webhook, ...review }: Review,
  index: number,
  needs: DispatchNeeds,
): Promise<void> {
  const key = `failed-open.validating.webhook.admission.k8s.io/round_0_index_${index}`;
  let step: Pick<TraceStep, "outcome" | "message"> = { outcome: "allowed" };
  const continueAfterFailure = (): void => {
    step = failedOpen;
    annotateAudit(attributes, key, webhook.name);
  };
  const outcome = { attributes, type: "validating", failedOpen: continueAfterFailure } as const;
  const call = (): Promise<unknown> =>
    withOutcome(webhook, outcome, needs, () =>
      callWebhook(webhook, { attributes, type: "validating", ...review }, needs),
    );
  await tracedCall({ attributes, type: "validating", webhook }, needs.elapsed, call, () => step);
}
