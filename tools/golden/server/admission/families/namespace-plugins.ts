/** The plugins that create namespaces, or require that they exist. */
import type { AdmissionRequest, Scenario, Sent } from "../../../../../test/support/admission-golden.ts";
import { otherPlugins } from "../../../../../test/support/admission-replay.ts";
import { core, type Family, namespace, request } from "./builders.ts";

const pod: Sent = { metadata: { name: "a" }, spec: { containers: [{ name: "c", image: "i" }] } };
const review: Sent = { spec: { user: "u", resourceAttributes: { verb: "get", resource: "pods" } } };

/** Not ConfigMaps, which the policies of the recorder match. */
const createSecret = (inNamespace: string, name: string, query = ""): AdmissionRequest =>
  request(`POST ${core(inNamespace, "secrets")}${query}`, { metadata: { name } });
const deleteSecret = (inNamespace: string, name: string): AdmissionRequest =>
  request(`DELETE ${core(inNamespace, "secrets", name)}`);

/** Requests in a namespace that does not exist, and reads of it after each. */
function inMissing(prefix: string): AdmissionRequest[] {
  const writes: ((name: string) => AdmissionRequest)[] = [
    (name) => createSecret(name, "a"),
    (name) => createSecret(name, "a", "?dryRun=All"),
    (name) => createSecret(name, "invalid_name"),
    (name) => request(`POST ${core(name, "secrets")}`, { metadata: { generateName: "generated-" } }),
    (name) => request(`POST ${core(name, "pods")}`, pod),
    (name) => request(`POST ${core(name, "pods")}`, { metadata: { name: "a" }, spec: {} }),
    (name) => request(`PUT ${core(name, "secrets", "a")}`, { metadata: { name: "a" } }),
    (name) => request(`PUT ${core(name, "endpoints", "a")}`, { metadata: { name: "a" } }),
    (name) =>
      request(
        `PATCH ${core(name, "secrets", "a")}?fieldManager=applier`,
        { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } },
        "application/apply-patch+yaml",
      ),
    (name) => request(`PATCH ${core(name, "secrets", "a")}`, {}, "application/merge-patch+json"),
    (name) => deleteSecret(name, "a"),
    (name) => request(`DELETE ${core(name, "secrets")}`),
    (name) => request(`GET ${core(name, "secrets")}`),
    (name) =>
      request(`POST /apis/authorization.k8s.io/v1/namespaces/${name}/localsubjectaccessreviews`, {
        ...review,
        spec: { ...review.spec, resourceAttributes: { ...review.spec.resourceAttributes, namespace: name } },
      }),
    (name) =>
      request(`POST ${core(name, "pods", "a")}/binding`, {
        metadata: { name: "a" },
        target: { kind: "Node", name: "n" },
      }),
    (name) => request(`POST ${core(name, "pods", "a")}/eviction`, { metadata: { name: "a" } }),
    (name) => request(`POST ${core(name, "serviceaccounts", "a")}/token`, { spec: {} }),
    (name) => request(`POST ${core(name, "pods", "a")}/exec?command=x`),
    (name) =>
      request(`POST /apis/batch/v1/namespaces/${name}/jobs`, {
        metadata: { name: "a" },
        spec: { template: { spec: { ...pod.spec, restartPolicy: "Never" } } },
      }),
    (name) => request(`POST /apis/events.k8s.io/v1/namespaces/${name}/events`, { metadata: { name: "a" } }),
    (name) => request(`PUT /api/v1/namespaces/${name}`, { metadata: { name } }),
    (name) => request(`PUT /api/v1/namespaces/${name}/finalize`, { metadata: { name } }),
    (name) => request(`DELETE /api/v1/namespaces/${name}`),
  ];
  return writes.flatMap((write, index) => [
    write(`${prefix}-${index}`),
    request(`GET /api/v1/namespaces/${prefix}-${index}`),
  ]);
}

/** Requests as a user that can write secrets in any namespace, but not namespaces. */
const asWriter = (requests: readonly AdmissionRequest[]): AdmissionRequest[] =>
  requests.map((one) => ({ ...one, user: ["golden-writer"] }));

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const writer: Family["setup"] = [
  [
    `${rbac}/clusterroles`,
    { metadata: { name: "writer" }, rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["*"] }] },
  ],
  [
    `${rbac}/clusterrolebindings`,
    {
      metadata: { name: "writer" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "writer" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "golden-writer" }],
    },
  ],
];

const invalidNames = ["UPPER", "with_underscore", "with.dot", "a".repeat(64), "%C3%A4", "a%20b"];

/** A namespace that waits for its finalizer. */
const terminating = (name: string): Scenario => ({
  name,
  setup: [namespace(name)],
  answers: {},
  requests: [
    createSecret(name, "before"),
    request(`DELETE /api/v1/namespaces/${name}`),
    createSecret(name, "after"),
    request(`PUT ${core(name, "secrets", "before")}`, { metadata: { name: "before" }, data: { a: "b" } }),
    deleteSecret(name, "before"),
  ],
});

const scenarios = (prefix: string): Scenario[] => [
  { name: `${prefix}-missing`, setup: [], answers: {}, requests: inMissing(`${prefix}-missing`) },
  {
    name: `${prefix}-writer`,
    setup: [],
    answers: {},
    requests: asWriter([
      createSecret(`${prefix}-writer-a`, "a"),
      createSecret(`${prefix}-writer-a`, "b"),
      request(`POST ${core(`${prefix}-writer-b`, "configmaps")}`, { metadata: { name: "a" } }),
      request("POST /api/v1/namespaces", { metadata: { name: `${prefix}-writer-c` } }),
      deleteSecret(`${prefix}-writer-a`, "a"),
    ]),
  },
  {
    name: `${prefix}-names`,
    setup: [],
    answers: {},
    requests: invalidNames.flatMap((name) => [createSecret(name, "a"), createSecret(name, "", "?dryRun=All")]),
  },
  terminating(`${prefix}-terminating`),
];

export const namespaceAutoProvision: Family = {
  plugins: { enable: ["NamespaceAutoProvision"], disable: otherPlugins },
  setup: writer,
  scenarios: scenarios("auto"),
};

/** Without NamespaceLifecycle, whose answers hide those of NamespaceExists. */
export const namespaceExists: Family = {
  plugins: { enable: ["NamespaceExists"], disable: [...otherPlugins, "NamespaceLifecycle"] },
  setup: writer,
  scenarios: scenarios("exists"),
};
