/** Mutating policies for objects with lists and schemas. */
import type { AdmissionRequest } from "../../../../../test/support/admission-golden.ts";
import { request } from "./builders.ts";
import { group, widget, widgets } from "./custom-resources.ts";
import { apply, type MutatingCase, mutatingScenario, patch } from "./mutations.ts";

const deploymentRule = {
  apiGroups: ["apps"],
  apiVersions: ["v1"],
  resources: ["deployments"],
  operations: ["CREATE", "UPDATE"],
};
const onDeployments = (one: MutatingCase): MutatingCase => ({
  ...one,
  spec: { ...one.spec, matchConstraints: { resourceRules: [deploymentRule] } },
});
const template = (fields: string): string =>
  `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{${fields}}}}}`;
const container = "Object.spec.template.spec.containers";

const deployments: Readonly<Record<string, MutatingCase>> = Object.fromEntries(
  Object.entries({
    "apply-replicas": apply("Object{spec: Object.spec{replicas: 3}}"),
    "apply-replicas-computed": apply("Object{spec: Object.spec{replicas: object.spec.replicas * 2}}"),
    "apply-container": apply(template(`containers: [${container}{name: "sidecar", image: "s"}]`)),
    "apply-same-container": apply(template(`containers: [${container}{name: "main", image: "changed"}]`)),
    "apply-init-container": apply(
      template('initContainers: [Object.spec.template.spec.initContainers{name: "init", image: "i"}]'),
    ),
    "apply-container-without-name": apply(template(`containers: [${container}{image: "s"}]`)),
    "apply-env": apply(
      template(`containers: [${container}{name: "main", env: [${container}.env{name: "A", value: "1"}]}]`),
    ),
    "apply-ports": apply(
      template(
        `containers: [${container}{name: "main", ports: [${container}.ports{containerPort: 80, protocol: "TCP"}]}]`,
      ),
    ),
    "apply-security": apply(template("securityContext: Object.spec.template.spec.securityContext{runAsNonRoot: true}")),
    "apply-node-selector": apply(template('nodeSelector: {"zone": "a"}')),
    "apply-tolerations": apply(
      template('tolerations: [Object.spec.template.spec.tolerations{key: "k", operator: "Exists"}]'),
    ),
    "apply-strategy": apply('Object{spec: Object.spec{strategy: Object.spec.strategy{type: "Recreate"}}}'),
    "apply-each-container": apply(
      template(
        `containers: object.spec.template.spec.containers.map(c, ${container}{name: c.name, imagePullPolicy: "Always"})`,
      ),
    ),
    "patch-container": patch(
      '[JSONPatch{op: "add", path: "/spec/template/spec/containers/-", value: Object.spec.template.spec.containers{name: "sidecar", image: "s"}}]',
    ),
    "patch-each-image": patch(
      "object.spec.template.spec.containers.map(c, JSONPatch{op: 'replace', path: '/spec/template/spec/containers/0/image', value: c.image + ':2'})",
    ),
    "patch-replicas-text": patch('[JSONPatch{op: "replace", path: "/spec/replicas", value: "3"}]'),
    "patch-replicas-fraction": patch('[JSONPatch{op: "replace", path: "/spec/replicas", value: 1.5}]'),
    "patch-remove-strategy": patch('[JSONPatch{op: "remove", path: "/spec/strategy"}]'),
    "patch-invalid-image": patch(
      '[JSONPatch{op: "replace", path: "/spec/template/spec/containers/0/name", value: "Not Valid"}]',
    ),
  }).map(([name, one]) => [name, onDeployments(one)]),
);

const widgetRule = {
  apiGroups: [group],
  apiVersions: ["v1"],
  resources: ["widgets"],
  operations: ["CREATE", "UPDATE"],
};
const custom: Readonly<Record<string, MutatingCase>> = Object.fromEntries(
  Object.entries({
    "apply-size": apply("Object{spec: Object.spec{size: object.spec.size + 1}}"),
    "apply-size-too-large": apply("Object{spec: Object.spec{size: 500}}"),
    "apply-color": apply('Object{spec: Object.spec{color: "black"}}'),
    "apply-tags": apply('Object{spec: Object.spec{tags: ["x"]}}'),
    "apply-parts": apply('Object{spec: Object.spec{parts: [Object.spec.parts{name: "p"}]}}'),
    "apply-options": apply('Object{spec: Object.spec{options: {"o": "1"}}}'),
    "apply-free": apply('Object{spec: Object.spec{free: {"any": "thing"}}}'),
    "apply-unknown": apply('Object{spec: Object.spec{unknown: "1"}}'),
    "patch-size": patch('[JSONPatch{op: "add", path: "/spec/size", value: 7}]'),
    "patch-size-text": patch('[JSONPatch{op: "add", path: "/spec/size", value: "7"}]'),
    "patch-free": patch('[JSONPatch{op: "add", path: "/spec/free", value: {"any": ["thing"]}}]'),
    "patch-parts": patch('[JSONPatch{op: "add", path: "/spec/parts", value: [{"name": "p"}]}]'),
    "patch-unknown": patch('[JSONPatch{op: "add", path: "/spec/unknown", value: 1}]'),
    "patch-status": patch('[JSONPatch{op: "add", path: "/status", value: {"size": 1}}]'),
  }).map(([name, one]) => [name, { ...one, spec: { ...one.spec, matchConstraints: { resourceRules: [widgetRule] } } }]),
);

function onDeploymentsIn(ns: string): AdmissionRequest[] {
  const all = `/apis/apps/v1/namespaces/${ns}/deployments`;
  const spec = {
    selector: { matchLabels: { app: "a" } },
    template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "main", image: "i" }] } },
  };
  return [
    request(`POST ${all}`, { metadata: { name: "a" }, spec }),
    request(
      `PATCH ${all}/a?fieldManager=applier`,
      { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" }, spec: { minReadySeconds: 2 } },
      "application/apply-patch+yaml",
    ),
  ];
}

const onWidgets = (ns: string): AdmissionRequest[] => [
  request(`POST ${widgets(ns)}`, widget("a", { size: 2, color: "red", tags: ["t"], parts: [{ name: "q" }] })),
  request(`PATCH ${widgets(ns, "a", "v1beta1")}`, { spec: { color: "blue" } }, "application/merge-patch+json"),
];

export const mutatedObjects = [
  mutatingScenario("deployments", deployments, onDeploymentsIn),
  mutatingScenario("widgets", custom, onWidgets),
];
