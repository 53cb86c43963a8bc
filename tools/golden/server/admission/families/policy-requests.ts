/** What expressions see for every request: a policy warns with the attributes of the request and with the fields of the objects. */
import type { Scenario, Sent } from "../../../../../test/support/admission-golden.ts";
import {
  everything,
  type Family,
  mutatingBinding,
  mutatingPolicy,
  namespace,
  validatingBinding,
  validatingPolicy,
} from "./builders.ts";
import { definitions } from "./custom-resources.ts";
import { everyRequest } from "./every-request.ts";

const label = "golden-part-of";

/** Each is a validation that fails with this message. */
const messages: readonly string[] = [
  "request.operation + ' ' + request.name + ' in ' + request.namespace + (request.dryRun ? ' dry' : '')",
  "request.kind.group + '/' + request.kind.version + ' ' + request.kind.kind",
  "request.resource.group + '/' + request.resource.version + ' ' + request.resource.resource + '/' + request.subResource",
  "request.requestKind.group + '/' + request.requestKind.version + ' ' + request.requestKind.kind",
  "request.requestResource.version + ' ' + request.requestResource.resource + '/' + request.requestSubResource",
  "has(request.options) ? string(dyn(request.options).kind) : 'no options'",
  "request.userInfo.username + ' ' + request.userInfo.groups.join(',')",
  "object == null ? 'no object' : string(object.apiVersion) + ' ' + string(object.kind)",
  "oldObject == null ? 'no old object' : string(oldObject.apiVersion) + ' ' + string(oldObject.kind)",
  "object == null || !has(object.metadata) ? 'no metadata' : 'name ' + (has(object.metadata.name) ? string(object.metadata.name) : 'absent')",
  "namespaceObject == null ? 'no namespace' : string(namespaceObject.metadata.name)",
];

function validated(name: string, matchPolicy: string, rules: readonly Sent[]): Scenario {
  const namespaceSelector = { matchLabels: { [label]: name } };
  return {
    name,
    setup: [
      namespace(name, { [label]: name }),
      validatingPolicy(name, {
        failurePolicy: "Ignore",
        matchConstraints: { resourceRules: rules, namespaceSelector, matchPolicy },
        validations: messages.map((messageExpression) => ({ expression: "false", messageExpression })),
        auditAnnotations: [{ key: "operation", valueExpression: "request.operation + ' ' + request.name" }],
      }),
      validatingBinding(name, name, { validationActions: ["Warn", "Audit"], matchResources: { namespaceSelector } }),
    ],
    answers: {},
    requests: everyRequest(name),
  };
}

/** A label on every object that has metadata. */
function mutated(name: string): Scenario {
  const namespaceSelector = { matchLabels: { [label]: name } };
  const expression = `[JSONPatch{op: "add", path: "/metadata/labels", value: {"by": "policy", "operation": request.operation}}]`;
  return {
    name,
    setup: [
      namespace(name, { [label]: name }),
      mutatingPolicy(name, {
        failurePolicy: "Fail",
        matchConstraints: { resourceRules: [{ ...everything, operations: ["CREATE", "UPDATE"] }], namespaceSelector },
        mutations: [{ patchType: "JSONPatch", jsonPatch: { expression } }],
      }),
      mutatingBinding(name, name, { matchResources: { namespaceSelector } }),
    ],
    answers: {},
    requests: everyRequest(name),
  };
}

const versions = [
  { apiGroups: ["autoscaling"], apiVersions: ["v2"], resources: ["*"], operations: ["*"] },
  {
    apiGroups: ["golden.example.com"],
    apiVersions: ["v1beta1"],
    resources: ["*", "*/status", "*/scale"],
    operations: ["*"],
  },
  { apiGroups: ["events.k8s.io"], apiVersions: ["v1"], resources: ["*"], operations: ["*"] },
];

export const policyRequests: Family = {
  setup: definitions,
  scenarios: [
    validated("seen", "Equivalent", [everything]),
    validated("seen-versions", "Equivalent", versions),
    validated("seen-exact", "Exact", versions),
    mutated("labeled"),
  ],
};
