/** Annotations of audit events that authentication, admission and request latency add. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { SignJWT } from "jose";
import { defaultAuditOptions } from "../../src/audit/options.ts";
import { type RawRequest, rawClient } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { until } from "../support/until.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-annotations-"));
const log = join(directory, "audit.log");
const policyFile = join(directory, "policy.yaml");
const keyFile = join(directory, "sa.key");
const issuer = "https://kubernetes.default.svc.cluster.local";
const core = "/api/v1/namespaces/default";

writeFileSync(
  policyFile,
  "{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [RequestReceived], rules: [{level: Metadata}]}",
);
const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
writeFileSync(keyFile, key.export({ type: "pkcs8", format: "pem" }).toString());
const { server, client: admin } = await startServerWithClient({
  audit: { ...defaultAuditOptions, policyFile, log: { ...defaultAuditOptions.log, path: log } },
  controllers: ["*"],
  serviceAccountSigningKeyFile: keyFile,
  serviceAccountIssuers: [issuer],
});
after(() => rmSync(directory, { recursive: true, force: true }));

let requests = 0;

interface Recorded {
  readonly status: number;
  readonly annotations: Readonly<Record<string, string>>;
  readonly objectRef: object | undefined;
  readonly warnings: readonly string[];
}

async function recordedOf(request: RawRequest, client = admin): Promise<Recorded> {
  const id = `annotations-${requests++}`;
  const answer = await client.send({ ...request, headers: { ...request.headers, "audit-id": id } });
  const line = readFileSync(log, "utf8")
    .split("\n")
    .filter((one) => one.includes(`"${id}"`))
    .at(-1);
  const { annotations, objectRef } = JSON.parse(line as string);
  return { status: answer.status, annotations, objectRef, warnings: [answer.headers.warning ?? []].flat() };
}

test("annotations describe the authorization of the request, not of further checks", async () => {
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const apiGroup = "rbac.authorization.k8s.io";
  const rules = [
    { apiGroups: [""], resources: ["configmaps", "pods/exec"], verbs: ["patch", "deletecollection", "get"] },
  ];
  await created(`${rbac}/clusterroles`, { metadata: { name: "patcher" }, rules });
  const subjects = [{ apiGroup, kind: "User", name: "ann" }];
  await created(`${rbac}/clusterrolebindings`, {
    metadata: { name: "patcher" },
    roleRef: { apiGroup, kind: "ClusterRole", name: "patcher" },
    subjects,
  });
  const ann = rawClient((await server.as("ann")).kubeconfig);
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } };
  const applied = { method: "PATCH", headers: { "content-type": "application/apply-patch+yaml" }, body: map };
  const configMaps = { resource: "configmaps", namespace: "default", apiVersion: "v1" };
  for (const [request, status, objectRef] of [
    [{ ...applied, path: `${core}/configmaps/x?fieldManager=m` }, 403, { ...configMaps, name: "x" }],
    [
      { path: `${core}/pods/x/exec?command=y` },
      403,
      { ...configMaps, resource: "pods", name: "x", subresource: "exec" },
    ],
    [{ method: "DELETE", path: `${core}/configmaps?fieldSelector=metadata.name%3Dx` }, 200, configMaps],
  ] as [RawRequest, number, object][]) {
    assert.deepEqual(await recordedOf(request, ann), {
      status,
      objectRef,
      annotations: {
        "authorization.k8s.io/decision": "allow",
        "authorization.k8s.io/reason":
          'RBAC: allowed by ClusterRoleBinding "patcher" of ClusterRole "patcher" to User "ann"',
      },
      warnings: [],
    });
  }
  ann.close();
});

const bearing = (token: string): RawRequest => ({
  path: "/version",
  headers: { authorization: `Bearer ${token}` },
  anonymous: true,
});

async function created(path: string, body: object): Promise<{ metadata: { uid: string }; status: { token: string } }> {
  const answer = await admin.send({ method: "POST", path, body });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

const authenticationOnly = ({ annotations }: Recorded): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).filter(([name]) => name.startsWith("authentication.")));

test("records the id of an issued token, and of the token that authenticated a request", async () => {
  await created(`${core}/serviceaccounts`, { metadata: { name: "a" } });
  const { annotations } = await recordedOf({
    method: "POST",
    path: `${core}/serviceaccounts/a/token`,
    body: { spec: {} },
  });
  const id = annotations["authentication.kubernetes.io/issued-credential-id"];
  assert.match(id ?? "", /^JTI=[0-9a-f-]{36}$/);
  const { status } = await created(`${core}/serviceaccounts/a/token`, { spec: {} });
  const used = await recordedOf(bearing(status.token));
  assert.deepEqual(authenticationOnly(used), {});
  const line = readFileSync(log, "utf8").trimEnd().split("\n").at(-1) as string;
  assert.match(JSON.parse(line).user.extra["authentication.kubernetes.io/credential-id"][0], /^JTI=/);
});

test("annotates the use of a stale token", async () => {
  const { metadata } = await created(`${core}/serviceaccounts`, { metadata: { name: "stale" } });
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    "kubernetes.io": {
      namespace: "default",
      serviceaccount: { name: "stale", uid: metadata.uid },
      warnafter: now - 100,
    },
  };
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: "ES256" })
    .setIssuer(issuer)
    .setAudience(issuer)
    .setSubject("system:serviceaccount:default:stale")
    .setIssuedAt(now - 200)
    .setExpirationTime(now + 1000)
    .sign(key);
  const subject = "subject: system:serviceaccount:default:stale, seconds after warning threshold: ";
  for (let use = 0; use < 2; use++) {
    const [[name, value] = ["", ""], ...rest] = Object.entries(authenticationOnly(await recordedOf(bearing(token))));
    assert.deepEqual([name, rest], ["authentication.k8s.io/stale-token", []]);
    assert.ok(value.startsWith(subject) && Number(value.slice(subject.length)) >= 100, value);
  }
});

test("annotates tokens from secrets, manual and autogenerated ones", async () => {
  const account = { metadata: { name: "old" }, secrets: [{ name: "own" }] };
  const { metadata } = await created(`${core}/serviceaccounts`, account);
  for (const [secret, name, warns] of [
    ["manual", "authentication.k8s.io/legacy-token-manual-secret", 0],
    ["own", "authentication.k8s.io/legacy-token-autogenerated-secret", 1],
  ] as const) {
    await created(`${core}/secrets`, {
      metadata: {
        name: secret,
        annotations: { "kubernetes.io/service-account.name": "old", "kubernetes.io/service-account.uid": metadata.uid },
      },
      type: "kubernetes.io/service-account-token",
    });
    const token = await until<string | false>(
      async () => (await admin.send({ path: `${core}/secrets/${secret}` })).body.data?.token ?? false,
    );
    const used = await recordedOf(bearing(Buffer.from(token, "base64").toString()));
    assert.deepEqual(authenticationOnly(used), {
      "authentication.k8s.io/legacy-token": "system:serviceaccount:default:old",
      [name]: secret,
    });
    assert.equal(used.warnings.length, warns);
  }
});

test("annotates the use of a secret's token that is marked as invalid", async () => {
  const headers = { "content-type": "application/merge-patch+json" };
  const labels = { "kubernetes.io/legacy-token-invalid-since": "2026-01-01" };
  const { body } = await admin.send({ path: `${core}/secrets/manual` });
  const token = Buffer.from(body.data.token, "base64").toString();
  await admin.send({ method: "PATCH", path: `${core}/secrets/manual`, headers, body: { metadata: { labels } } });
  const { annotations } = await recordedOf(bearing(token));
  assert.deepEqual(annotations, { "authentication.k8s.io/legacy-token-invalidated": "manual/default" });
});

test("a short request has no latency annotations", async () => {
  const { annotations } = await recordedOf({ path: `${core}/configmaps` });
  assert.deepEqual(Object.keys(annotations), ["authorization.k8s.io/decision", "authorization.k8s.io/reason"]);
});
