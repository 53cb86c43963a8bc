/** admissionregistration.k8s.io: webhook configurations and policies. */
import type { KubeObject } from "../../api/object.ts";
import { strategy } from "../../resource/strategy.ts";
import { items, type Part, setAbsent, struct } from "../fields.ts";

export const validatingWebhookConfiguration = strategy({
  isolatesStatus: false,
  hasGeneration: true,
  setDefaults: (object) => items(object.webhooks).forEach(setWebhookDefaults),
});

export const mutatingWebhookConfiguration = strategy({
  isolatesStatus: false,
  hasGeneration: true,
  setDefaults(object) {
    for (const webhook of items(object.webhooks)) {
      setWebhookDefaults(webhook);
      setAbsent(webhook, { reinvocationPolicy: "Never" });
    }
  },
});

export const validatingAdmissionPolicy = strategy({ hasGeneration: true, setDefaults: setPolicyDefaults });
export const mutatingAdmissionPolicy = strategy({ isolatesStatus: false, hasGeneration: true, setDefaults: setPolicyDefaults });
export const admissionPolicyBinding = strategy({
  isolatesStatus: false,
  hasGeneration: true,
  setDefaults(object) {
    const { matchResources } = struct(object, "spec");
    if (matchResources) setMatchDefaults(matchResources);
  },
});

function setWebhookDefaults(webhook: Part): void {
  setAbsent(webhook, { failurePolicy: "Fail", timeoutSeconds: 10 });
  setMatchDefaults(webhook);
  setScope(webhook.rules);
  const service = webhook.clientConfig?.service;
  if (service) setAbsent(service, { port: 443 });
}

function setPolicyDefaults(object: KubeObject): void {
  const spec = struct(object, "spec");
  setAbsent(spec, { failurePolicy: "Fail" });
  if (spec.matchConstraints) setMatchDefaults(spec.matchConstraints);
}

function setMatchDefaults(match: Part): void {
  setAbsent(match, { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} });
  setScope(match.resourceRules);
  setScope(match.excludeResourceRules);
}

function setScope(rules: unknown): void {
  for (const rule of items(rules)) setAbsent(rule, { scope: "*" });
}
