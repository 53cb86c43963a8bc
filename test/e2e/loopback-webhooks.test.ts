/**
 * Webhooks whose Service is `kubernetes` are paths of the server itself, which calls them as its own
 * user. Source: k8s.io/apiserver@v0.36.0/pkg/util/webhook/authentication.go.
 *
 * - An aggregated API server can be an admission webhook and a conversion webhook in this way.
 * - It receives the name of the caller, and not the token, whatever it answers.
 * - No log message, audit event, metric, response or object contains the token.
 */
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { defaultAuditOptions } from "../../src/audit/options.ts";
import type { ServerOptions } from "../../src/index.ts";
import type { Answer } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { eventually } from "../support/until.ts";
import { startWebhookServer, type WebhookReply, type WebhookRequest } from "../support/webhook-server.ts";
import { definitionOf, good, target } from "./conversion/targets.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-loopback-"));
after(() => rmSync(directory, { recursive: true, force: true }));
const policyFile = join(directory, "policy.yaml");
writeFileSync(policyFile, "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: RequestResponse}]}");
const path = join(directory, "audit.log");
const log = { ...defaultAuditOptions.log, path, mode: "blocking" as const };
/** Everything that the server logs and answers. */
const disclosed: string[] = [];
const record = (message: string, values?: object): void => void disclosed.push(message, JSON.stringify(values ?? {}));
const logger: ServerOptions["logger"] = { info: record, warn: record, error: record };
const tokens = new Set<string>();
subscribe("undici:client:sendHeaders", readToken);
after(() => unsubscribe("undici:client:sendHeaders", readToken));

let reply: (request: WebhookRequest) => WebhookReply = review;
const backend = await startWebhookServer((request) => reply(request));
after(() => backend.close());
const { client } = await startServerWithClient({ logger, audit: { ...defaultAuditOptions, policyFile, log } });

/** Keeps the tokens of requests that the clients of webhooks send. */
function readToken(message: unknown): void {
  const { headers } = message as { readonly headers: string };
  const [, token] = /^authorization: Bearer (\S+)/im.exec(headers) ?? [];
  if (token !== undefined) tokens.add(token);
}

async function send(method: string, at: string, body?: object): Promise<Answer> {
  const answer = await client.send({ method, path: at, ...(body !== undefined && { body }) });
  disclosed.push(JSON.stringify(answer.headers), answer.text);
  return answer;
}

async function create(at: string, body: object): Promise<void> {
  const { status, text } = await send("POST", at, body);
  assert.equal(status, 201, text);
}

const reviewPath = "/apis/reviews.example.com/v1/reviews";

/** Allows ConfigMaps with the data `good`, converts objects, and answers probes. */
function review(request: WebhookRequest): WebhookReply {
  const { path: requested, body } = request;
  if (requested.startsWith(`${reviewPath}/convert`)) return good(request);
  if (!requested.startsWith(reviewPath)) return {};
  const { uid, object } = body.request;
  const allowed = object.data?.good === "yes";
  return { kind: body.kind, apiVersion: body.apiVersion, response: { uid, allowed, status: { message: "not good" } } };
}

/** Registers the backend as the group `reviews.example.com`. */
before(async () => {
  await create("/api/v1/namespaces", { metadata: { name: "reviews" } });
  const spec = { type: "ExternalName", externalName: "127.0.0.1" };
  await create("/api/v1/namespaces/reviews/services", { metadata: { name: "api" }, spec });
  const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices";
  const name = "v1.reviews.example.com";
  const { port } = backend;
  await create(apiServices, {
    metadata: { name },
    spec: {
      ...{ group: "reviews.example.com", version: "v1", groupPriorityMinimum: 100, versionPriority: 10 },
      ...{ insecureSkipTLSVerify: true, service: { namespace: "reviews", name: "api", port } },
    },
  });
  await eventually("available", async () => {
    const { body } = await send("GET", `${apiServices}/${name}`);
    return body.status?.conditions?.[0]?.status === "True";
  });
});

/** Creates a ConfigMap that a webhook reviews. @returns the message of the error */
async function reviewBy(name: string, clientConfig: object): Promise<string> {
  await createWebhook(name, clientConfig);
  return (await createReviewed(name)).body.message;
}

async function createWebhook(name: string, clientConfig: object): Promise<void> {
  const webhook = {
    name: `${name}.example.com`,
    clientConfig,
    rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] }],
    objectSelector: { matchLabels: { name } },
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
  };
  const collection = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  await create(collection, { metadata: { name }, webhooks: [webhook] });
}

/** @param name also the name of the webhook */
function createReviewed(name: string, data: object = {}): Promise<Answer> {
  return send("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name, labels: { name } }, data });
}

const service = (servicePath: string): object => ({
  service: { namespace: "default", name: "kubernetes", path: servicePath },
});

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
const events = (): any[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

test("calls itself as system:apiserver, and treats the review as any client's", async () => {
  const message = await reviewBy("own", service("/apis/rbac.authorization.k8s.io/v1/clusterroles"));
  assert.equal(
    message,
    'Internal error occurred: failed calling webhook "own.example.com": failed to call webhook: AdmissionReview in version "v1" cannot be handled as a ClusterRole: converting (v1.AdmissionReview) to (rbac.ClusterRole): unknown conversion',
  );
  const call = events().find(
    ({ objectRef, stage }) => objectRef?.resource === "clusterroles" && stage === "ResponseComplete",
  );
  assert.equal(call.responseStatus.code, 400);
  assert.equal(call.userAgent, "Go-http-client/1.1");
  assert.match(call.user.uid, /^[0-9a-f-]{36}$/);
  assert.deepEqual(
    [call.user.username, [...call.user.groups].sort()],
    ["system:apiserver", ["system:authenticated", "system:masters"]],
  );
});

test("trusts its own certificate instead of the bundle of the webhook", async () => {
  const caBundle = Buffer.from("not a certificate").toString("base64");
  const message = await reviewBy("bundle", { ...service("/api/v1/namespaces"), caBundle });
  assert.match(message, /AdmissionReview in version "v1" cannot be handled as a Namespace/);
});

test("another port of the Service is not the server itself", async () => {
  const message = await reviewBy("port", {
    service: { namespace: "default", name: "kubernetes", path: "/api/v1/namespaces", port: 6443 },
  });
  assert.match(message, /no service port 6443 found for service \\?"kubernetes\\?"$/);
});

test("an aggregated API server is an admission webhook, and does not receive the token", async () => {
  await createWebhook("aggregated", service(reviewPath));
  backend.requests.length = 0;
  const rejected = await createReviewed("aggregated");
  const message = 'admission webhook "aggregated.example.com" denied the request: not good';
  assert.deepEqual([rejected.status, rejected.body.message], [400, message]);
  assert.equal((await createReviewed("aggregated", { good: "yes" })).status, 201);
  const reviews = backend.requests.filter(({ path: requested }) => requested.startsWith(reviewPath));
  assert.deepEqual(
    reviews.map(({ path: requested, headers, body }) => ({
      ...{ requested, kind: body.kind, name: body.request.name, authorization: headers.authorization },
      user: headers["x-remote-user"],
      groups: String(headers["x-remote-group"]).split(", ").sort(),
    })),
    [1, 2].map(() => ({
      ...{ requested: `${reviewPath}?timeout=10s`, kind: "AdmissionReview", name: "aggregated" },
      authorization: undefined,
      user: "system:apiserver",
      groups: ["system:authenticated", "system:masters"],
    })),
  );
});

test("an aggregated API server is a conversion webhook", async () => {
  const clientConfig = service(`${reviewPath}/convert`);
  const conversion = { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } };
  await create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definitionOf(conversion));
  const targets = (version: string): string => `/apis/example.com/${version}/namespaces/default/targets`;
  await eventually("served", async () => (await send("GET", targets("v2"))).status === 200);
  await create(targets("v1"), target("v1", "a", { hostPort: "h:80" }));
  assert.deepEqual((await send("GET", `${targets("v2")}/a`)).body.spec, { host: "h", port: 80 });
  const { headers } = backend.requests.findLast(({ body }) => body?.kind === "ConversionReview") as WebhookRequest;
  assert.deepEqual([headers["x-remote-user"], headers.authorization], ["system:apiserver", undefined]);
});

const failures: readonly (readonly [what: string, message: RegExp, answer: WebhookReply])[] = [
  [
    "redirects to another server",
    /the backend attempted to redirect this request, which is not permitted/,
    (response) => void response.writeHead(307, { location: `${backend.url}/elsewhere` }).end(),
  ],
  [
    "asks for credentials",
    /failed to call webhook: the server has asked for the client to provide credentials$/,
    (response) => void response.writeHead(401, { "www-authenticate": "Basic" }).end(),
  ],
  [
    "breaks off",
    /failed to call webhook: the server is currently unable to handle the request$/,
    (response) => void response.destroy(),
  ],
];
for (const [index, [what, message, answer]] of failures.entries())
  test(`the call of an aggregated API server that ${what} fails`, async () => {
    await createWebhook(`hostile${index}`, service(reviewPath));
    reply = (request) => (request.path.startsWith(reviewPath) ? answer : review(request));
    const { body } = await createReviewed(`hostile${index}`, { good: "yes" });
    reply = review;
    assert.equal(body.code, 500);
    assert.match(body.message, message);
  });

test("nothing that the server discloses contains the token", async () => {
  for (const at of (await send("GET", "/")).body.paths as string[]) await send("GET", at);
  for (const at of ["/configz", "/flagz", "/statusz", "/debug/flags/v", "/metrics", "/metrics/slis", "/readyz?verbose"])
    await send("GET", at);
  for (const at of ["secrets", "configmaps", "serviceaccounts", "events"]) await send("GET", `/api/v1/${at}`);
  const [token = "", ...others] = tokens;
  assert.deepEqual([token.length, others], [43, []]);
  const secret = token.toLowerCase();
  assert.ok(backend.requests.every(({ path: requested }) => requested !== "/elsewhere"));
  const received = backend.requests.map((request) => JSON.stringify(request));
  for (const [where, texts] of Object.entries({ disclosed, received, audited: [readFileSync(path, "utf8")] })) {
    assert.ok(texts.length > 0, where);
    for (const text of texts) assert.ok(!text.toLowerCase().includes(secret), `${where}: ${text.slice(0, 1000)}`);
  }
});
