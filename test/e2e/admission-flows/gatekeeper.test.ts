/**
 * Webhooks as Gatekeeper configures them: for every resource outside of exempt namespaces, with
 * failurePolicy Fail, so that an outage rejects all writes but those that end it. Source: the
 * manifest of Gatekeeper, https://open-policy-agent.github.io/gatekeeper/website/docs/exempt-namespaces
 */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { created, outcome, type Reviewed, startPolicyEngine } from "../../support/policy-engine.ts";
import { startServerWithClient } from "../../support/server-with-client.ts";

const system = "gatekeeper-system";
const ignoreLabel = "admission.gatekeeper.sh/ignore";
const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const configurationName = "gatekeeper-validating-webhook-configuration";

const { client } = await startServerWithClient();
const engine = await startPolicyEngine(client, {
  namespace: system,
  service: "gatekeeper-webhook-service",
  decide: (path, request) => (path === "/v1/admitlabel" ? admitLabel(request) : admit(request)),
});
after(() => engine.stop());

const denied = (message: string): object => ({ allowed: false, status: { code: 403, reason: "Forbidden", message } });

/** A constraint that requires an owner of ConfigMaps, and one that only warns. */
function admit({ resource, operation, object, oldObject }: Reviewed): Record<string, unknown> | undefined {
  if (resource.resource !== "configmaps") return undefined;
  const { labels = {} } = (operation === "DELETE" ? oldObject : object).metadata;
  if (operation === "DELETE" ? labels.keep === "yes" : labels.owner === undefined)
    return { ...denied(operation === "DELETE" ? "[keep] it is kept" : "[owner-required] missing label owner") };
  return labels.team === undefined ? { warnings: ["[team-suggested] missing label team"] } : undefined;
}

/** Only listed namespaces may be exempt. */
function admitLabel({ object, name }: Reviewed): Record<string, unknown> | undefined {
  if (object.metadata.labels?.[ignoreLabel] === undefined || name === "exempt") return undefined;
  return { ...denied(`Only exempt namespace can have the ${ignoreLabel} label`) };
}

const notSystem = { key: "kubernetes.io/metadata.name", operator: "NotIn", values: [system] };
const all = { apiGroups: ["*"], apiVersions: ["*"], operations: ["CREATE", "UPDATE", "DELETE"], resources: ["*"] };
const webhook = (name: string, path: string, fields: object): object => ({
  name,
  admissionReviewVersions: ["v1", "v1beta1"],
  clientConfig: engine.clientConfig(path),
  failurePolicy: "Fail",
  matchPolicy: "Exact",
  sideEffects: "None",
  timeoutSeconds: 3,
  ...fields,
});
const configuration = () => ({
  metadata: { name: configurationName },
  webhooks: [
    webhook("validation.gatekeeper.sh", "/v1/admit", {
      namespaceSelector: { matchExpressions: [{ key: ignoreLabel, operator: "DoesNotExist" }, notSystem] },
      rules: [{ ...all, resources: ["*", "deployments/scale", "services/status"] }],
    }),
    webhook("check-ignore-label.gatekeeper.sh", "/v1/admitlabel", {
      namespaceSelector: { matchExpressions: [notSystem] },
      rules: [{ ...all, apiGroups: [""], operations: ["CREATE", "UPDATE"], resources: ["namespaces"] }],
    }),
  ],
});
await created(client, "/api/v1/namespaces", { metadata: { name: "apps" } });
await created(client, configurations, configuration());
engine.reviewed();

const labelled = (name: string, labels?: object) => ({ metadata: { name, ...(labels && { labels }) } });
const write = async (line: string, body?: object): Promise<string> => {
  const [method = "", path = ""] = line.split(" ");
  const headers: Record<string, string> = method === "PATCH" ? { "content-type": "application/merge-patch+json" } : {};
  return outcome(await client.send({ method, path, headers, ...(body && { body }) }));
};
const maps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;
const deniedBy = (name: string, message: string): string =>
  `403 admission webhook "${name}" denied the request: ${message}`;
const noOwner = deniedBy("validation.gatekeeper.sh", "[owner-required] missing label owner");
const kept = deniedBy("validation.gatekeeper.sh", "[keep] it is kept");
const notExempt = deniedBy(
  "check-ignore-label.gatekeeper.sh",
  `Only exempt namespace can have the ${ignoreLabel} label`,
);

/** The request, its outcome, and what the engine reviewed. */
type Row = readonly [line: string, body: object | undefined, expected: string, ...reviews: string[]];
async function check([line, body, expected, ...reviews]: Row): Promise<void> {
  assert.equal(await write(line, body), expected, line);
  assert.deepEqual(engine.reviewed().sort(), reviews, line);
}

test("denies what breaks a constraint, for every operation, and warns of what breaks another", async () => {
  const rows: Row[] = [
    [`POST ${maps("apps")}`, labelled("a"), noOwner, "/v1/admit CREATE configmaps apps/a"],
    [`POST ${maps("apps")}`, labelled("a", { owner: "o", keep: "yes" }), "201", "/v1/admit CREATE configmaps apps/a"],
    [
      `PATCH ${maps("apps")}/a`,
      { metadata: { labels: { owner: null } } },
      noOwner,
      "/v1/admit UPDATE configmaps apps/a",
    ],
    [`DELETE ${maps("apps")}/a`, undefined, kept, "/v1/admit DELETE configmaps apps/a"],
    [`DELETE ${maps("apps")}`, undefined, kept, "/v1/admit DELETE configmaps apps/"],
    [`PATCH ${maps("apps")}/a`, { metadata: { labels: { keep: "no" } } }, "200", "/v1/admit UPDATE configmaps apps/a"],
    [`DELETE ${maps("apps")}`, undefined, "200", "/v1/admit DELETE configmaps apps/"],
  ];
  for (const row of rows) await check(row);
  const body = labelled("b", { owner: "o" });
  const answer = await client.send({ method: "POST", path: `${maps("apps")}?dryRun=All`, body });
  assert.deepEqual([answer.status, answer.headers.warning], [201, '299 - "[team-suggested] missing label team"']);
  engine.reviewed();
});

test("exempts its own namespace and those with the label, which only listed namespaces may have", async () => {
  const ignored = { [ignoreLabel]: "yes" };
  const rows: Row[] = [
    [`POST ${maps(system)}`, labelled("a"), "201"],
    ["POST /api/v1/namespaces", labelled("other", ignored), notExempt, "/v1/admitlabel CREATE namespaces other/other"],
    ["POST /api/v1/namespaces", labelled("exempt", ignored), "201", "/v1/admitlabel CREATE namespaces exempt/exempt"],
    [`POST ${maps("exempt")}`, labelled("a"), "201"],
    [
      `PATCH /api/v1/namespaces/apps`,
      { metadata: { labels: ignored } },
      notExempt,
      "/v1/admitlabel UPDATE namespaces apps/apps",
    ],
    [`PATCH /api/v1/namespaces/${system}`, { metadata: { labels: { a: "b" } } }, "200"],
  ];
  for (const row of rows) await check(row);
});

describe("while the engine is down", () => {
  const down = (path: string, name: string): string =>
    `500 Internal error occurred: failed calling webhook "${name}": failed to call webhook: ` +
    `Post "${engine.origin}${path}?timeout=3s": dial tcp 127.0.0.1:${engine.port}: connect: connection refused`;
  const rejected = (): string => down("/v1/admit", "validation.gatekeeper.sh");
  const review = { spec: { resourceAttributes: { verb: "get", resource: "pods" } } };

  test("rejects writes of namespaced and cluster-scoped objects, and still serves reads", async () => {
    await engine.stop();
    const rows: Row[] = [
      [`POST ${maps("apps")}`, labelled("c", { owner: "o" }), rejected()],
      ["POST /apis/rbac.authorization.k8s.io/v1/clusterroles", labelled("c"), rejected()],
      ["POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review, rejected()],
      ["POST /apis/coordination.k8s.io/v1/namespaces/kube-system/leases", labelled("c"), rejected()],
      [`GET ${maps("apps")}`, undefined, "200"],
    ];
    for (const row of rows) await check(row);
  });

  test("its own namespace, exempt ones and configurations of webhooks can be written", async () => {
    const rows: Row[] = [
      [`POST /apis/coordination.k8s.io/v1/namespaces/${system}/leases`, labelled("leader"), "201"],
      [`PATCH ${maps(system)}/a`, { data: { a: "b" } }, "200"],
      [`DELETE ${maps("exempt")}/a`, undefined, "200"],
      [`PATCH ${configurations}/${configurationName}`, { metadata: { labels: { a: "b" } } }, "200"],
    ];
    for (const row of rows) await check(row);
  });

  test("allows writes when the configuration is deleted, and again when the engine is back", async () => {
    await check([`POST ${maps("apps")}`, labelled("d"), rejected()]);
    await check([`DELETE ${configurations}/${configurationName}`, undefined, "200"]);
    await check([`POST ${maps("apps")}`, labelled("d"), "201"]);
    await engine.start();
    await created(client, configurations, configuration());
    await check([`POST ${maps("apps")}`, labelled("e"), noOwner, "/v1/admit CREATE configmaps apps/e"]);
    await check([`POST ${maps("apps")}`, labelled("e", { owner: "o" }), "201", "/v1/admit CREATE configmaps apps/e"]);
  });
});
