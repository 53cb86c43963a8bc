/** What webhooks receive for every request, and the same with v1beta1, with patches, and with rejections. */
import type { Scenario, Sent } from "../../../../../test/support/admission-golden.ts";
import type { WebhookAnswer } from "../../../../../test/support/scripted-webhook.ts";
import { everything, type Family, mutatingWebhooks, namespace, validatingWebhooks, webhook } from "./builders.ts";
import { definitions } from "./custom-resources.ts";
import { everyRequest } from "./every-request.ts";

const label = "golden-part-of";

interface Variant {
  readonly name: string;
  readonly mutating?: Sent;
  readonly validating?: Sent;
  readonly mutatingAnswer?: WebhookAnswer;
  readonly validatingAnswer?: WebhookAnswer;
}

const rejection = { allowed: false, status: { message: "no", reason: "Because", code: 418 } };
const addLabel = [{ op: "add", path: "/metadata/labels", value: { patched: "yes" } }];

const variants: readonly Variant[] = [
  { name: "allowed", mutating: {}, validating: {} },
  { name: "old-version", validating: { admissionReviewVersions: ["v1beta1", "v1"] } },
  { name: "patched", mutating: {}, validating: {}, mutatingAnswer: { patch: addLabel } },
  { name: "rejected", validating: {}, validatingAnswer: { response: rejection } },
];

function scenarioOf({ name, mutating, validating, mutatingAnswer = {}, validatingAnswer = {} }: Variant): Scenario {
  const more = { rules: [everything], namespaceSelector: { matchLabels: { [label]: name } } };
  return {
    name,
    setup: [
      namespace(name, { [label]: name }),
      ...(mutating === undefined ? [] : [mutatingWebhooks(name, [webhook("/m/all", { ...more, ...mutating })])]),
      ...(validating === undefined ? [] : [validatingWebhooks(name, [webhook("/v/all", { ...more, ...validating })])]),
    ],
    answers: { "/m/all": [mutatingAnswer], "/v/all": [validatingAnswer] },
    requests: everyRequest(name),
  };
}

export const webhookRequests: Family = { setup: definitions, scenarios: variants.map(scenarioOf) };
