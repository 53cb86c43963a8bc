/** Reports what webhooks do to a request, for an explanation. */

import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { TraceStep } from "../../request/admission-trace.ts";
import type { Webhook, WebhookType } from "./contract.ts";

/** A webhook and the request. */
interface TracedWebhook {
  readonly attributes: Pick<AdmissionAttributes, "trace">;
  readonly type: WebhookType;
  readonly webhook: Pick<Webhook, "configuration" | "name">;
}

type Step = Pick<TraceStep, "outcome" | "message" | "patch">;

/** Reports why a webhook is not called. */
export function traceNotCalled(traced: TracedWebhook, message: string): void {
  add(traced, { outcome: "skipped", message }, 0);
}

export const noMatch = "the request does not match the rules or selectors of the webhook";
export const noCondition = "the request does not match the matchConditions of the webhook";

/**
 * Runs a call of a webhook, and reports it if the request has a trace.
 *
 * @param elapsed returns milliseconds since any moment
 * @param result returns the outcome of a call that does not reject the request
 */
export function tracedCall(
  traced: TracedWebhook,
  elapsed: () => number,
  call: () => Promise<unknown>,
  result: () => Step,
): Promise<unknown> {
  return traced.attributes.trace === undefined ? call() : reportedCall(traced, elapsed, call, result);
}

async function reportedCall(
  traced: TracedWebhook,
  elapsed: () => number,
  call: () => Promise<unknown>,
  result: () => Step,
): Promise<void> {
  const startedAt = elapsed();
  const seconds = (): number => (elapsed() - startedAt) / 1000;
  try {
    await call();
  } catch (error) {
    add(traced, { outcome: "rejected", message: (error as Error).message }, seconds());
    throw error;
  }
  add(traced, result(), seconds());
}

/** The outcome of a call that failed, while the request continues. */
export const failedOpen: Step = { outcome: "failed", message: "the call failed, and failurePolicy is Ignore" };

function add({ attributes, type, webhook: { configuration, name } }: TracedWebhook, step: Step, seconds: number): void {
  const isMutating = type === "admit";
  const resource = isMutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations";
  attributes.trace?.add({
    plugin: isMutating ? "MutatingAdmissionWebhook" : "ValidatingAdmissionWebhook",
    phase: isMutating ? "mutating" : "validating",
    part: name,
    objects: [{ group: "admissionregistration.k8s.io", version: "v1", resource, namespace: "", name: configuration }],
    ...step,
    seconds,
  });
}
