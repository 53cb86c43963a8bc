/**
 * Service account tokens of an external signer (`--service-account-signing-endpoint`). Answers and messages are those
 * of kube-apiserver 1.36 with the same signer.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import type { ServerOptions } from "../../src/index.ts";
import { signerKey, startExternalSigner } from "../support/external-signer.ts";
import { manualClock } from "../support/manual-clock.ts";
import type { Answer } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { unavailable } from "../support/socket-service.ts";
import { startTestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-external-signer-"));
const socket = join(directory, "signer.sock");
const signer = await startExternalSigner(socket);
after(() => {
  signer.close();
  rmSync(directory, { recursive: true });
});
const clock = manualClock(Date.now());
const { client } = await startServerWithClient({
  clock,
  serviceAccountSigningEndpoint: socket,
  serviceAccountIssuers: ["https://kubernetes.default.svc"],
});
const core = "/api/v1/namespaces/default";
await client.send({ method: "POST", path: `${core}/serviceaccounts`, body: { metadata: { name: "robot" } } });

const initial = { ...signer };
beforeEach(() => {
  Object.assign(signer, { change: initial.change, failure: undefined });
  signer.calls.length = 0;
});

const request = (spec: object = {}): Promise<Answer> =>
  client.send({ method: "POST", path: `${core}/serviceaccounts/robot/token`, body: { spec } });
const review = async (token: string): Promise<Answer["body"]> => {
  const path = "/apis/authentication.k8s.io/v1/tokenreviews";
  return (await client.send({ method: "POST", path, body: { spec: { token } } })).body.status;
};
const publishedIds = async (): Promise<string[]> =>
  (await client.send({ path: "/openid/v1/jwks" })).body.keys.map(({ kid }: { kid: string }) => kid);

async function issued(spec?: object): Promise<string> {
  const { status, text, body } = await request(spec);
  assert.equal(status, 201, text);
  return body.status.token;
}

test("the signer signs tokens, which live at most as long as it allows", async () => {
  const answer = await request({ expirationSeconds: 100_000 });
  assert.equal(answer.body.spec.expirationSeconds, 86_400);
  assert.match(String(answer.headers.warning), /requested expiration of 100000 seconds shortened to 86400 seconds/);
  const [header, payload] = (answer.body.status.token as string)
    .split(".", 2)
    .map((part) => JSON.parse(Buffer.from(part, "base64url").toString()));
  assert.deepEqual(header, { alg: "ES256", kid: "first", typ: "JWT" });
  assert.deepEqual([payload.iss, payload.exp - payload.iat], ["https://kubernetes.default.svc", 86_400]);
  assert.deepEqual(Object.keys(payload), ["aud", "exp", "iat", "iss", "jti", "kubernetes.io", "nbf", "sub"]);
  const { authenticated, user } = await review(answer.body.status.token);
  assert.deepEqual([authenticated, user.username], [true, "system:serviceaccount:default:robot"]);
});

test("serves the keys of the signer, which clients may keep until they are fetched again", async () => {
  assert.deepEqual(await publishedIds(), ["first"]);
  const { headers } = await client.send({ path: "/openid/v1/jwks" });
  assert.equal(headers["cache-control"], "public, max-age=3600");
  const { body } = await client.send({ path: "/.well-known/openid-configuration" });
  assert.deepEqual(body.id_token_signing_alg_values_supported, ["ES256"]);
});

test("fetches the keys when a token has an unknown one", async () => {
  signer.keys = [signerKey("second"), ...signer.keys];
  const token = await issued();
  assert.deepEqual(signer.calls, ["Sign", "FetchKeys"]);
  assert.equal((await review(token)).authenticated, true);
  assert.deepEqual(await publishedIds(), ["second", "first"]);
});

test("rejects a signature of a key that only verifies tokens", async () => {
  signer.keys = [signerKey("hidden", true), signerKey("third")];
  const { status, body } = await request();
  assert.deepEqual(
    [status, body.message],
    [
      500,
      "Internal error occurred: failed to generate token: while validating header: key used for signing JWT (kid: hidden) is excluded from OIDC discovery docs",
    ],
  );
  assert.deepEqual(await publishedIds(), ["third"]);
});

test("rejects the tokens of a key that is gone", async () => {
  signer.keys = [signerKey("old")];
  const token = await issued();
  signer.keys = [signerKey("new")];
  clock.advance(3_600_000);
  await eventually("the keys to be fetched", async () => (await publishedIds())[0] === "new");
  assert.equal((await review(token)).error, "[invalid bearer token, invalid signature, no keys found]");
});

test("keeps the keys while the signer fails, and tries again", async () => {
  signer.failure = unavailable;
  signer.keys = [signerKey("later")];
  clock.advance(3_600_000);
  await eventually("a call", async () => signer.calls.includes("FetchKeys"));
  assert.deepEqual(await publishedIds(), ["new"]);
  assert.equal((await client.send({ path: "/openid/v1/jwks" })).headers["cache-control"], "public, max-age=0");
  signer.failure = undefined;
  await eventually("the keys to be fetched", async () => {
    clock.advance(10_000);
    return (await publishedIds())[0] === "later";
  });
});

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const header = { alg: "ES256", kid: "x", typ: "JWT" };
const badAnswers: [what: string, change: { header?: string; signature?: string }, message: string][] = [
  ["no type", { header: encode({ ...header, typ: undefined }) }, "while validating header: bad type"],
  ["no key", { header: encode({ ...header, kid: "" }) }, "while validating header: key id missing"],
  [
    "a long key id",
    { header: encode({ ...header, kid: "x".repeat(1025) }) },
    "while validating header: key id longer than 1 kb",
  ],
  [
    "no algorithm",
    { header: encode({ ...header, alg: "none" }) },
    'while validating header: bad signing algorithm "none"',
  ],
  [
    "another member",
    { header: encode({ ...header, x: 1 }) },
    'while validating header: while parsing header JSON: json: unknown field "x"',
  ],
  ["null", { header: encode(null) }, "while validating header: bad type"],
  ["no signature", { signature: "" }, "empty signature returned"],
];
for (const [what, change, message] of badAnswers)
  test(`rejects an answer with ${what}`, async () => {
    signer.change = (response) => ({ ...response, ...change });
    const { status, body } = await request();
    assert.deepEqual([status, body.message], [500, `Internal error occurred: failed to generate token: ${message}`]);
  });

test("answers with the error of the signer", async () => {
  signer.failure = unavailable;
  assert.equal(
    (await request()).body.message,
    "Internal error occurred: failed to generate token: while signing jwt: rpc error: code = Unavailable desc = the vault is sealed",
  );
});

test("counts the calls", async () => {
  const { text } = await client.send({ path: "/metrics" });
  for (const line of [
    'fetch_keys_request_total{code="OK"} ',
    'fetch_keys_request_total{code="Unavailable"} ',
    'sign_request_total{code="OK"} ',
    'sign_request_total{code="Unavailable"} 1',
    'sign_request_total{code="unknown-non-grpc"} 8',
    'request_duration_seconds_count{code="OK",method="/v1.ExternalJWTSigner/Metadata"} 1',
    "fetch_keys_data_timestamp 1.7e+09",
  ])
    assert.ok(text.includes(`\napiserver_externaljwt_${line}`), line);
});

const rejected: [what: string, options: Partial<ServerOptions>, message: RegExp][] = [
  [
    "a longer lifetime than that of the signer",
    { serviceAccountMaxTokenExpirationMs: 172_800_000 },
    /^service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: 48h0m0s > 24h0m0s$/,
  ],
  [
    "a signing key",
    { serviceAccountSigningKeyFile: "sa.key" },
    /^service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be set at the same time$/,
  ],
  [
    "keys",
    { serviceAccountKeyFiles: ["sa.pub"] },
    /^can't set `--service-account-signing-key-file` and\/or `--service-account-key-file` with `--service-account-signing-endpoint` \(They are mutually exclusive\)$/,
  ],
  [
    "a name that no abstract socket can have",
    { serviceAccountSigningEndpoint: "@a/b" },
    /^invalid value "@a\/b" passed for `--service-account-signing-endpoint`, when prefixed with @ must be a valid abstract socket name$/,
  ],
];
for (const [what, options, message] of rejected)
  test(`does not start with ${what}`, async () => {
    await assert.rejects(startTestServer({ serviceAccountSigningEndpoint: socket, ...options }), { message });
  });

test("does not start with a signer whose tokens live too short", async () => {
  signer.maxTokenExpirationSeconds = 599;
  await assert.rejects(startTestServer({ serviceAccountSigningEndpoint: socket }), {
    message: "max token life supported by external-jwt-signer (599s) is less than acceptable (min 600s)",
  });
  signer.maxTokenExpirationSeconds = 86_400;
});

const badKeys: [what: string, change: Partial<typeof signer>, message: string][] = [
  ["no keys", { keys: [] }, "found no keys"],
  ["no refresh hint", { refreshHintSeconds: 0 }, "found invalid refresh hint (0s)"],
  ["a key without an id", { keys: [{ ...signerKey("x"), keyId: "" }] }, 'found invalid public key id ""'],
  ["an empty key", { keys: [{ ...signerKey("x"), key: Buffer.alloc(0) }] }, "found empty public key"],
];
for (const [what, change, message] of badKeys)
  test(`does not start with ${what}`, async () => {
    const { keys, refreshHintSeconds } = signer;
    Object.assign(signer, change);
    await assert.rejects(startTestServer({ serviceAccountSigningEndpoint: socket }), {
      message: `while setting up external-jwt-signer: while initially filling key cache: while performing initial cache fill: while fetching token verification keys: ${message}`,
    });
    Object.assign(signer, { keys, refreshHintSeconds });
  });
