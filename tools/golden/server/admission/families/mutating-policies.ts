/**
 * What mutating policies do: both types of patches, errors, parameters, conditions, order and reinvocation. A list of `Object` values in a JSON
 * patch is not here: the recorded version panics and closes the connection (k8s.io/apiserver@v0.36.0/pkg/cel/mutation/dynamic/objects.go).
 */
import type { AdmissionRequest, SetupStep } from "../../../../../test/support/admission-golden.ts";
import {
  applyConfigMap,
  core,
  createConfigMap,
  type Family,
  namespace,
  onlyNamespace,
  patchConfigMap,
} from "./builders.ts";
import { definitions, group, widget, widgets } from "./custom-resources.ts";
import { mutatedObjects } from "./mutating-objects.ts";
import { mutatingOrders } from "./mutating-order.ts";
import { applies, apply, type MutatingCase, mutatingScenario, patch, patches } from "./mutations.ts";
import { rights } from "./policies.ts";

const label = (name: string, value = "'1'"): string =>
  `Object{metadata: Object.metadata{labels: {"${name}": ${value}}}}`;
const addLabel = (name: string, value = '"1"'): string =>
  `[JSONPatch{op: "add", path: "/metadata/labels/${name}", value: ${value}}]`;

const configMaps: Readonly<Record<string, MutatingCase>> = {
  "apply-label": apply(label("added")),
  "apply-data": apply('Object{data: {"added": "1", "a": "9"}}'),
  "apply-expression-value": apply('Object{data: {"copy": object.metadata.name + request.operation}}'),
  "apply-nothing": apply("Object{}"),
  "apply-same": apply('Object{data: {"a": object.data.a}}'),
  "apply-conditional": apply("request.operation == 'CREATE' ? Object{data: {'created': 'yes'}} : Object{}"),
  "apply-name": apply('Object{metadata: Object.metadata{name: "other"}}'),
  "apply-generate-name": apply('Object{metadata: Object.metadata{generateName: "other-"}}'),
  "apply-annotations": apply('Object{metadata: Object.metadata{annotations: {"example.com/a": "b"}}}'),
  "apply-finalizers": apply('Object{metadata: Object.metadata{finalizers: ["example.com/f"]}}'),
  "apply-kind": apply('Object{kind: "Secret"}'),
  "apply-immutable": apply("Object{immutable: true}"),
  "apply-invalid-label": apply('Object{metadata: Object.metadata{labels: {"not valid!": "1"}}}'),
  "apply-binary": apply("Object{binaryData: {'b': b'abc'}}"),
  "apply-unknown": apply('Object{unknown: "x"}'),
  "apply-null": apply("Object{data: null}"),
  "apply-error": apply("Object{data: {'x': object.data.none}}"),
  "apply-error-ignored": apply("Object{data: {'x': object.data.none}}", { failurePolicy: "Ignore" }),
  "apply-two": {
    spec: { mutations: [applies(label("one")), applies(label("two", "object.metadata.labels.one + '2'"))] },
  },
  "apply-old-object": apply("Object{data: {'old': oldObject == null ? 'none' : oldObject.data.a}}"),
  "apply-variable": apply(label("v", "variables.v"), {
    variables: [{ name: "v", expression: "'of-' + request.name" }],
  }),
  "apply-namespace": apply(label("tier", "namespaceObject.metadata.labels.tier")),
  "apply-authorizer": apply(label("may", "string(authorizer.group('').resource('secrets').check('get').allowed())")),
  "patch-add": patch(addLabel("added")),
  "patch-add-to-absent": patch('[JSONPatch{op: "add", path: "/binaryData/x", value: "1"}]'),
  "patch-replace": patch('[JSONPatch{op: "replace", path: "/data/a", value: "9"}]'),
  "patch-remove": patch('[JSONPatch{op: "remove", path: "/data/a"}]'),
  "patch-remove-absent": patch('[JSONPatch{op: "remove", path: "/data/none"}]'),
  "patch-remove-absent-ignored": patch('[JSONPatch{op: "remove", path: "/data/none"}]', { failurePolicy: "Ignore" }),
  "patch-move": patch('[JSONPatch{op: "move", from: "/data/a", path: "/data/z"}]'),
  "patch-copy": patch('[JSONPatch{op: "copy", from: "/data/a", path: "/data/z"}]'),
  "patch-test": patch(
    '[JSONPatch{op: "test", path: "/data/a", value: "1"}, JSONPatch{op: "add", path: "/data/z", value: "1"}]',
  ),
  "patch-empty": patch(`${addLabel("added")}.filter(p, false)`),
  "patch-conditional": patch('has(object.data) ? [JSONPatch{op: "add", path: "/data/x", value: "1"}] : []'),
  "patch-object": patch('[JSONPatch{op: "add", path: "/data", value: {"x": "1"}}]'),
  "patch-typed": patch(
    '[JSONPatch{op: "add", path: "/metadata", value: Object.metadata{name: object.metadata.name, labels: {"a": "b"}}}]',
  ),
  "patch-escaped": patch(
    '[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("example.com/a~b"), value: "1"}]',
  ),
  "patch-number": patch('[JSONPatch{op: "add", path: "/data/x", value: 1}]'),
  "patch-unknown-operation": patch('[JSONPatch{op: "merge", path: "/data/x", value: "1"}]'),
  "patch-value-absent": patch('[JSONPatch{op: "add", path: "/data/x"}]'),
  "patch-path-absent": patch('[JSONPatch{op: "add", value: "1"}]'),
  "patch-path-invalid": patch('[JSONPatch{op: "add", path: "data/x", value: "1"}]'),
  "patch-unknown-field": patch('[JSONPatch{op: "add", path: "/unknown", value: "1"}]'),
  "patch-name": patch('[JSONPatch{op: "replace", path: "/metadata/name", value: "other"}]'),
  "patch-namespace": patch('[JSONPatch{op: "replace", path: "/metadata/namespace", value: "default"}]'),
  "patch-error": patch("[JSONPatch{op: 'add', path: '/data/x', value: object.data.none}]"),
  "patch-error-ignored": patch("[JSONPatch{op: 'add', path: '/data/x', value: object.data.none}]", {
    failurePolicy: "Ignore",
  }),
  "patch-two": {
    spec: { mutations: [patches(addLabel("one")), patches(addLabel("two", "object.metadata.labels.one"))] },
  },
  "patch-and-apply": {
    spec: { mutations: [patches(addLabel("one")), applies(label("two", "object.metadata.labels.one"))] },
  },
  "second-fails": {
    spec: { mutations: [patches(addLabel("one")), patches('[JSONPatch{op: "remove", path: "/data/none"}]')] },
  },
  "condition-false": patch(addLabel("added"), { matchConditions: [{ name: "c", expression: "false" }] }),
  "condition-object": patch(addLabel("added"), {
    matchConditions: [{ name: "c", expression: "object.data.a == '1'" }],
  }),
  "condition-error": patch(addLabel("added"), {
    matchConditions: [{ name: "c", expression: "object.data.none == '1'" }],
  }),
  "condition-error-ignored": patch(addLabel("added"), {
    failurePolicy: "Ignore",
    matchConditions: [{ name: "c", expression: "object.data.none == '1'" }],
  }),
  "params-named": {
    spec: {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      mutations: [patches(addLabel("p", "params.data.value"))],
    },
    binding: { paramRef: { name: "parameter", namespace: "parameters", parameterNotFoundAction: "Deny" } },
  },
  "params-absent-deny": {
    spec: {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      mutations: [patches(addLabel("p", "params.data.value"))],
    },
    binding: { paramRef: { name: "absent", namespace: "parameters", parameterNotFoundAction: "Deny" } },
  },
  "params-absent-allow": {
    spec: {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      mutations: [patches(addLabel("p", "params.data.value"))],
    },
    binding: { paramRef: { name: "absent", namespace: "parameters", parameterNotFoundAction: "Allow" } },
  },
  "params-selected": {
    spec: {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      mutations: [applies(`Object{metadata: Object.metadata{labels: {params.metadata.name: "1"}}}`)],
    },
    binding: {
      paramRef: { selector: { matchLabels: { set: "yes" } }, namespace: "parameters", parameterNotFoundAction: "Deny" },
    },
  },
  "params-custom": {
    spec: {
      paramKind: { apiVersion: `${group}/v1`, kind: "Widget" },
      mutations: [applies(label("size", "string(params.spec.size)"))],
    },
    binding: { paramRef: { name: "limits", namespace: "parameters", parameterNotFoundAction: "Deny" } },
  },
  selector: {
    spec: { mutations: [patches(addLabel("added"))] },
    binding: {
      matchResources: {
        objectSelector: { matchLabels: { tier: "b" } },
        namespaceSelector: onlyNamespace("configmaps-selector"),
      },
    },
  },
};

const metadata = { name: "a", labels: { tier: "a" } };

const onConfigMaps = (ns: string): AdmissionRequest[] => [
  createConfigMap(ns, "a", { metadata, data: { a: "1", b: "2" } }),
  patchConfigMap(ns, "a", { data: { b: "3" } }),
  applyConfigMap(ns, "c", { metadata: { name: "c", labels: { tier: "b" } }, data: { a: "1" } }),
];

const parameters: readonly SetupStep[] = [
  namespace("parameters"),
  [
    core("parameters", "configmaps"),
    { metadata: { name: "parameter", labels: { set: "yes" } }, data: { value: "of-param" } },
  ],
  [
    core("parameters", "configmaps"),
    { metadata: { name: "second", labels: { set: "yes" } }, data: { value: "second" } },
  ],
  [widgets("parameters"), widget("limits", { size: 7 })],
];

export const mutatingPolicies: Family = {
  setup: [...definitions, ...rights, ...parameters],
  scenarios: [mutatingScenario("configmaps", configMaps, onConfigMaps), ...mutatedObjects, ...mutatingOrders],
};
