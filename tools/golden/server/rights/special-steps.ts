/** Steps for subresources that are actions, for reviews, and for writes that need further rights. */
import { anyCertificate } from "../../../../test/support/certificate-request.ts";
import type { RightsStep } from "../../../../test/support/rights-table.ts";
import { namespace, objectOf } from "./objects.ts";

const core = `/api/v1/namespaces/${namespace}`;
const apply = "application/apply-patch+yaml";
const mergePatch = "application/merge-patch+json";
const force = "fieldManager=m&force=true";
const dry = "dryRun=All";
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const certificates = "/apis/certificates.k8s.io";
const policies = "/apis/admissionregistration.k8s.io";
const claims = `/apis/resource.k8s.io/v1/namespaces/${namespace}/resourceclaims`;
const apiGroup = "rbac.authorization.k8s.io";

const admin = (line: string, body?: object): RightsStep => ({ line, as: "admin", ...(body !== undefined && { body }) });
const metadata = (name: string): { metadata: { name: string } } => ({ metadata: { name } });

/** Each write, preceded by the same write as a dry run. */
const writes = (steps: readonly RightsStep[]): RightsStep[] =>
  steps.flatMap((step) => [{ ...step, line: `${step.line}${step.line.includes("?") ? "&" : "?"}${dry}` }, step]);

const podNamed = (name: string): object => objectOf({ group: "", version: "v1", resource: "pods", kind: "Pod" }, name);

const pods: RightsStep[] = [
  ...["a", "d", "e"].map((name) => admin(`POST ${core}/pods`, podNamed(name))),
  ...["exec?command=x", "attach", "portforward?ports=80", "proxy", "proxy/x?watch=1"].flatMap((one) => [
    { line: `GET ${core}/pods/a/${one}` },
    { line: `POST ${core}/pods/a/${one}` },
    { line: `GET ${core}/pods/z/${one}` },
  ]),
  ...["PUT", "PATCH", "DELETE"].map((method) => ({ line: `${method} ${core}/pods/a/proxy/x` })),
  { line: `GET ${core}/pods/a/log` },
  { line: `GET ${core}/pods/a/log?watch=1` },
  { line: `GET ${core}/pods/z/log` },
  ...writes([
    {
      line: `POST ${core}/pods/d/binding`,
      body: { apiVersion: "v1", kind: "Binding", ...metadata("d"), target: { kind: "Node", name: "n" } },
    },
    {
      line: `POST ${core}/bindings`,
      body: { apiVersion: "v1", kind: "Binding", ...metadata("e"), target: { kind: "Node", name: "n" } },
    },
    { line: `POST ${core}/pods/a/eviction`, body: { apiVersion: "policy/v1", kind: "Eviction", ...metadata("a") } },
    { line: `POST ${core}/pods/z/eviction`, body: { apiVersion: "policy/v1", kind: "Eviction", ...metadata("z") } },
  ]),
  {
    line: `POST ${core}/pods/d/eviction`,
    type: "protobuf",
    body: { apiVersion: "policy/v1", kind: "Eviction", ...metadata("d") },
  },
  ...["d", "e"].map((name) => admin(`DELETE ${core}/pods/${name}?gracePeriodSeconds=0`)),
];

const proxies: RightsStep[] = [
  admin("POST /api/v1/nodes", metadata("n")),
  admin(`POST ${core}/services`, { ...metadata("s"), spec: { ports: [{ port: 80 }] } }),
  ...["GET", "POST", "PUT", "PATCH", "DELETE"].flatMap((method) => [
    { line: `${method} /api/v1/nodes/n/proxy/metrics` },
    { line: `${method} ${core}/services/s/proxy/x` },
  ]),
  { line: "GET /api/v1/nodes/z/proxy" },
  { line: `GET ${core}/services/z/proxy/` },
];

const scopedAccount = `${core}/serviceaccounts/default/token`;
const serviceAccounts: RightsStep[] = [
  admin(`POST ${core}/serviceaccounts`, metadata("default")),
  ...writes([
    {
      line: `POST ${scopedAccount}`,
      body: { spec: { audiences: ["https://kubernetes.default.svc.cluster.local"], expirationSeconds: 600 } },
    },
  ]),
  { line: `POST ${core}/serviceaccounts/z/token`, body: { spec: { audiences: [] } } },
  admin(`POST ${core}/pods`, {
    ...podNamed("p"),
    spec: { nodeName: "n", serviceAccountName: "default", containers: [{ name: "c", image: "i" }] },
  }),
  {
    line: `POST ${scopedAccount}`,
    as: "node",
    uidOf: `${core}/pods/p`,
    body: {
      spec: { audiences: ["example.com"], boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "p", uid: "$UID" } },
    },
  },
];

const reviews = "/apis/authorization.k8s.io/v1";
const authentication = "/apis/authentication.k8s.io/v1";
const question = { namespace, verb: "get", group: "", version: "v1", resource: "configmaps", name: "x" };
const accessReviews: RightsStep[] = [
  ...writes([
    { line: `POST ${reviews}/selfsubjectaccessreviews`, body: { spec: { resourceAttributes: question } } },
    { line: `POST ${reviews}/subjectaccessreviews`, body: { spec: { user: "bob", resourceAttributes: question } } },
    {
      line: `POST ${reviews}/subjectaccessreviews`,
      body: { spec: { user: "bob", nonResourceAttributes: { verb: "get", path: "/x" } } },
    },
    {
      line: `POST ${reviews}/namespaces/${namespace}/localsubjectaccessreviews`,
      body: { metadata: { namespace }, spec: { user: "bob", resourceAttributes: question } },
    },
    { line: `POST ${reviews}/selfsubjectrulesreviews`, body: { spec: { namespace } } },
    { line: `POST ${authentication}/selfsubjectreviews`, body: {} },
    { line: `POST ${authentication}/tokenreviews`, body: { spec: { token: "x" } } },
  ]),
];

const rules = (resource: string): object[] => [{ apiGroups: [""], resources: [resource], verbs: ["get"] }];
const role = (kind: string, name: string, more: object): object => ({
  apiVersion: `${apiGroup}/v1`,
  kind,
  ...metadata(name),
  ...more,
});
const subjects = [{ apiGroup, kind: "User", name: "bob" }];
const bound = (kind: string, name: string): object => ({ roleRef: { apiGroup, kind, name }, subjects });
const scoped = `${rbac}/namespaces/${namespace}`;
const aggregation = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] } };

const escalation: RightsStep[] = [
  ...[
    ["Role", `${scoped}/roles`],
    ["ClusterRole", `${rbac}/clusterroles`],
  ].flatMap(([kind = "", path = ""]) =>
    writes([
      { line: `POST ${path}`, body: role(kind, "r1", { rules: rules("pods") }) },
      { line: `PUT ${path}/r1`, body: role(kind, "r1", { rules: rules("secrets") }) },
      {
        line: `PUT ${path}/r1`,
        body: role(kind, "r1", { rules: rules("secrets"), metadata: { name: "r1", finalizers: ["example.com/x"] } }),
      },
      { line: `PUT ${path}/r1`, body: role(kind, "r1", { rules: rules("secrets") }) },
      { line: `PATCH ${path}/r1`, type: mergePatch, body: { rules: rules("pods") } },
      { line: `PATCH ${path}/r1`, type: mergePatch, body: { rules: [] } },
      { line: `PATCH ${path}/r1?${force}`, type: apply, body: role(kind, "r1", { rules: rules("secrets") }) },
      { line: `PUT ${path}/r2`, body: role(kind, "r2", { rules: rules("pods") }) },
      { line: `PATCH ${path}/r3?${force}`, type: apply, body: role(kind, "r3", { rules: rules("pods") }) },
    ]),
  ),
  ...writes([
    { line: `POST ${rbac}/clusterroles`, body: role("ClusterRole", "r4", aggregation) },
    { line: `PATCH ${rbac}/clusterroles/r4`, type: mergePatch, body: { metadata: { labels: { c: "d" } } } },
    { line: `PUT ${rbac}/clusterroles/r5`, body: role("ClusterRole", "r5", aggregation) },
  ]),
  admin(`POST ${scoped}/roles`, role("Role", "r6", { rules: rules("pods") })),
  ...[
    ["RoleBinding", `${scoped}/rolebindings`, "Role", "r6"],
    ["RoleBinding", `${scoped}/rolebindings`, "ClusterRole", "r3"],
    ["RoleBinding", `${scoped}/rolebindings`, "Role", "missing"],
    ["ClusterRoleBinding", `${rbac}/clusterrolebindings`, "ClusterRole", "r3"],
  ].flatMap(([kind = "", path = "", target = "", name = ""]) => [
    ...writes([
      { line: `POST ${path}`, body: role(kind, "b1", bound(target, name)) },
      {
        line: `PUT ${path}/b1`,
        body: role(kind, "b1", { ...bound(target, name), subjects: [{ apiGroup, kind: "User", name: "eve" }] }),
      },
      { line: `PATCH ${path}/b1`, type: mergePatch, body: { subjects: [] } },
      { line: `PATCH ${path}/b1`, type: mergePatch, body: { metadata: { finalizers: [] } } },
      { line: `PUT ${path}/b2`, body: role(kind, "b2", bound(target, name)) },
      { line: `PATCH ${path}/b3?${force}`, type: apply, body: role(kind, "b3", bound(target, name)) },
    ]),
    ...["b1", "b2", "b3"].map((binding) => admin(`DELETE ${path}/${binding}`)),
  ]),
  ...["r1", "r2", "r3", "r4", "r5"].map((name) => admin(`DELETE ${rbac}/clusterroles/${name}`)),
  ...["r1", "r2", "r3", "r6"].map((name) => admin(`DELETE ${scoped}/roles/${name}`)),
];

const requests = `${certificates}/v1/certificatesigningrequests`;
const signer = (verb: string, name: string): string => `${verb} certificates.k8s.io/* signers /${name}`;
const condition = (type: string): object => ({ type, status: "True", reason: "R", message: "m" });
const request = (name: string): object =>
  objectOf(
    {
      group: "certificates.k8s.io",
      version: "v1",
      resource: "certificatesigningrequests",
      kind: "CertificateSigningRequest",
    },
    name,
  );

const signing: RightsStep[] = [
  ...["a", "b", "c"].map((name) => admin(`POST ${requests}`, request(name))),
  { line: `GET ${requests}/a/approval` },
  { line: `PUT ${requests}/a/approval`, current: `${requests}/a` },
  ...writes([
    {
      line: `PUT ${requests}/a/approval`,
      current: `${requests}/a`,
      body: { status: { conditions: [condition("Approved")] } },
    },
    { line: `PATCH ${requests}/b/approval`, type: mergePatch, body: { status: { conditions: [condition("Denied")] } } },
    {
      line: `PATCH ${requests}/c/approval?${force}`,
      type: apply,
      body: {
        apiVersion: "certificates.k8s.io/v1",
        kind: "CertificateSigningRequest",
        ...metadata("c"),
        status: { conditions: [condition("Approved")] },
      },
    },
  ]),
  {
    line: `PATCH ${requests}/c/approval`,
    type: mergePatch,
    body: {},
    lacking: [signer("approve", "example.com/s")],
  },
  { line: `PUT ${requests}/z/approval`, body: { ...request("z"), status: { conditions: [condition("Approved")] } } },
  ...writes([
    { line: `PUT ${requests}/a/status`, current: `${requests}/a`, body: { status: { certificate: anyCertificate } } },
    { line: `PATCH ${requests}/c/status`, type: mergePatch, body: { status: { certificate: anyCertificate } } },
    {
      line: `PATCH ${requests}/b/status`,
      type: mergePatch,
      body: { status: { conditions: [condition("Denied"), condition("Failed")] } },
    },
  ]),
  {
    line: `PATCH ${requests}/b/status`,
    type: mergePatch,
    body: { status: { conditions: [condition("Denied"), condition("Failed"), condition("Other")] } },
    lacking: [signer("sign", "example.com/s")],
  },
  { line: `PATCH ${requests}/b/status`, type: mergePatch, body: { metadata: { labels: { x: "y" } } } },
  ...["a", "b", "c"].map((name) => admin(`DELETE ${requests}/${name}`)),
];

const bundles = `${certificates}/v1beta1/clustertrustbundles`;
const bundle = (name: string): Record<string, unknown> => {
  const { spec, metadata, ...rest } = objectOf(
    { group: "certificates.k8s.io", version: "v1beta1", resource: "clustertrustbundles", kind: "ClusterTrustBundle" },
    "a",
  );
  return {
    ...rest,
    metadata: { ...metadata, name: `example.com:s:${name}` },
    spec: { ...spec, signerName: "example.com/s" },
  };
};
const attesting: RightsStep[] = [
  ...writes([
    { line: `POST ${bundles}`, body: bundle("a") },
    {
      line: `PUT ${bundles}/example.com:s:a`,
      current: `${bundles}/example.com:s:a`,
      body: { metadata: { labels: { x: "y" } } },
    },
    {
      line: `PUT ${bundles}/example.com:s:a`,
      current: `${bundles}/example.com:s:a`,
      body: { metadata: { finalizers: ["example.com/x"] } },
    },
    {
      line: `PUT ${bundles}/example.com:s:a`,
      current: `${bundles}/example.com:s:a`,
      body: { metadata: { finalizers: [] } },
    },
    { line: `PATCH ${bundles}/example.com:s:a`, type: mergePatch, body: { metadata: { labels: { x: "z" } } } },
    { line: `PATCH ${bundles}/example.com:s:c?${force}`, type: apply, body: bundle("c") },
  ]),
  { line: `POST ${bundles}`, body: bundle("d"), lacking: [signer("attest", "example.com/s")] },
  { line: `DELETE ${bundles}/example.com:s:a` },
  { line: `DELETE ${bundles}?labelSelector=of%3Drights` },
];

const podRequests = `${certificates}/v1beta1/namespaces/${namespace}/podcertificaterequests`;
const podRequest = objectOf(
  {
    group: "certificates.k8s.io",
    version: "v1beta1",
    resource: "podcertificaterequests",
    kind: "PodCertificateRequest",
  },
  "s",
);
const failed = { ...condition("Failed"), lastTransitionTime: "2024-01-01T00:00:00Z" };
const podSigning: RightsStep[] = [
  admin(`POST ${podRequests}`, podRequest),
  { line: `PUT ${podRequests}/s/status`, current: `${podRequests}/s` },
  ...writes([{ line: `PATCH ${podRequests}/s/status`, type: mergePatch, body: { status: { conditions: [failed] } } }]),
  admin(`DELETE ${podRequests}/s`),
];

const policyArea = (kind: "Validating" | "Mutating", version: string): RightsStep[] => {
  const path = `${policies}/${version}/${kind.toLowerCase()}admissionpolicies`;
  const bindings = `${policies}/${version}/${kind.toLowerCase()}admissionpolicybindings`;
  const found = { group: "admissionregistration.k8s.io", version };
  const policy = (name: string, paramKind: object): object => {
    const { spec, ...rest } = objectOf(
      { ...found, resource: `${kind.toLowerCase()}admissionpolicies`, kind: `${kind}AdmissionPolicy` },
      name,
    );
    return { ...rest, spec: { ...spec, paramKind } };
  };
  const binding = (name: string, spec: object): object => {
    const { spec: own, ...rest } = objectOf(
      { ...found, resource: `${kind.toLowerCase()}admissionpolicybindings`, kind: `${kind}AdmissionPolicyBinding` },
      name,
    );
    return { ...rest, spec: { ...own, ...spec } };
  };
  const maps = { apiVersion: "v1", kind: "ConfigMap" };
  const reference = { name: "x", namespace, parameterNotFoundAction: "Allow" };
  const { name: _, ...withoutName } = reference;
  return [
    ...writes([
      { line: `POST ${path}`, body: policy("a", maps) },
      { line: `PATCH ${path}/a`, type: mergePatch, body: { metadata: { labels: { x: "y" } } } },
      {
        line: `PATCH ${path}/a`,
        type: mergePatch,
        body: { spec: { paramKind: { apiVersion: "rights.example.com/v1", kind: "Widget" } } },
      },
      {
        line: `PATCH ${path}/a`,
        type: mergePatch,
        body: { spec: { paramKind: { apiVersion: "none.example.com/v1", kind: "None" } } },
      },
      { line: `PATCH ${path}/c?${force}`, type: apply, body: policy("c", maps) },
      { line: `POST ${bindings}`, body: binding("a", { policyName: "c", paramRef: reference }) },
      { line: `PATCH ${bindings}/a`, type: mergePatch, body: { metadata: { labels: { x: "y" } } } },
      { line: `PATCH ${bindings}/a`, type: mergePatch, body: { spec: { paramRef: { name: "y" } } } },
      { line: `POST ${bindings}`, body: binding("d", { policyName: "none", paramRef: reference }) },
      { line: `POST ${bindings}`, body: binding("e", { policyName: "c", paramRef: { ...withoutName, selector: {} } }) },
      {
        line: `PATCH ${bindings}/f?${force}`,
        type: apply,
        body: binding("f", { policyName: "c", paramRef: reference }),
      },
    ]),
    { line: `DELETE ${path}?labelSelector=of%3Drights` },
    { line: `DELETE ${bindings}?labelSelector=of%3Drights` },
  ];
};

const claim = objectOf(
  { group: "resource.k8s.io", version: "v1", resource: "resourceclaims", kind: "ResourceClaim" },
  "a",
);
const result = { request: "r", driver: "d.example.com", pool: "p", device: "d" };
const claimStatus: RightsStep[] = [
  admin(`POST ${claims}`, claim),
  admin(`POST ${claims}`, { ...claim, ...metadata("b") }),
  { line: `PUT ${claims}/a/status`, current: `${claims}/a` },
  ...writes([
    {
      line: `PUT ${claims}/a/status`,
      current: `${claims}/a`,
      body: { status: { allocation: { devices: { results: [result] } } } },
    },
    {
      line: `PATCH ${claims}/a/status`,
      type: mergePatch,
      body: { status: { reservedFor: [{ resource: "pods", name: "p", uid: "u" }] } },
    },
    {
      line: `PATCH ${claims}/a/status`,
      type: mergePatch,
      body: { status: { devices: [{ driver: "d.example.com", pool: "p", device: "d", conditions: [] }] } },
    },
    {
      line: `PATCH ${claims}/a/status?${force}`,
      type: apply,
      body: {
        apiVersion: "resource.k8s.io/v1",
        kind: "ResourceClaim",
        ...metadata("a"),
        status: { devices: [{ driver: "d.example.com", pool: "p", device: "d", data: { k: "v" } }] },
      },
    },
  ]),
  admin(`DELETE ${claims}/a`),
  admin(`DELETE ${claims}/b`),
];

const maps = `${core}/configmaps`;
const impersonated = (as: string, headers: Record<string, string>, lacking?: string[]): RightsStep[] => {
  const common = { as, headers, ...(lacking && { lacking }) };
  return [
    { line: `GET ${maps}/z`, ...common },
    { line: `POST ${maps}?${dry}`, ...common, body: metadata("i") },
    {
      line: `PATCH ${maps}/i?${dry}&${force}`,
      ...common,
      type: apply,
      body: { apiVersion: "v1", kind: "ConfigMap", ...metadata("i") },
    },
  ];
};
const impersonation: RightsStep[] = [
  ...impersonated("impersonator1", { "impersonate-user": "bob$R" }),
  ...impersonated("impersonator1", { "impersonate-user": "bob$R", "impersonate-group": "dev" }),
  ...impersonated("impersonator1", { "impersonate-user": "bob$R", "impersonate-uid": "u" }),
  ...impersonated("impersonator1", { "impersonate-user": "bob$R", "impersonate-extra-example.com%2fa": "b" }),
  ...impersonated("impersonator2", { "impersonate-user": "bob$R" }, ["impersonate-on:", "impersonate:"]),
  ...impersonated(
    "impersonator2",
    { "impersonate-user": "bob$R", "impersonate-group": "dev", "impersonate-uid": "u", "impersonate-extra-a": "b" },
    ["impersonate-on:", "impersonate:"],
  ),
  ...impersonated("impersonator3", { "impersonate-user": "system:serviceaccount:rights:s$R" }),
  ...impersonated("impersonator4", { "impersonate-user": "system:serviceaccount:rights:s$R" }, [
    "impersonate-on:",
    "impersonate:",
  ]),
  ...impersonated("impersonator5", { "impersonate-user": "system:node:n$R" }),
  ...impersonated("impersonator6", { "impersonate-user": "system:node:n$R" }, ["impersonate-on:", "impersonate:"]),
  { line: "GET /version", as: "impersonator1", headers: { "impersonate-user": "bob$R" } },
  { line: `GET ${maps}/z`, as: "impersonator1", headers: { "impersonate-group": "dev$R" } },
];

const paths: RightsStep[] = [
  ...[
    "/",
    "/api",
    "/apis",
    "/api/v1",
    "/apis/apps",
    "/apis/apps/v1",
    "/version",
    "/healthz",
    "/livez",
    "/readyz",
    "/livez/ping",
  ].map((path) => ({
    line: `GET ${path}`,
  })),
  ...[
    "/metrics",
    "/metrics/slis",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/apis/apps/v1",
    "/openid/v1/jwks",
    "/nothing",
  ].map((path) => ({
    line: `GET ${path}`,
  })),
  { line: "GET /.well-known/openid-configuration" },
  { line: "POST /nothing" },
  { line: "DELETE /api" },
];

const oddPaths: RightsStep[] = [
  admin(`POST ${maps}`, metadata("o")),
  { line: `HEAD ${maps}/o` },
  { line: `HEAD ${maps}` },
  { line: `OPTIONS ${maps}` },
  { line: `PUT ${maps}`, body: {} },
  { line: `PATCH ${maps}`, type: mergePatch, body: {} },
  { line: `POST ${maps}/o`, body: metadata("o") },
  { line: "GET /api/v1/configmaps/o" },
  { line: "POST /api/v1/configmaps", body: metadata("o") },
  { line: "DELETE /api/v1/configmaps" },
  { line: "DELETE /api/v1/namespaces" },
  { line: `GET ${maps}/o/status` },
  { line: `PUT ${maps}/o/status`, body: {} },
  { line: `POST ${core}/pods/o/status`, body: {} },
  { line: `DELETE ${core}/pods/o/status` },
  { line: `GET ${maps}?fieldSelector=metadata.name%3Do&limit=x` },
  { line: `GET ${maps}?fieldSelector=metadata.name%3Do,metadata.namespace%3D${namespace}` },
  { line: `GET ${maps}?fieldSelector=metadata.name!%3Do` },
  { line: `GET ${maps}?labelSelector=a,!b,c+in+(d),e!%3Df` },
  { line: `POST /api/v1/watch/namespaces/${namespace}/configmaps`, body: {} },
  { line: `DELETE /api/v1/watch/namespaces/${namespace}/configmaps/o` },
  { line: "GET /api/v1/proxy/nodes/n" },
  { line: `GET /api/v1/none` },
  { line: "GET /apis/none.example.com/v1/none" },
  { line: `PATCH ${maps}/o`, type: "text/plain", body: {} },
  { line: `POST ${maps}`, body: { kind: "Secret", apiVersion: "v1" } },
  { line: `PUT ${maps}/o`, body: metadata("other") },
  { line: `PATCH ${core}/leases/a?${force}`, type: apply, body: {} },
  admin(`DELETE ${maps}/o`),
];

const widgets = `/apis/rights.example.com/v1/namespaces/${namespace}/widgets`;
const widget = (name: string, version = "v1"): object => ({
  apiVersion: `rights.example.com/${version}`,
  kind: "Widget",
  ...metadata(name),
});

/** Upstream has a separate handler for custom resources. */
const customPaths: RightsStep[] = [
  ...writes([
    { line: `POST ${widgets}/p`, body: widget("p") },
    { line: `POST ${widgets}/p`, body: widget("q") },
    { line: `POST ${widgets}/p/status`, body: widget("p") },
    { line: `PATCH ${widgets.replace("v1", "v2")}/r?${force}`, type: apply, body: widget("r", "v2") },
    { line: `PATCH ${widgets.replace("v1", "v2")}/r?${force}`, type: apply, body: widget("r", "v1") },
    { line: `PUT ${widgets}/s`, body: widget("s") },
  ]),
  { line: `PUT ${widgets}`, body: widget("p") },
  { line: `PATCH ${widgets}`, type: mergePatch, body: {} },
  { line: "DELETE /apis/rights.example.com/v1/widgets" },
  { line: "POST /apis/rights.example.com/v1/widgets", body: widget("p") },
  { line: `GET ${widgets}/p/none` },
  { line: `DELETE ${widgets}/p/status` },
  { line: `POST ${widgets}`, body: widget("t", "v2") },
  ...["p", "q", "r"].map((name) => admin(`DELETE ${widgets}/${name}`)),
];

const elsewhere = (name: string): object => ({ metadata: { name, namespace: "default" } });

/** Bodies for another object than the path. The path is authorized. */
const otherNames: RightsStep[] = [
  ...["a", "b"].map((name) => admin(`POST ${core}/pods`, podNamed(name))),
  ...["a", "b"].map((name) => admin(`POST ${maps}`, metadata(name))),
  { line: `POST ${core}/pods/a/eviction`, body: { apiVersion: "policy/v1", kind: "Eviction", ...metadata("b") } },
  {
    line: `POST ${core}/pods/a/binding`,
    body: { apiVersion: "v1", kind: "Binding", ...metadata("b"), target: { kind: "Node", name: "n" } },
  },
  { line: `POST ${core}/pods/a/eviction`, body: { apiVersion: "policy/v1", kind: "Eviction", ...elsewhere("a") } },
  {
    line: `POST ${core}/bindings`,
    body: { apiVersion: "v1", kind: "Binding", ...elsewhere("a"), target: { kind: "Node", name: "n" } },
  },
  ...["", "/status", "/resize", "/ephemeralcontainers"].flatMap((view) => [
    { line: `PUT ${core}/pods/a${view}`, current: `${core}/pods/b` },
    { line: `PATCH ${core}/pods/a${view}`, type: mergePatch, body: metadata("b") },
    { line: `PATCH ${core}/pods/a${view}`, type: mergePatch, body: elsewhere("a") },
    {
      line: `PATCH ${core}/pods/a${view}?${force}`,
      type: apply,
      body: { apiVersion: "v1", kind: "Pod", ...metadata("b") },
    },
    {
      line: `PATCH ${core}/pods/a${view}?${force}`,
      type: apply,
      body: { apiVersion: "v1", kind: "Pod", ...elsewhere("a") },
    },
  ]),
  { line: `POST ${maps}`, body: elsewhere("c") },
  { line: `PUT ${maps}/a`, body: elsewhere("a") },
  { line: `PATCH ${maps}/c?${force}`, type: apply, body: { apiVersion: "v1", kind: "ConfigMap", ...elsewhere("c") } },
  { line: `PATCH ${maps}/c?${force}`, type: apply, body: { apiVersion: "v1", kind: "ConfigMap", ...metadata("d") } },
  { line: `POST ${scopedAccount}`, body: { ...metadata("other"), spec: { audiences: [] } } },
  {
    line: `POST ${reviews}/namespaces/${namespace}/localsubjectaccessreviews`,
    body: { metadata: { namespace }, spec: { user: "bob", resourceAttributes: { ...question, namespace: "default" } } },
  },
  ...["a", "b"].flatMap((name) => [admin(`DELETE ${core}/pods/${name}`), admin(`DELETE ${maps}/${name}`)]),
];

const unsafe = { apiVersion: "v1", kind: "DeleteOptions", ignoreStoreReadErrorWithClusterBreakingPotential: true };
const unsafeDeletion: RightsStep[] = [
  admin(`POST ${maps}`, metadata("u")),
  { line: `DELETE ${maps}/u`, body: unsafe },
  { line: `DELETE ${maps}/z`, body: unsafe },
  { line: `DELETE ${maps}`, body: unsafe },
  admin(`DELETE ${maps}/u`),
];

const finalizing: RightsStep[] = [
  admin("POST /api/v1/namespaces", metadata("rights-f")),
  ...writes([
    {
      line: "PUT /api/v1/namespaces/rights-f/finalize",
      current: "/api/v1/namespaces/rights-f",
      body: { spec: { finalizers: ["example.com/x"] } },
    },
  ]),
  { line: "PUT /api/v1/namespaces/rights-f/finalize", type: "protobuf", current: "/api/v1/namespaces/rights-f" },
  {
    line: "PUT /api/v1/namespaces/rights-z/finalize",
    body: { apiVersion: "v1", kind: "Namespace", ...metadata("rights-z") },
  },
];

/** Server-side apply of new objects, also in a missing namespace; kinds that a PUT creates. */
const creation: RightsStep[] = [
  ...writes([
    {
      line: `PATCH /api/v1/namespaces/rights-z/configmaps/n?${force}`,
      type: apply,
      body: { apiVersion: "v1", kind: "ConfigMap", ...metadata("n") },
    },
    {
      line: `PATCH ${maps}/n?${force}`,
      type: apply,
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "n", uid: "u" } },
    },
    {
      line: `PATCH ${maps}/n?${force}`,
      type: apply,
      body: { apiVersion: "v1", kind: "ConfigMap", ...metadata("n"), data: { "not valid": "v" } },
    },
    { line: `PATCH ${maps}/n?${force}`, type: apply, body: { apiVersion: "v1", kind: "Secret", ...metadata("n") } },
  ]),
];

export const specialSteps: Readonly<Record<string, readonly RightsStep[]>> = {
  "non-resource paths": paths,
  "pods: connections, bindings, evictions": pods,
  "nodes and services: proxies": proxies,
  "service accounts: tokens": serviceAccounts,
  "access reviews": accessReviews,
  "rbac: escalation": escalation,
  "certificatesigningrequests: approval and signing": signing,
  "clustertrustbundles: attesting": attesting,
  "podcertificaterequests: signing": podSigning,
  "validatingadmissionpolicies: parameters": policyArea("Validating", "v1"),
  "mutatingadmissionpolicies: parameters": policyArea("Mutating", "v1"),
  "resourceclaims: status": claimStatus,
  impersonation,
  "namespaces: finalize": finalizing,
  "creation by apply": creation,
  "odd paths": oddPaths,
  "odd paths of custom resources": customPaths,
  "other objects in bodies": otherNames,
  "unsafe deletion": unsafeDeletion,
};

const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
const thing = (plural: string, kind: string, scope: string, more: object): object => ({
  ...metadata(`${plural}.rights.example.com`),
  spec: {
    group: "rights.example.com",
    scope,
    names: { plural, kind },
    versions: ["v1", "v2"].map((name) => ({ name, served: true, storage: name === "v1", schema, ...more })),
  },
});

/** Custom resources of both definitions. */
export const customVersions = 4;

/** Resources that are not stored. */
export const specialResources: ReadonlySet<string> = new Set([
  "/bindings",
  "authentication.k8s.io/selfsubjectreviews",
  "authentication.k8s.io/tokenreviews",
  "authorization.k8s.io/localsubjectaccessreviews",
  "authorization.k8s.io/selfsubjectaccessreviews",
  "authorization.k8s.io/selfsubjectrulesreviews",
  "authorization.k8s.io/subjectaccessreviews",
]);

/** Creates the objects that all steps need. */
export const setUp: readonly RightsStep[] = [
  admin("POST /api/v1/namespaces", metadata(namespace)),
  admin(
    "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    thing("widgets", "Widget", "Namespaced", {
      subresources: {
        status: {},
        scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
      },
    }),
  ),
  admin("POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", thing("gadgets", "Gadget", "Cluster", {})),
];
