/**
 * MutatingAdmissionWebhook: calls the matching webhooks one after another. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/webhook/mutating/dispatcher.go.
 */

import { type AdmissionAttributes, reinvocationOf } from "../../registry/admission-attributes.ts";
import type { TraceStep } from "../../request/admission-trace.ts";
import { annotateAudit } from "../annotate.ts";
import type { AdmissionPlugin } from "../contract.ts";
import { checkManagedFields } from "../managed-fields.ts";
import type { Match } from "../matching/contract.ts";
import { callWebhook } from "./call.ts";
import type { Webhook } from "./contract.ts";
import { withOutcome } from "./outcome.ts";
import { applyPatch } from "./patch.ts";
import { reinvocationState } from "./reinvocation.ts";
import { RequestObjects } from "./reviewed-objects.ts";
import { calledMatch, type FirstMatch, webhookDispatcher } from "./select.ts";
import { failedOpen, tracedCall } from "./trace-webhooks.ts";
import type { DispatchNeeds } from "./validating.ts";

const pluginName = "MutatingAdmissionWebhook";

/** @returns the plugin MutatingAdmissionWebhook */
export function mutatingWebhooks(needs: DispatchNeeds): AdmissionPlugin {
  const mutate = webhookDispatcher(needs, "admit", (attributes, webhooks, first) =>
    callInOrder(attributes, webhooks, first, needs),
  );
  return { name: pluginName, mutate };
}

/** One run of the plugin for a request. */
interface Run {
  readonly attributes: AdmissionAttributes;
  readonly objects: RequestObjects;
  /** 1 when the plugins run again. */
  readonly round: 0 | 1;
}

async function callInOrder(
  attributes: AdmissionAttributes,
  webhooks: readonly Webhook[],
  first: FirstMatch,
  needs: DispatchNeeds,
): Promise<void> {
  const reinvocation = reinvocationOf(attributes);
  const state = reinvocationState(pluginName, reinvocation);
  state.start(attributes);
  const run: Run = {
    attributes,
    objects: new RequestObjects(attributes, needs.versioned),
    round: reinvocation.isSecondRun ? 1 : 0,
  };
  const managers = attributes.object?.metadata?.managedFields;
  for (let at = first.index; at < webhooks.length; at++) {
    const webhook = webhooks[at] as Webhook;
    const selected = at === first.index ? first.match : await webhook.matcher.match(attributes);
    const match = await calledMatch(webhook, { attributes, type: "admit", match: selected, objects: run.objects });
    if (match === undefined || !state.isDue(webhook.uid)) continue;
    if (await callOne(webhook, match, at, run, needs)) state.changed();
    if (webhook.isReinvoked) state.called(webhook.uid);
  }
  checkManagedFields(attributes, managers);
  state.finish(attributes);
}

/** @param index among all webhooks @returns whether the webhook changed the object */
async function callOne(
  webhook: Webhook,
  match: Match,
  index: number,
  run: Run,
  needs: DispatchNeeds,
): Promise<boolean> {
  const { attributes, objects, round } = run;
  const place = `round_${round}_index_${index}`;
  const annotate = (key: string, value: string): void =>
    void annotateAudit(attributes, `${key}mutation.webhook.admission.k8s.io/${place}`, value);
  let mutated = false;
  let step: Pick<TraceStep, "outcome" | "message" | "patch"> = { outcome: "unchanged" };
  const call = async (): Promise<void> => {
    try {
      const reviewed = await objects.at(match);
      const response = await callWebhook(webhook, { attributes, match, type: "admit", ...reviewed }, needs);
      mutated = await applyPatch({ webhook, match, place, response, reviewed, attributes }, needs);
      if (mutated && attributes.trace !== undefined)
        step = { outcome: "changed", patch: JSON.parse(response.patch.toString()) };
    } finally {
      const { configuration, name } = webhook;
      annotate("", JSON.stringify({ configuration, webhook: name, mutated }));
    }
  };
  const continueAfterFailure = (): void => {
    step = failedOpen;
    annotate("failed-open.", webhook.name);
  };
  const outcome = { attributes, type: "admit", failedOpen: continueAfterFailure } as const;
  await tracedCall(
    { attributes, type: "admit", webhook },
    needs.elapsed,
    () => withOutcome(webhook, outcome, needs, call),
    () => step,
  );
  objects.objectChanged();
  return mutated;
}
