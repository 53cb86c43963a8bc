/** What a patch of a mutating webhook does to the object, and several webhooks in order with reinvocation. */
import type { AdmissionRequest, Scenario, Sent } from "../../../../../test/support/admission-golden.ts";
import type { WebhookAnswer } from "../../../../../test/support/scripted-webhook.ts";
import {
  applyConfigMap,
  core,
  createConfigMap,
  deleteConfigMap,
  type Family,
  mutatingWebhooks,
  namespace,
  onlyNamespace,
  patchConfigMap,
  request,
  updateConfigMap,
  validatingWebhooks,
  webhook,
} from "./builders.ts";
import { definitions, group, widget, widgets } from "./custom-resources.ts";

const add = (path: string, value: unknown): Sent => ({ op: "add", path, value });
const replace = (path: string, value: unknown): Sent => ({ op: "replace", path, value });
const remove = (path: string): Sent => ({ op: "remove", path });

const configMapPatches: Readonly<Record<string, WebhookAnswer>> = {
  "add-data": { patch: [add("/data", { a: "1" })] },
  "add-key": { patch: [add("/data/added", "1")] },
  "add-to-absent": { patch: [add("/binaryData/added", "MQ==")] },
  "replace-key": { patch: [replace("/data/a", "2")] },
  "replace-absent": { patch: [replace("/data/nope", "2")] },
  "remove-key": { patch: [remove("/data/a")] },
  "remove-absent": { patch: [remove("/data/nope")] },
  "test-passes": { patch: [{ op: "test", path: "/data/a", value: "1" }, replace("/data/a", "3")] },
  "test-fails": { patch: [{ op: "test", path: "/data/a", value: "9" }, replace("/data/a", "3")] },
  move: { patch: [{ op: "move", from: "/data/a", path: "/data/z" }] },
  copy: { patch: [{ op: "copy", from: "/data/a", path: "/data/z" }] },
  "copy-absent": { patch: [{ op: "copy", from: "/data/nope", path: "/data/z" }] },
  "unknown-operation": { patch: [{ op: "merge", path: "/data/a", value: "1" }] },
  "path-absent": { patch: [{ op: "add", value: "1" }] },
  "not-a-list": { patch: { op: "add", path: "/data/a", value: "1" } },
  "empty-list": { patch: [] },
  "empty-text": { patch: "" },
  "not-json": { patch: "garbage" },
  "no-change": { patch: [replace("/data/a", "1")] },
  "no-type": { response: { patch: "W10=" } },
  "type-empty": { response: { patch: "W10=", patchType: "" } },
  "type-merge": { response: { patch: "e30=", patchType: "MergePatch" } },
  "not-base64": { response: { patch: "%%%", patchType: "JSONPatch" } },
  "denied-with-patch": { patch: [add("/data", {})], response: { allowed: false, status: { message: "m" } } },
  name: { patch: [replace("/metadata/name", "other")] },
  namespace: { patch: [replace("/metadata/namespace", "default")] },
  kind: { patch: [replace("/kind", "Secret")] },
  version: { patch: [replace("/apiVersion", "v2")] },
  "kind-removed": { patch: [remove("/kind")] },
  uid: { patch: [add("/metadata/uid", "00000000-0000-0000-0000-000000000001")] },
  "generate-name": { patch: [add("/metadata/generateName", "g-")] },
  labels: { patch: [add("/metadata/labels", { a: "b" })] },
  "label-invalid": { patch: [add("/metadata/labels", { "not valid!": "b" })] },
  "label-number": { patch: [add("/metadata/labels", { a: 1 })] },
  "unknown-field": { patch: [add("/unknown", { a: 1 })] },
  "unknown-metadata": { patch: [add("/metadata/unknown", 1)] },
  "data-number": { patch: [add("/data", { a: 1 })] },
  "data-text": { patch: [add("/data", "text")] },
  "data-null": { patch: [add("/data", null)] },
  "data-key-invalid": { patch: [add("/data", { "a/b": "1" })] },
  finalizers: { patch: [add("/metadata/finalizers", ["example.com/f"])] },
  "finalizer-invalid": { patch: [add("/metadata/finalizers", ["not valid"])] },
  "owner-references": {
    patch: [add("/metadata/ownerReferences", [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "u" }])],
  },
  "owner-reference-invalid": { patch: [add("/metadata/ownerReferences", [{ kind: "Pod" }])] },
  "managed-fields-removed": { patch: [remove("/metadata/managedFields")] },
  "managed-fields-empty": { patch: [add("/metadata/managedFields", [])] },
  "managed-fields-invalid": { patch: [add("/metadata/managedFields", [{ manager: "m", operation: "Nope" }])] },
  "resource-version": { patch: [add("/metadata/resourceVersion", "1")] },
  "creation-time": { patch: [add("/metadata/creationTimestamp", "2001-01-01T00:00:00Z")] },
  "whole-object": { patch: [replace("", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } })] },
  "whole-object-null": { patch: [replace("", null)] },
  "escaped-path": { patch: [add("/metadata/annotations", {}), add("/metadata/annotations/example.com~1a~0b", "1")] },
  immutable: { patch: [add("/immutable", true)] },
  warnings: { patch: [add("/data", { a: "1" })], response: { warnings: ["changed"], auditAnnotations: { k: "v" } } },
};

const widgetPatches: Readonly<Record<string, WebhookAnswer>> = {
  size: { patch: [add("/spec/size", 5)] },
  "size-too-large": { patch: [add("/spec/size", 500)] },
  "size-text": { patch: [add("/spec/size", "5")] },
  "size-removed": { patch: [remove("/spec/size")] },
  "size-null": { patch: [add("/spec/size", null)] },
  "size-fraction": { patch: [add("/spec/size", 1.5)] },
  "unknown-field": { patch: [add("/spec/unknown", 1)] },
  "free-field": { patch: [add("/spec/free", { any: [1, { b: null }] })] },
  "new-part": { patch: [add("/spec/parts", [{ name: "p" }])] },
  "duplicate-parts": { patch: [add("/spec/parts", [{ name: "p" }, { name: "p" }])] },
  status: { patch: [add("/status", { size: 1 })] },
  version: { patch: [replace("/apiVersion", `${group}/v1beta1`)] },
  "other-group": { patch: [replace("/apiVersion", "other.example.com/v1")] },
  kind: { patch: [replace("/kind", "Region")] },
  "kind-removed": { patch: [remove("/kind")] },
  "spec-removed": { patch: [remove("/spec")] },
  labels: { patch: [add("/metadata/labels", { a: "b" })] },
  "label-number": { patch: [add("/metadata/labels", { a: 1 })] },
  "unknown-metadata": { patch: [add("/metadata/unknown", 1)] },
};

/** One webhook for each patch, each in its namespace. */
function patchScenario(
  name: string,
  rule: Sent,
  patches: Readonly<Record<string, WebhookAnswer>>,
  requests: (ns: string) => AdmissionRequest[],
): Scenario {
  const labels = Object.keys(patches);
  const webhooks = labels.map((label) =>
    webhook(`/m/${label}`, { rules: [rule], namespaceSelector: onlyNamespace(`${name}-${label}`) }),
  );
  return {
    name,
    setup: [...labels.map((label) => namespace(`${name}-${label}`)), mutatingWebhooks(name, webhooks)],
    answers: Object.fromEntries(Object.entries(patches).map(([label, answer]) => [`/m/${label}`, [answer]])),
    requests: labels.flatMap((label) => requests(`${name}-${label}`)),
  };
}

const rule = (apiGroup: string, resource: string, operations: string[]): Sent => ({
  apiGroups: [apiGroup],
  apiVersions: ["v1"],
  resources: [resource],
  operations,
});

const created = patchScenario("created", rule("", "configmaps", ["CREATE"]), configMapPatches, (ns) => [
  createConfigMap(ns, "a", { data: { a: "1" } }),
]);

const updated = patchScenario("updated", rule("", "configmaps", ["UPDATE"]), configMapPatches, (ns) => [
  createConfigMap(ns, "a", { data: { a: "1" } }),
  patchConfigMap(ns, "a", { data: { b: "1" } }),
  applyConfigMap(ns, "a", { data: { c: "1" } }),
]);

const customResources = patchScenario("widgets", rule(group, "widgets", ["*"]), widgetPatches, (ns) => [
  request(`POST ${widgets(ns)}`, widget("a", { size: 2, color: "red" })),
  request(`PATCH ${widgets(ns, "a", "v1beta1")}`, { spec: { color: "blue" } }, "application/merge-patch+json"),
  request(`DELETE ${widgets(ns, "a")}`),
]);

/** Each webhook adds its letter to a list in an annotation, so the object shows the calls. */
const letters = (letter: string): WebhookAnswer[] => [
  { patch: [add(`/metadata/annotations/${letter}-1`, "1")] },
  { patch: [add(`/metadata/annotations/${letter}-2`, "2")] },
  { patch: [add(`/metadata/annotations/${letter}-3`, "3")] },
];
const nothing: WebhookAnswer[] = [{}];
const once = (letter: string): WebhookAnswer[] => [{ patch: [add(`/metadata/annotations/${letter}`, "1")] }];

interface Step {
  readonly letter: string;
  readonly answers: readonly WebhookAnswer[];
  readonly rest?: Sent;
}

const step = (letter: string, answers: readonly WebhookAnswer[], rest: Sent = {}): Step => ({ letter, answers, rest });
const again = { reinvocationPolicy: "IfNeeded" };
const never = { reinvocationPolicy: "Never" };

/** Lists of configurations, which are lists of webhooks. */
const orders: Readonly<Record<string, readonly (readonly Step[])[]>> = {
  one: [[step("a", letters("a"), again)]],
  "two-never": [[step("a", letters("a"), never), step("b", letters("b"), never)]],
  "two-if-needed": [[step("a", letters("a"), again), step("b", letters("b"), again)]],
  "first-if-needed": [[step("a", letters("a"), again), step("b", letters("b"), never)]],
  "second-if-needed": [[step("a", letters("a"), never), step("b", letters("b"), again)]],
  "no-changes": [[step("a", nothing, again), step("b", nothing, again)]],
  "second-changes": [[step("a", nothing, again), step("b", once("b"), again)]],
  "three-last-changes": [[step("a", nothing, again), step("b", nothing, never), step("c", once("c"), again)]],
  "two-configurations": [[step("a", letters("a"), again)], [step("b", letters("b"), again)]],
  "configurations-unordered": [
    [step("z", letters("z"), again)],
    [step("y", once("y"), again)],
    [step("x", nothing, again)],
  ],
  "deny-on-second-call": [
    [step("a", [{}, { response: { allowed: false, status: { message: "second" } } }], again), step("b", once("b"))],
  ],
  "fail-on-second-call": [[step("a", [{}, { code: 500, text: "x" }], again), step("b", once("b"))]],
  "ignore-on-second-call": [
    [step("a", [{}, { code: 500, text: "x" }], { ...again, failurePolicy: "Ignore" }), step("b", once("b"))],
  ],
  "first-denies": [[step("a", [{ response: { allowed: false } }]), step("b", once("b"))]],
  "first-fails-open": [[step("a", [{ text: "" }], { failurePolicy: "Ignore" }), step("b", once("b"))]],
  "selector-appears": [
    [
      step("a", once("a"), { ...again, objectSelector: { matchLabels: { added: "1" } } }),
      step("b", [{ patch: [add("/metadata/labels", { added: "1" })] }]),
    ],
  ],
  "selector-disappears": [
    [
      step("a", once("a"), { ...again, objectSelector: { matchLabels: { present: "1" } } }),
      step("b", [{ patch: [remove("/metadata/labels/present")] }]),
    ],
  ],
  "condition-appears": [
    [
      step("a", once("a"), {
        ...again,
        matchConditions: [{ name: "c", expression: '"b" in object.metadata.annotations' }],
      }),
      step("b", once("b")),
    ],
  ],
  "same-patch-twice": [[step("a", once("a"), again), step("b", once("a"), again)]],
  "undone-change": [
    [
      step("a", [{ patch: [add("/metadata/annotations/x", "1")] }], again),
      step("b", [{ patch: [remove("/metadata/annotations/x")] }], again),
    ],
  ],
  "many-warnings": [
    [step("a", [{ response: { warnings: ["same", "a"] } }]), step("b", [{ response: { warnings: ["same", "b"] } }])],
  ],
};

function orderScenario([label, configurations]: readonly [string, readonly (readonly Step[])[]]): Scenario {
  const ns = `order-${label}`;
  const steps = configurations.flat();
  const all = configurations.map((list, index) =>
    mutatingWebhooks(
      // The second configuration has the first name, to show which order counts.
      `${ns}-${String.fromCharCode(configurations.length - index + 96)}`,
      list.map(({ letter, rest }) => webhook(`/m/${letter}`, { namespaceSelector: onlyNamespace(ns), ...rest })),
    ),
  );
  const metadata = { name: "a", labels: { present: "1" }, annotations: { start: "1" } };
  return {
    name: ns,
    setup: [
      namespace(ns),
      ...all,
      validatingWebhooks(ns, [webhook("/v/last", { namespaceSelector: onlyNamespace(ns) })]),
    ],
    answers: Object.fromEntries(steps.map(({ letter, answers }) => [`/m/${letter}`, answers])),
    requests: [
      createConfigMap(ns, "a", { metadata }),
      updateConfigMap(ns, "a", { metadata, data: { a: "1" } }),
      deleteConfigMap(ns, "a", "?dryRun=All"),
      request(`DELETE ${core(ns, "configmaps")}`),
    ],
  };
}

export const webhookPatches: Family = { setup: definitions, scenarios: [created, updated, customResources] };

export const webhookOrder: Family = { setup: [], scenarios: Object.entries(orders).map(orderScenario) };
