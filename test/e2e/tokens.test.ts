/**
 * Bearer tokens against a real server: static and ServiceAccount tokens, their revocation, and
 * forged tokens.
 */
import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { AuthenticationV1Api, CoreV1Api, KubeConfig } from "@kubernetes/client-node";
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT, UnsecuredJWT } from "jose";
import { startServer } from "../../src/index.ts";
import { field } from "../support/kubeconfig-fields.ts";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { reasonOf } from "../support/needs.ts";
import { type Answer, rawClient } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { tokenReviewProblem } from "../support/token-review-problem.ts";
import { eventually } from "../support/until.ts";

const issuer = "https://kubernetes.default.svc.cluster.local";
const core = "/api/v1/namespaces/default";
const directory = mkdtempSync(join(tmpdir(), "coxswain-tokens-"));
const pem = generateKeyPairSync("ec", { namedCurve: "P-256" })
  .privateKey.export({ type: "pkcs8", format: "pem" })
  .toString();
const otherPem = generateKeyPairSync("ec", { namedCurve: "P-256" })
  .privateKey.export({ type: "pkcs8", format: "pem" })
  .toString();
const oldRsa = generateKeyPairSync("rsa", { modulusLength: 2048 });

writeFileSync(join(directory, "sa.key"), pem);
writeFileSync(join(directory, "old.pub"), oldRsa.publicKey.export({ type: "spki", format: "pem" }).toString());
writeFileSync(join(directory, "tokens.csv"), 'static-token,eve,7,"a,b"\n');
const { server, client: admin } = await startServerWithClient({
  controllers: ["*"],
  serviceAccountSigningKeyFile: join(directory, "sa.key"),
  serviceAccountKeyFiles: [join(directory, "old.pub")],
  serviceAccountIssuers: [issuer, "https://old.example"],
  tokenAuthFile: join(directory, "tokens.csv"),
});
after(() => rmSync(directory, { recursive: true, force: true }));

async function post(path: string, body: object): Promise<Answer> {
  return admin.send({ method: "POST", path, body });
}

async function created(path: string, body: object): Promise<Answer["body"]> {
  const answer = await post(path, body);
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

async function remove(path: string): Promise<void> {
  const { status } = await admin.send({ method: "DELETE", path, body: { gracePeriodSeconds: 0 } });
  assert.equal(status, 200);
}

const account = (name: string): Promise<Answer["body"]> => created(`${core}/serviceaccounts`, { metadata: { name } });
const pod = (name: string, more: object = {}): object => ({
  metadata: { name },
  spec: { containers: [{ name: "c", image: "i" }], ...more },
});

/** @returns the TokenRequest with its status */
async function request(name: string, spec: object = {}): Promise<Answer["body"]> {
  return created(`${core}/serviceaccounts/${name}/token`, { spec });
}

async function tokenOf(name: string, spec: object = {}): Promise<string> {
  return (await request(name, spec)).status.token;
}

/** @returns the user of the token, or the answer when it is an error */
async function userOf(token: string): Promise<Answer["body"]> {
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const headers = { authorization: `Bearer ${token}` };
  const answer = await admin.send({ method: "POST", path, headers, body: {}, anonymous: true });
  return answer.status === 201 ? answer.body.status.userInfo : answer;
}

function assertUnauthorized(answer: Answer): void {
  const { status, body, headers } = answer;
  assert.deepEqual(
    [status, body],
    [
      401,
      {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: "Unauthorized",
        reason: "Unauthorized",
        code: 401,
      },
    ],
  );
  assert.equal(headers["www-authenticate"], undefined); // Upstream offers no scheme, either.
}

test("authenticates a static token", async () => {
  assert.deepEqual(await userOf("static-token"), {
    username: "eve",
    uid: "7",
    groups: ["a", "b", "system:authenticated"],
  });
});

test("a token request returns a token for the ServiceAccount", async () => {
  const { metadata } = await account("plain");
  const answer = await request("plain");
  const { token, expirationTimestamp } = answer.status;
  assert.deepEqual(
    [answer.kind, answer.apiVersion, answer.metadata.name, answer.metadata.namespace, answer.metadata.uid],
    ["TokenRequest", "authentication.k8s.io/v1", "plain", "default", metadata.uid],
  );
  assert.deepEqual(answer.spec, {
    audiences: [issuer, "https://old.example"],
    expirationSeconds: 3600,
    boundObjectRef: null,
  });
  const { iat = 0, nbf, exp, jti, ...claims } = decodeJwt(token);
  assert.deepEqual(claims, {
    iss: issuer,
    aud: [issuer, "https://old.example"],
    sub: "system:serviceaccount:default:plain",
    "kubernetes.io": { namespace: "default", serviceaccount: { name: "plain", uid: metadata.uid } },
  });
  assert.deepEqual([nbf, exp], [iat, iat + 3600]);
  assert.ok(Math.abs(Date.parse(expirationTimestamp) / 1000 - iat - 3600) <= 1);
  assert.deepEqual(Object.keys(decodeProtectedHeader(token)).sort(), ["alg", "kid"]);
  assert.deepEqual(await userOf(token), {
    username: "system:serviceaccount:default:plain",
    uid: metadata.uid,
    groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    extra: { "authentication.kubernetes.io/credential-id": [`JTI=${jti}`] },
  });
});

const managed: [what: string, body: object, query: string, manager: string, fieldsV1: object][] = [
  ["defaults", {}, "", "unknown", { "f:spec": { "f:expirationSeconds": {} } }],
  [
    "a named field manager",
    { metadata: { labels: { a: "b" }, managedFields: [{}] }, spec: { audiences: ["a"] } },
    "?fieldManager=m",
    "m",
    {
      "f:metadata": { "f:labels": { ".": {}, "f:a": {} } },
      "f:spec": { "f:audiences": {}, "f:expirationSeconds": {} },
    },
  ],
  [
    "a status",
    { spec: {}, status: { token: "x" } },
    "",
    "unknown",
    { "f:spec": { "f:expirationSeconds": {} }, "f:status": { "f:token": {} } },
  ],
];
test("the answer to a token request has managedFields", async () => {
  await account("managed");
  for (const [what, body, query, manager, fieldsV1] of managed) {
    const { time, ...entry } = (await created(`${core}/serviceaccounts/managed/token${query}`, body)).metadata
      .managedFields[0];
    const apiVersion = "authentication.k8s.io/v1";
    assert.deepEqual(
      entry,
      { manager, operation: "Update", apiVersion, fieldsType: "FieldsV1", fieldsV1, subresource: "token" },
      what,
    );
  }
});

test("tokens have the bound pod, node or secret as extra values, and end with that object", async () => {
  await account("bound");
  const node = await created("/api/v1/nodes", { metadata: { name: "n1" } });
  const holder = await created(`${core}/secrets`, { metadata: { name: "holder" } });
  const running = await created(`${core}/pods`, pod("runs", { serviceAccountName: "bound", nodeName: "n1" }));
  const ref = (kind: string, { metadata: { name, uid } }: Answer["body"]): object => ({
    boundObjectRef: { kind, apiVersion: "v1", name, uid },
  });
  const [ofPod, ofNode, ofSecret] = [
    await tokenOf("bound", ref("Pod", running)),
    await tokenOf("bound", ref("Node", node)),
    await tokenOf("bound", ref("Secret", holder)),
  ];
  const key = (name: string): string => `authentication.kubernetes.io/${name}`;
  const { [key("credential-id")]: _pods, ...podExtra } = (await userOf(ofPod)).extra;
  assert.deepEqual(podExtra, {
    [key("node-name")]: ["n1"],
    [key("node-uid")]: [node.metadata.uid],
    [key("pod-name")]: ["runs"],
    [key("pod-uid")]: [running.metadata.uid],
  });
  const { [key("credential-id")]: _nodes, ...nodeExtra } = (await userOf(ofNode)).extra;
  assert.deepEqual(nodeExtra, { [key("node-name")]: ["n1"], [key("node-uid")]: [node.metadata.uid] });
  assert.deepEqual(Object.keys((await userOf(ofSecret)).extra), [key("credential-id")]);
  await remove("/api/v1/nodes/n1");
  assertUnauthorized(await userOf(ofNode));
  // A token that is bound to a pod does not depend on the node.
  assert.equal((await userOf(ofPod)).username, "system:serviceaccount:default:bound");
  await remove(`${core}/pods/runs`);
  assertUnauthorized(await userOf(ofPod));
  await remove(`${core}/secrets/holder`);
  assertUnauthorized(await userOf(ofSecret));
  await created(`${core}/secrets`, { metadata: { name: "holder" } });
  assertUnauthorized(await userOf(ofSecret));
});

test("tokens end with their account, and stay invalid when it is created again", async () => {
  await account("gone");
  const token = await tokenOf("gone");
  assert.equal((await userOf(token)).username, "system:serviceaccount:default:gone");
  await remove(`${core}/serviceaccounts/gone`);
  assertUnauthorized(await userOf(token));
  await account("gone");
  assertUnauthorized(await userOf(token));
});

test("extends a pod token of 3607 seconds to a year, for the audiences of the server only", async () => {
  await account("extended");
  await created(`${core}/pods`, pod("extended", { serviceAccountName: "extended" }));
  const boundObjectRef = { kind: "Pod", apiVersion: "v1", name: "extended" };
  const life = async (spec: object): Promise<number> => {
    const { exp = 0, iat = 0 } = decodeJwt(await tokenOf("extended", { boundObjectRef, ...spec }));
    return exp - iat;
  };
  assert.equal(await life({ expirationSeconds: 3607 }), 365 * 86_400);
  assert.equal(await life({ expirationSeconds: 3600 }), 3600);
  assert.equal(await life({ expirationSeconds: 3607, audiences: ["vault"] }), 3607);
  const claims = decodeJwt(await tokenOf("extended", { boundObjectRef, expirationSeconds: 3607 }));
  assert.equal((claims["kubernetes.io"] as { warnafter: number }).warnafter, (claims.iat ?? 0) + 3607);
});

const invalidTokenRequests: [what: string, name: string, body: object, status: number, message: string | RegExp][] = [
  [
    "a duration that is too short",
    "asks",
    { spec: { expirationSeconds: 599 } },
    422,
    'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
  ],
  [
    "a duration that is too long",
    "asks",
    { spec: { expirationSeconds: 4294967297 } },
    422,
    'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
  ],
  [
    "another name",
    "asks",
    { metadata: { name: "x" } },
    422,
    'TokenRequest.authentication.k8s.io "asks" is invalid: metadata.name: Invalid value: "x": must match the service account name if specified',
  ],
  [
    "another namespace",
    "asks",
    { metadata: { namespace: "x" } },
    400,
    "the namespace of the provided object does not match the namespace sent on the request",
  ],
  [
    "another uid",
    "asks",
    { metadata: { uid: "x" } },
    409,
    /^Operation cannot be fulfilled on TokenRequest\.authentication\.k8s\.io "asks": the UID in the token request \(x\) does not match the UID of the service account \(.*\)$/,
  ],
  ["an account that does not exist", "absent", {}, 404, 'serviceaccounts "absent" not found'],
  [
    "a bound ConfigMap",
    "asks",
    { spec: { boundObjectRef: { kind: "ConfigMap", apiVersion: "v1", name: "x" } } },
    400,
    "cannot bind token to object of type /v1, Kind=ConfigMap",
  ],
  [
    "a bound pod that does not exist",
    "asks",
    { spec: { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "x" } } },
    404,
    'pods "x" not found',
  ],
  [
    "a bound node without a name",
    "asks",
    { spec: { boundObjectRef: { kind: "Node", apiVersion: "v1" } } },
    400,
    "Name parameter required.",
  ],
  [
    "a bound pod whose name no pod can have",
    "asks",
    { spec: { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "../x" } } },
    400,
    `Name parameter invalid: "../x": may not contain '/'`,
  ],
  [
    "a bound pod of another account",
    "asks",
    { spec: { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "others" } } },
    400,
    'cannot bind token for serviceaccount "asks" to pod running with different serviceaccount name.',
  ],
  [
    "a bound secret with another uid",
    "asks",
    { spec: { boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "asked", uid: "x" } } },
    409,
    'Operation cannot be fulfilled on Secret "asked": the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated',
  ],
];
describe("rejects a token request with", () => {
  before(async () => {
    await account("asks");
    await account("other");
    await created(`${core}/pods`, pod("others", { serviceAccountName: "other" }));
    await created(`${core}/secrets`, { metadata: { name: "asked" } });
  });
  for (const [what, name, body, status, message] of invalidTokenRequests) {
    test(what, async () => {
      const answer = await post(`${core}/serviceaccounts/${name}/token`, body);
      assert.equal(answer.status, status, answer.text);
      if (typeof message === "string") assert.equal(answer.body.message, message);
      else assert.match(answer.body.message, message);
    });
  }
});

const text = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const now = (): number => Math.floor(Date.now() / 1000);
type Forge = (claims: Record<string, unknown>, token: string) => string | Promise<string>;
const signed = (claims: Record<string, unknown>, key = pem, header: object = {}): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: "ES256", ...header }).sign(createPrivateKey(key));

/** Tokens that are made from a valid token and its claims. */
const forgeries: [what: string, forge: Forge, good?: true][] = [
  ["the same claims without a kid", (claims) => signed(claims), true],
  ["another issuer of the server", (claims) => signed({ ...claims, iss: "https://old.example" }), true],
  [
    "an older RSA key of the server",
    (claims) => new SignJWT(claims).setProtectedHeader({ alg: "RS256" }).sign(oldRsa.privateKey),
    true,
  ],
  ["an expiry within the leeway", (claims) => signed({ ...claims, exp: now() - 30 }), true],
  ["an expiry beyond the leeway", (claims) => signed({ ...claims, exp: now() - 90 })],
  ["a nbf in the future", (claims) => signed({ ...claims, nbf: now() + 90 })],
  ["an iat in the future", (claims) => signed({ ...claims, iat: now() + 90 })],
  ["another audience", (claims) => signed({ ...claims, aud: ["vault"] })],
  ["an unknown issuer", (claims) => signed({ ...claims, iss: "https://evil.example" })],
  ["no issuer", ({ iss: _iss, ...claims }) => signed(claims)],
  ["another key", (claims) => signed(claims, otherPem)],
  ["an unknown kid", (claims) => signed(claims, pem, { kid: "x" })],
  ["alg none", (claims) => new UnsecuredJWT(claims).encode()],
  ["alg none, with a signature", (_claims, token) => `${text({ alg: "none" })}.${token.split(".").slice(1).join(".")}`],
  [
    "HS256 with the public key",
    (claims) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "HS256" })
        .sign(Buffer.from(createPublicKey(pem).export({ type: "spki", format: "pem" }).toString())),
  ],
  [
    "PS256 with a key for RS256",
    (claims) => new SignJWT(claims).setProtectedHeader({ alg: "PS256" }).sign(oldRsa.privateKey),
  ],
  [
    "its own key in the header",
    async (claims) => signed(claims, otherPem, { jwk: createPublicKey(otherPem).export({ format: "jwk" }) }),
  ],
  ["an unknown critical header", (claims) => `${text({ alg: "ES256", crit: ["x"], x: 1 })}.${text(claims)}.AAAA`],
  ["another subject than its account", (claims) => signed({ ...claims, sub: "system:serviceaccount:kube-system:x" })],
  [
    "an account without a uid",
    (claims) => signed({ ...claims, "kubernetes.io": { namespace: "default", serviceaccount: { name: "forged" } } }),
  ],
  ["no account", (claims) => signed({ ...claims, "kubernetes.io": undefined })],
  [
    "a pod that is a text",
    (claims) => signed({ ...claims, "kubernetes.io": { ...(claims["kubernetes.io"] as object), pod: "x" } }),
  ],
  [
    "the claims of a secret's token, without a secret",
    (claims) => signed({ ...claims, iss: "kubernetes/serviceaccount" }),
  ],
  ["a truncated signature", (_claims, token) => token.slice(0, -10)],
  ["no signature", (_claims, token) => token.split(".").slice(0, 2).join(".")],
  ["an empty signature", (_claims, token) => `${token.split(".").slice(0, 2).join(".")}.`],
  [
    "another payload",
    (claims, token) => `${token.split(".")[0]}.${text({ ...claims, sub: "x" })}.${token.split(".")[2]}`,
  ],
  ["a payload that is not JSON", (_claims, token) => `${token.split(".")[0]}.AAAA.${token.split(".")[2]}`],
  ["a payload that is null", (_claims, token) => `${token.split(".")[0]}.${text(null)}.${token.split(".")[2]}`],
  ["a token inside another token", (_claims, token) => signed({ iss: issuer, token } as Record<string, unknown>)],
  ["a payload of 400 kB", (claims) => signed({ ...claims, padding: "x".repeat(400_000) })],
  ["a fourth part", (_claims, token) => `${token}.x`],
  ["padding after the signature", (_claims, token) => `${token}==`],
];
describe("a token with", () => {
  let token = "";
  before(async () => {
    await account("forged");
    token = await tokenOf("forged");
  });
  for (const [what, forge, good] of forgeries) {
    test(`${what} is ${good ? "accepted" : "rejected"}`, async () => {
      const answer = await userOf(await forge({ ...decodeJwt(token) }, token));
      if (good) assert.equal(answer.username, "system:serviceaccount:default:forged");
      else assertUnauthorized(answer);
    });
  }
  test("1 MiB is rejected because the header is too large", async () => {
    const answer = await userOf("x".repeat(1 << 20)).catch((error: NodeJS.ErrnoException) => error);
    assert.ok(
      ("status" in answer && answer.status === 431) || answer instanceof Error,
      "the server rejects the request or closes the connection",
    );
  });
});

/** Polls until the controllers have written the expected state. */
async function until(path: string, holds: (answer: Answer) => boolean): Promise<Answer["body"]> {
  const answer = await eventually(`${path} is as expected`, async () => {
    const found = await admin.send({ path });
    return holds(found) && found;
  });
  return answer.body;
}

test("fills a service account token secret with a token, which ends with the secret or the account", async () => {
  const { metadata } = await account("legacy");
  const secret = (name: string): object => ({
    metadata: { name, annotations: { "kubernetes.io/service-account.name": "legacy" } },
    type: "kubernetes.io/service-account-token",
  });
  const filled = async (name: string): Promise<Answer["body"]> => {
    await created(`${core}/secrets`, secret(name));
    return until(`${core}/secrets/${name}`, ({ body }) => body.data?.token !== undefined);
  };
  const first = await filled("first");
  const text64 = (key: string): string => Buffer.from(first.data[key], "base64").toString();
  assert.equal(first.metadata.annotations["kubernetes.io/service-account.uid"], metadata.uid);
  assert.deepEqual(
    [text64("namespace"), text64("ca.crt")],
    ["default", field(server.kubeconfig, "certificate-authority-data")],
  );
  assert.deepEqual(decodeJwt(text64("token")), {
    iss: "kubernetes/serviceaccount",
    "kubernetes.io/serviceaccount/namespace": "default",
    "kubernetes.io/serviceaccount/secret.name": "first",
    "kubernetes.io/serviceaccount/service-account.name": "legacy",
    "kubernetes.io/serviceaccount/service-account.uid": metadata.uid,
    sub: "system:serviceaccount:default:legacy",
  });
  assert.equal((await userOf(text64("token"))).username, "system:serviceaccount:default:legacy");
  const today = new Date().toISOString().slice(0, 10);
  const tracking = `/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking`;
  assert.deepEqual((await until(tracking, ({ status }) => status === 200)).data, { since: today });
  await until(
    `${core}/secrets/first`,
    ({ body }) => body.metadata.labels?.["kubernetes.io/legacy-token-last-used"] === today,
  );
  assertUnauthorized(await userOf(await signed({ ...decodeJwt(text64("token")) }))); // The same claims, another signature.
  await admin.send({
    method: "PATCH",
    path: `${core}/secrets/first`,
    headers: { "content-type": "application/merge-patch+json" },
    body: { metadata: { labels: { "kubernetes.io/legacy-token-invalid-since": "2026-01-01" } } },
  });
  assertUnauthorized(await userOf(text64("token")));
  const review = await post("/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token: text64("token") } });
  assert.match(
    tokenReviewProblem(review.body.status.error) ?? "",
    /^the token in secret default\/first for service account default\/legacy has been marked invalid\. Use tokens from /,
  );
  const { text: metrics } = await admin.send({ path: "/metrics" });
  for (const name of ["legacy_tokens_total", "legacy_manual_token_uses_total", "invalid_legacy_auto_token_uses_total"])
    assert.match(metrics, new RegExp(`^serviceaccount_${name} [1-9]`, "m"));
  const second = Buffer.from((await filled("second")).data.token, "base64").toString();
  assert.equal((await userOf(second)).username, "system:serviceaccount:default:legacy");
  const listed = { secrets: [{ name: "second" }, { name: "first" }] };
  const headers = { "content-type": "application/merge-patch+json" };
  await admin.send({ method: "PATCH", path: `${core}/serviceaccounts/legacy`, headers, body: listed });
  await remove(`${core}/secrets/second`);
  assertUnauthorized(await userOf(second));
  await until(
    `${core}/serviceaccounts/legacy`,
    ({ body }) => body.secrets.length === 1 && body.secrets[0].name === "first",
  );
  await remove(`${core}/serviceaccounts/legacy`);
  await until(`${core}/secrets/first`, ({ status }) => status === 404);
  await created(`${core}/secrets`, secret("orphan"));
  await until(`${core}/secrets/orphan`, ({ status }) => status === 404);
});

test("creates and restores the default ServiceAccount and kube-root-ca.crt in every namespace", async () => {
  await created("/api/v1/namespaces", { metadata: { name: "work" } });
  const exists = ({ status }: Answer): boolean => status === 200;
  for (const namespace of ["default", "kube-system", "work"]) {
    const paths = [
      `/api/v1/namespaces/${namespace}/serviceaccounts/default`,
      `/api/v1/namespaces/${namespace}/configmaps/kube-root-ca.crt`,
    ];
    for (const path of paths) {
      const { metadata } = await until(path, exists);
      await admin.send({ method: "DELETE", path });
      await until(path, (answer) => exists(answer) && answer.body.metadata.uid !== metadata.uid);
    }
    const path = paths[1] as string;
    const published = await until(path, exists);
    assert.deepEqual(published.data, { "ca.crt": field(server.kubeconfig, "certificate-authority-data") });
    await admin.send({
      method: "PATCH",
      path,
      headers: { "content-type": "application/merge-patch+json" },
      body: { data: { "ca.crt": "x", y: "z" } },
    });
    await until(path, ({ body }) => body.data["ca.crt"] !== "x" && body.data.y === undefined);
  }
});

test("serves discovery documents with which others can verify tokens", async () => {
  await account("checked");
  const token = await tokenOf("checked", { audiences: ["vault"] });
  const document = await admin.send({ path: "/.well-known/openid-configuration" });
  assert.deepEqual(
    [document.status, document.headers["content-type"], document.headers["cache-control"]],
    [200, "application/json", "public, max-age=3600"],
  );
  assert.deepEqual(document.body, {
    issuer,
    jwks_uri: `${server.url}/openid/v1/jwks`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256", "RS256"],
  });
  const keys = await admin.send({ path: "/openid/v1/jwks" });
  assert.equal(keys.headers["content-type"], "application/jwk-set+json");
  assert.deepEqual(
    keys.body.keys.map((key: object) => Object.keys(key).sort()),
    [
      ["alg", "crv", "kid", "kty", "use", "x", "y"],
      ["alg", "e", "kid", "kty", "n", "use"],
    ],
  );
  for (const path of ["/.well-known/openid-configuration/", "/openid/v1/jwks/"])
    assert.equal((await admin.send({ path })).status, 200);
  for (const [path, accept, status] of [
    ["/openid/v1/jwks", "application/jwk-set+json", 200],
    ["/openid/v1/jwks", "text/html, */*;q=0.8", 200],
    ["/openid/v1/jwks", "application/json", 406],
    ["/.well-known/openid-configuration", "application/json", 200],
    ["/.well-known/openid-configuration/", "application/jwk-set+json", 406],
  ] as const)
    assert.equal((await admin.send({ path, headers: { accept } })).status, status, `${path} as ${accept}`);
  const { payload } = await jwtVerify(token, createLocalJWKSet(keys.body), { issuer, audience: "vault" });
  assert.equal(payload.sub, "system:serviceaccount:default:checked");
  assertUnauthorized(await userOf(token));
});

test("client-node authenticates with a token", async () => {
  await account("client");
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [
      {
        name: "c",
        server: server.url,
        caData: Buffer.from(field(server.kubeconfig, "certificate-authority-data")).toString("base64"),
      },
    ],
    users: [{ name: "u", token: await tokenOf("client") }],
    contexts: [{ name: "x", cluster: "c", user: "u" }],
    currentContext: "x",
  });
  const review = await config.makeApiClient(AuthenticationV1Api).createSelfSubjectReview({ body: {} });
  assert.equal(review.status?.userInfo?.username, "system:serviceaccount:default:client");
  await assert.rejects(config.makeApiClient(CoreV1Api).listNamespacedPod({ namespace: "default" }), { code: 403 });
});

test("a restart keeps the signing key that the server created", async () => {
  const dataDir = join(directory, "data");
  const start = () => startServer({ storage: "lmdb", dataDir, durability: "relaxed" });
  const first = await start();
  const client = rawClient(first.kubeconfig);
  await client.send({ method: "POST", path: `${core}/serviceaccounts`, body: { metadata: { name: "kept" } } });
  const { body } = await client.send({ method: "POST", path: `${core}/serviceaccounts/kept/token`, body: {} });
  client.close();
  await first.close();
  assert.match(readFileSync(join(dataDir, "service-account.key"), "utf8"), /^-----BEGIN EC PRIVATE KEY-----/);
  const second = await start();
  const again = rawClient(second.kubeconfig);
  const headers = { authorization: `Bearer ${body.status.token}` };
  const answer = await again.send({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    headers,
    body: {},
    anonymous: true,
  });
  assert.equal(answer.body.status.userInfo.username, "system:serviceaccount:default:kept");
  again.close();
  await second.close();
});

function tokenFile(text: string): Parameters<typeof startServer>[0] {
  const file = join(directory, "start.csv");
  writeFileSync(file, text);
  return { tokenAuthFile: file };
}
const startRows: [what: string, options: () => Parameters<typeof startServer>[0], message: RegExp][] = [
  [
    "an empty issuer",
    () => ({ serviceAccountIssuers: [""] }),
    /^service-account-issuer should not be an empty string$/,
  ],
  [
    "a repeated issuer",
    () => ({ serviceAccountIssuers: ["a", "a"] }),
    /^service-account-issuer "a" is already specified$/,
  ],
  [
    "a maximum expiration under an hour",
    () => ({ serviceAccountMaxTokenExpirationMs: 1000 }),
    /must be between 1 hour and 2\^32 seconds/,
  ],
  [
    "a JWKS URI without https",
    () => ({ serviceAccountJwksUri: "http://a" }),
    /^service-account-jwks-uri requires https scheme, parsed as: http:\/\/a$/,
  ],
  [
    "a repeated static token",
    () => tokenFile("secret,ann,1\nother,bob,2\nsecret,eve,3\n"),
    /^token file '.*' line 3: the token is equal to that of line 1$/,
  ],
  [
    "a static token with two columns",
    () => tokenFile("secret,ann,1\nother,bob\n"),
    /^token file '.*' line 2: must have at least 3 columns/,
  ],
  [
    "a key file without a key",
    () => ({ serviceAccountKeyFiles: [join(directory, "tokens.csv")] }),
    /does not contain any valid RSA or ECDSA public keys$/,
  ],
  [
    "a signing key that is public",
    () => ({ serviceAccountSigningKeyFile: join(directory, "old.pub") }),
    /^failed to parse service-account-issuer-key-file: error reading private key file .*old\.pub: data does not contain a valid RSA or ECDSA private key$/,
  ],
];
for (const [what, options, message] of startRows) {
  test(`rejects a start with ${what}`, () => assert.rejects(startServer(options()), { message }));
}

const commands: [command: string, want: RegExp][] = [
  ["create serviceaccount ctl", /serviceaccount\/ctl created/],
  ["create token ctl", /^ey[\w-]+\.[\w-]+\.[\w-]+$/],
  [
    "create token ctl --duration=601s --audience=vault -o jsonpath={.spec}",
    /"audiences":\["vault"\].*"expirationSeconds":601/,
  ],
  ["create token ctl --duration=1s", /may not specify a duration less than 10 minutes/],
  [
    "create token ctl --bound-object-kind=Secret --bound-object-name=asked -o jsonpath={.spec.boundObjectRef.name}",
    /^asked$/,
  ],
  [
    "create token ctl --bound-object-kind=Secret --bound-object-name=asked --bound-object-uid=x",
    /the UID in the bound object reference \(x\) does not match/,
  ],
  ["create token ctl --bound-object-kind=Secret --bound-object-name=absent", /secrets "absent" not found/],
  ["create token absent", /serviceaccounts "absent" not found/],
  ["create token ctl --duration=601s -o jsonpath={.spec.expirationSeconds}", /^601$/],
  ["create token ctl --bound-object-kind=Pod --bound-object-name=others", /different serviceaccount name/],
  ["delete serviceaccount ctl", /deleted/],
];
for (const kubectl of kubectls()) {
  test(`${kubectl.split("/").at(-1)} create token prints tokens and errors`, async () => {
    for (const [command, want] of commands) {
      const { output } = await runKubectl(kubectl, command.split(" "), {
        directory: server.directory,
        kubeconfigPath: server.kubeconfigPath,
      });
      assert.match(output, want);
    }
  });
}

const keyRows: [algorithm: string, make: () => KeyObject][] = [
  ["RS256", () => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey],
  ["ES384", () => generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey],
  ["ES512", () => generateKeyPairSync("ec", { namedCurve: "P-521" }).privateKey],
];
test("signs with RSA and ECDSA keys, and accepts several keys in one file", async () => {
  const files = keyRows.map(([algorithm, make]) => {
    const file = join(directory, `${algorithm}.key`);
    writeFileSync(file, make().export({ type: "pkcs8", format: "pem" }).toString());
    return file;
  });
  const together = join(directory, "all.pub");
  const publicOf = (file: string): string =>
    createPublicKey(readFileSync(file, "utf8")).export({ type: "spki", format: "pem" }).toString();
  writeFileSync(together, files.map(publicOf).join("# a comment\n"));
  const tokens: string[] = [];
  for (const [index, [algorithm]] of keyRows.entries()) {
    const signing = files[index] as string;
    const one = await startServer({
      serviceAccountSigningKeyFile: signing,
      serviceAccountKeyFiles: [together],
      serviceAccountLookup: true,
      controllers: [],
    });
    const client = rawClient(one.kubeconfig);
    await client.send({ method: "POST", path: `${core}/serviceaccounts`, body: { metadata: { name: "k" } } });
    const token: string = (await client.send({ method: "POST", path: `${core}/serviceaccounts/k/token`, body: {} }))
      .body.status.token;
    const { keys } = (await client.send({ path: "/openid/v1/jwks" })).body;
    const { alg, kid } = decodeProtectedHeader(token);
    assert.deepEqual(
      [alg, keys.length, keys.find((key: { kid: string }) => key.kid === kid)?.alg],
      [algorithm, 3, algorithm],
    );
    const statuses: number[] = [];
    for (const bearer of [token, ...tokens]) {
      const headers = { authorization: `Bearer ${bearer}` };
      statuses.push((await client.send({ path: "/version", headers, anonymous: true })).status);
    }
    // The tokens of the earlier servers have valid signatures, but no accounts here.
    assert.deepEqual(statuses, [200, ...tokens.map(() => 401)]);
    tokens.push(token);
    client.close();
    await one.close();
  }
});

/** kubectl 1.27 requests versions of SelfSubjectReview that 1.36 does not serve. */
const withWhoami = kubectls().filter((kubectl) => !kubectl.endsWith(".1.27"));
test("kubectl auth whoami prints the user of a token, and the impersonated user", {
  skip:
    withWhoami.length === 0 &&
    reasonOf("kubectl 1.28", "curl -LO https://dl.k8s.io/release/v1.36.0/bin/linux/amd64/kubectl"),
}, async () => {
  await account("who");
  const token = await tokenOf("who");
  const ca = join(directory, "ca.crt");
  writeFileSync(ca, field(server.kubeconfig, "certificate-authority-data"));
  const config = join(directory, "token.kubeconfig");
  writeFileSync(config, "");
  const connection = ["--server", server.url, "--certificate-authority", ca];
  for (const kubectl of withWhoami) {
    const { output } = await runKubectl(kubectl, [...connection, "--token", token, "auth", "whoami"], {
      directory,
      kubeconfigPath: config,
    });
    assert.match(output, /Username\s+system:serviceaccount:default:who/);
    const as = ["--as=eve", "--as-group=a", "--as-group=b", "--as-uid=7", "auth", "whoami", "-o", "json"];
    const impersonated = await runKubectl(kubectl, as, { directory, kubeconfigPath: server.kubeconfigPath });
    assert.deepEqual(JSON.parse(impersonated.output).status.userInfo, {
      username: "eve",
      uid: "7",
      groups: ["a", "b", "system:authenticated"],
    });
    const rejected = await runKubectl(kubectl, [...connection, "--token", "nope", "get", "pods"], {
      directory,
      kubeconfigPath: config,
    });
    assert.match(rejected.output, /You must be logged in to the server/);
  }
});

const extending =
  "service-account-extend-token-expiration is true, in order to correctly trigger safe transition logic,";
test("limits the lifetime of tokens and sets the audiences by options", async () => {
  const warnings: string[] = [];
  const limited = await startServer({
    serviceAccountMaxTokenExpirationMs: 3600_000,
    serviceAccountJwksUri: "https://keys.example/jwks",
    apiAudiences: ["api"],
    controllers: [],
    anonymousAuth: false,
    featureGates: "TokenRequestServiceAccountUIDValidation=false",
    logger: { info() {}, warn: (text) => void warnings.push(text), error() {} },
  });
  const client = rawClient(limited.kubeconfig);
  await client.send({ method: "POST", path: `${core}/serviceaccounts`, body: { metadata: { name: "short" } } });
  const path = `${core}/serviceaccounts/short/token`;
  const { body, headers } = await client.send({ method: "POST", path, body: { spec: { expirationSeconds: 7200 } } });
  const { aud, exp = 0, iat = 0 } = decodeJwt(body.status.token);
  assert.deepEqual([aud, exp - iat, body.spec.expirationSeconds], [["api"], 3600, 3600]);
  assert.match(String(headers.warning), /requested expiration of 7200 seconds shortened to 3600 seconds/);
  assert.ok(
    warnings.includes(
      `${extending} service-account-max-token-expiration must be set longer than 3607 seconds (currently 1h0m0s)`,
    ),
  );
  assert.equal(
    (await client.send({ path: "/.well-known/openid-configuration" })).body.jwks_uri,
    "https://keys.example/jwks",
  );
  const other = await client.send({ method: "POST", path, body: { metadata: { uid: "x" } } });
  assert.equal(other.status, 201);
  assert.match(
    String(other.headers.warning),
    /the UID in the token request \(x\) does not match .* but TokenRequestServiceAccountUIDValidation is not enabled/,
  );
  assertUnauthorized(await client.send({ path: "/version", anonymous: true }));
  const bearer = { authorization: `Bearer ${body.status.token}` };
  assert.equal((await client.send({ path: "/version", headers: bearer, anonymous: true })).status, 200);
  client.close();
  await limited.close();
});
