/**
 * Token authentication by a webhook over TLS: its answers, its failures, caching, and start errors.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { startServer } from "../../src/index.ts";
import { issueCertificate } from "../../src/server/serving/x509.ts";
import { type Answer, type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { tokenReviewProblem } from "../support/token-review-problem.ts";
import { until } from "../support/until.ts";
import { startWebhookServer, type WebhookReply, type WebhookServer } from "../support/webhook-server.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-token-webhook-"));
const kubeconfig = join(directory, "webhook.yaml");

let webhook: WebhookServer;
/** The answer of the webhook for a token. */
let reply: (token: string) => WebhookReply = () => ({});
let server: TestServer;
let admin: RawClient;
const logged: string[] = [];

const base64 = (text: string): string => Buffer.from(text).toString("base64");

function writeKubeconfig(file: string, url: string, user: object): void {
  const config = {
    clusters: [{ name: "c", cluster: { server: url, "certificate-authority-data": base64(webhook.ca) } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  writeFileSync(file, JSON.stringify(config));
}

before(async () => {
  webhook = await startWebhookServer((request) => reply(request.body.spec.token), {
    tls: { requestCert: true, rejectUnauthorized: false },
  });
  const validity = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 3_600_000 };
  const client = await issueCertificate(webhook.authority, {
    subject: { commonName: "api-server" },
    usage: "client",
    names: [],
    ...validity,
  });
  writeKubeconfig(kubeconfig, `${webhook.url}/authenticate`, {
    "client-certificate-data": base64(client.cert),
    "client-key-data": base64(client.key),
  });
  writeFileSync(join(directory, "tokens.csv"), "static,eve,7\n");
  const log = (message: string, values?: object): void => void logged.push(`${message} ${JSON.stringify(values)}`);
  server = await startTestServer({
    tokenAuthFile: join(directory, "tokens.csv"),
    apiAudiences: ["api"],
    tokenWebhook: { configFile: kubeconfig, version: "v1", cacheMs: 120_000 },
    logger: { info: log, warn: log, error: log },
  });
  admin = rawClient(server.kubeconfig);
});
after(async () => {
  admin.close();
  await server.close();
  await webhook.close();
  rmSync(directory, { recursive: true, force: true });
});
beforeEach(() => {
  webhook.requests.length = 0;
});

async function reviewSelf(token: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}` };
  return admin.send({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    headers,
    body: {},
    anonymous: true,
  });
}

async function review(token: string, audiences: string[] = []): Promise<Answer["body"]> {
  const { body } = await admin.send({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/tokenreviews",
    body: { spec: { token, audiences } },
  });
  return body.status;
}

const reviewReply = (status: object, version = "v1"): WebhookReply => ({
  apiVersion: `authentication.k8s.io/${version}`,
  kind: "TokenReview",
  status,
});
const ann = { username: "ann", uid: "42", groups: ["devs"], extra: { "example.com/team": ["red", "blue"] } };

test("authenticates the user that the webhook returns, with uid, groups and extra", async () => {
  reply = () => reviewReply({ authenticated: true, user: ann });
  const answer = await reviewSelf("good");
  assert.deepEqual(answer.body.status.userInfo, { ...ann, groups: ["devs", "system:authenticated"] });
  const [sent] = webhook.requests;
  assert.deepEqual([sent?.path.split("?")[0], sent?.headers["content-type"]], ["/authenticate", "application/json"]);
  assert.equal(
    sent?.text,
    '{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{},"spec":{"token":"good","audiences":["api"]},"status":{"user":{}}}\n',
  );
});

test("caches answers for valid and invalid tokens, but not errors", async () => {
  const askTwice = async (token: string, status: object): Promise<number[]> => {
    webhook.requests.length = 0;
    reply = () => reviewReply(status);
    const codes = [(await reviewSelf(token)).status, (await reviewSelf(token)).status];
    return [...codes, webhook.requests.length];
  };
  assert.deepEqual(await askTwice("cached-yes", { authenticated: true, user: ann }), [201, 201, 1]);
  assert.deepEqual(await askTwice("cached-no", { authenticated: false }), [401, 401, 1]);
  assert.deepEqual(await askTwice("not-cached", { authenticated: false, error: "no such token" }), [401, 401, 2]);
});

test("does not call the webhook for a static token", async () => {
  assert.equal((await reviewSelf("static")).body.status.userInfo.username, "eve");
  assert.equal(webhook.requests.length, 0);
});

test("calls the webhook once for concurrent requests with one token", async () => {
  reply = () => reviewReply({ authenticated: true, user: ann });
  const answers = await Promise.all(Array.from({ length: 20 }, () => reviewSelf("crowd")));
  assert.deepEqual([new Set(answers.map(({ status }) => status)), webhook.requests.length], [new Set([201]), 1]);
});

test("returns the audiences of the webhook, or those of the server", async () => {
  reply = () => reviewReply({ authenticated: true, user: ann });
  assert.deepEqual((await review("unnamed", ["api", "x"])).audiences, ["api"]);
  assert.deepEqual(await review("unnamed", ["x"]), { user: {}, error: "invalid bearer token" });
  reply = () => reviewReply({ authenticated: true, user: ann, audiences: ["x"] });
  assert.deepEqual((await review("named", ["x", "y"])).audiences, ["x"]);
  assert.deepEqual(await review("named"), { user: {}, error: "invalid bearer token" });
});

test("returns the error of the webhook in a TokenReview, not to the bearer", async () => {
  reply = () => reviewReply({ authenticated: false, error: "expired on Tuesday" });
  assert.deepEqual(await review("old"), { user: {}, error: "[invalid bearer token, expired on Tuesday]" });
  const { status, text } = await reviewSelf("old");
  assert.equal(status, 401);
  assert.ok(!text.includes("Tuesday"));
});

const failures: [what: string, reply: (token: string) => WebhookReply, error: RegExp][] = [
  [
    "an empty user name",
    () => reviewReply({ authenticated: true, user: { username: "" } }),
    /^the webhook authenticated a user without a name$/,
  ],
  ["no user", () => reviewReply({ authenticated: true }), /^the webhook authenticated a user without a name$/],
  [
    "the other version",
    () => reviewReply({ authenticated: true, user: ann }, "v1beta1"),
    /^converting \(v1beta1\.TokenReview\) to \(v1\.TokenReview\): unknown conversion$/,
  ],
  [
    "another kind",
    () => ({ apiVersion: "v1", kind: "Pod" }),
    /^converting \(v1\.Pod\) to \(v1\.TokenReview\): unknown conversion$/,
  ],
  [
    "a text for authenticated",
    () => reviewReply({ authenticated: "true", user: ann }),
    /cannot unmarshal string into Go struct field TokenReviewStatus\.status\.authenticated of type bool$/,
  ],
  ["a body that is not JSON", () => "<html>", /^couldn't get version\/kind; json parse error: /],
  [
    "truncated JSON",
    () => '{"apiVersion":"authentication.k8s.io/v1"',
    /json parse error: unexpected end of JSON input$/,
  ],
  ["an empty body", () => "", /^0-length response with status code: 200 and content type: application\/json$/],
  [
    "a redirection",
    () => (response) => response.writeHead(302, { location: "ftp://a/b" }).end(),
    /^Post "ftp:\/\/a\/b": unsupported protocol scheme "ftp"$/,
  ],
  [
    "status 403",
    () => (response) => response.writeHead(403, { "content-type": "text/plain" }).end("go away"),
    /^go away$/,
  ],
  [
    "a body over the limit",
    () => (response) => void response.end(Buffer.alloc(2 << 20, 32)),
    /^the response of the webhook is larger than 1048576 bytes$/,
  ],
  [
    "a body that ends early",
    () => (response) => response.writeHead(200, { "content-length": "100" }).write("{", () => response.destroy()),
    /unexpected EOF$/,
  ],
];
describe("rejects the token when the webhook answers with", () => {
  for (const [what, failure, error] of failures) {
    test(what, async () => {
      reply = failure;
      const { status, text } = await reviewSelf(`secret-${what.replaceAll(" ", "-")}`);
      assert.equal(status, 401, text);
      const { error: found } = await review(`secret-${what.replaceAll(" ", "-")}`);
      assert.match(tokenReviewProblem(found) ?? "", error);
    });
  }
});

test("retries after status 500", async () => {
  let left = 2;
  reply = () =>
    left-- > 0 ? (response) => response.writeHead(500).end() : reviewReply({ authenticated: true, user: ann });
  assert.equal((await reviewSelf("patient")).status, 201);
  assert.equal(webhook.requests.length, 3);
});

test("serves other requests while the webhook is slow", async () => {
  let release = (): void => {};
  reply = () => (response) => {
    release = () => void response.end(JSON.stringify(reviewReply({ authenticated: true, user: ann })));
  };
  const slow = reviewSelf("slow");
  await until(() => webhook.requests.length > 0);
  assert.equal((await reviewSelf("static")).status, 201);
  release();
  assert.equal((await slow).status, 201);
});

test("exposes metrics of the cache", async () => {
  const { text } = await admin.send({ path: "/metrics" });
  for (const [name, status] of [
    ["request_total", "hit"],
    ["request_total", "miss"],
    ["request_duration_seconds_count", "miss"],
    ["fetch_total", "ok"],
    ["fetch_total", "error"],
  ] as const)
    assert.match(text, new RegExp(`^authentication_token_cache_${name}\\{status="${status}"\\} [1-9]`, "m"));
  assert.match(text, /^authentication_token_cache_active_fetch_count\{status="in_flight"\} 0$/m);
});

test("logs no tokens", () => {
  assert.ok(logged.some((line) => line.includes("failed to make webhook authenticator request")));
  assert.deepEqual(
    logged.filter((line) => /secret-/.test(line)),
    [],
  );
});

test("rejects unknown tokens and accepts static ones while the webhook is not reachable", async () => {
  const closed = await startWebhookServer(() => ({}));
  await closed.close();
  const file = join(directory, "closed.yaml");
  writeKubeconfig(file, closed.url, { token: "api-server" });
  const warnings: string[] = [];
  const alone = await startServer({
    tokenAuthFile: join(directory, "tokens.csv"),
    tokenWebhook: { configFile: file, version: "v1beta1", cacheMs: 5_000 },
    logger: { info() {}, warn: (message) => void warnings.push(message), error() {} },
  });
  const short =
    "the webhook cache ttl of 5s is shorter than the overall cache ttl of 10s for successful token authentication attempts.";
  assert.ok(warnings.includes(short));
  const client = rawClient(alone.kubeconfig);
  const ask = (token: string): Promise<Answer> =>
    client.send({ path: "/version", headers: { authorization: `Bearer ${token}` }, anonymous: true });
  assert.deepEqual(
    [(await ask("x")).status, (await ask("static")).status, (await client.send({ path: "/api" })).status],
    [401, 200, 200],
  );
  client.close();
  await alone.close();
});

const startRows: [what: string, file: string, text: string | undefined, version: string, message: RegExp][] = [
  [
    "a configuration file that does not exist",
    "absent.yaml",
    undefined,
    "v1",
    /^stat .*absent\.yaml: no such file or directory$/,
  ],
  ["a configuration file that is not YAML", "wrong.yaml", "a: [", "v1", /^error loading config file ".*wrong\.yaml": /],
  [
    "a configuration file without a cluster",
    "empty.yaml",
    "{}",
    "v1",
    /^invalid configuration: no configuration has been provided/,
  ],
  [
    "an unknown version",
    "webhook.yaml",
    undefined,
    "v2",
    /^unsupported authentication webhook version "v2", supported versions are "v1", "v1beta1"$/,
  ],
];
for (const [what, file, text, version, message] of startRows) {
  test(`rejects a start with ${what}`, async () => {
    const configFile = join(directory, file);
    if (text !== undefined) writeFileSync(configFile, text);
    await assert.rejects(startServer({ tokenWebhook: { configFile, version, cacheMs: 0 } }), { message });
  });
}
