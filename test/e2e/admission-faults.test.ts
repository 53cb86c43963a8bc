/**
 * Webhooks that fail in every way: each request gets its error in bounded time and memory, and
 * other requests continue meanwhile. The messages were recorded from kube-apiserver 1.36.0.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import net, { type AddressInfo } from "node:net";
import { after, test } from "node:test";
import { created, outcome, patchOf, type Reviewed } from "../support/policy-engine.ts";
import { rawClient } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { until } from "../support/until.ts";
import { startWebhookServer, type WebhookReply } from "../support/webhook-server.ts";

type Handler = (review: Reviewed) => WebhookReply | Promise<WebhookReply>;

const { server, client } = await startServerWithClient();
const handlers = new Map<string, Handler>();
const calls: string[] = [];
const webhook = await startWebhookServer(({ path, body }) => {
  const [at = ""] = path.split("?");
  calls.push(at);
  return (handlers.get(at) as Handler)(body);
});
after(() => webhook.close());

/** Accepts connections, and never answers the TLS handshake. */
const silent = net.createServer();
const silentSockets = new Set<net.Socket>();
silent.on("connection", (socket) => void silentSockets.add(socket.on("error", () => {})));
after(() => {
  silent.close();
  for (const socket of silentSockets) socket.destroy();
});
await once(silent.listen(0, "127.0.0.1"), "listening");
const silentUrl = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/`;

const answer = (review: Reviewed, fields: object = {}): object => ({
  apiVersion: review.apiVersion,
  kind: review.kind,
  response: { uid: review.request.uid, allowed: true, ...fields },
});
const configMaps = "/api/v1/namespaces/default/configmaps";
const configurations = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const caBundle = Buffer.from(webhook.ca).toString("base64");

/** Configures webhooks for ConfigMaps with the label `fault: name`, except those of the webhook itself. */
async function configure(name: string, urls: readonly string[], fields: object = {}): Promise<void> {
  const webhooks = urls.map((url, index) => ({
    name: `w${index}.example.com`,
    admissionReviewVersions: ["v1"],
    clientConfig: { url, caBundle },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps"] }],
    objectSelector: { matchLabels: { fault: name } },
    matchConditions: [{ name: "not-itself", expression: "object.data.by != 'webhook'" }],
    sideEffects: "None",
    timeoutSeconds: 30,
    ...fields,
  }));
  await created(client, configurations, { metadata: { name }, webhooks });
  calls.length = 0;
}

const configMap = (name: string, data: object = {}, fault = name) => ({
  metadata: { name, labels: { fault } },
  data: { by: "client", ...data },
});
const create = (name: string, fault = name) =>
  client.send({ method: "POST", path: configMaps, body: configMap(name, {}, fault) });
const update = (name: string, data: object, query = "") =>
  client.send({ method: "PUT", path: `${configMaps}/${name}${query}`, body: configMap(name, data) });
const failing = 'Internal error occurred: failed calling webhook "w0.example.com": failed to call webhook: ';

const respond =
  (code: number, headers: Record<string, string>, text = "") =>
  (response: ServerResponse): void =>
    void response.writeHead(code, headers).end(text);
const nested = (depth: number): string => `${'{"response":'.repeat(depth)}{}${"}".repeat(depth)}`;
const copies = Array.from({ length: 40 }, (_, at) => ({ op: "copy", from: "/data", path: `/data/x${at}` }));

/** What a webhook does, and the end of the error; `$POST` is replaced by the method and the URL. */
const faults: Readonly<Record<string, readonly [Handler, string]>> = {
  "never answers": [() => () => {}, `${failing}$POST: context deadline exceeded`],
  "never ends its answer": [
    () => (response) => void response.write('{"kind":'),
    `${failing}unexpected error when reading response body. Please retry. Original error: context deadline exceeded`,
  ],
  "closes the connection": [() => (response) => void response.socket?.destroy(), `${failing}$POST: EOF`],
  "answers a page": [
    () => respond(502, { "content-type": "text/html" }, "<b>bad gateway</b>"),
    `${failing}an error on the server ("<b>bad gateway</b>") has prevented the request from succeeding`,
  ],
  "answers control characters": [() => "\u0000\u0001", `${failing}yaml: control characters are not allowed`],
  "answers nothing": [() => "", `${failing}0-length response with status code: 200 and content type: application/json`],
  // kube-apiserver: `invalid character '{' exceeded max depth`, from 10,000 levels.
  "answers deeply nested JSON": [
    () => nested(20_000),
    `${failing}couldn't get version/kind; json parse error: exceeded max depth`,
  ],
  "redirects to another scheme": [
    () => respond(307, { location: "ftp://a/b" }),
    `${failing}Post "ftp://a/b": unsupported protocol scheme "ftp"`,
  ],
  "makes the object one of another kind": [
    (review) =>
      answer(
        review,
        patchOf([
          { op: "remove", path: "/data" },
          { op: "replace", path: "/kind", value: "Secret" },
        ]),
      ),
    "converting (v1.Secret) to (core.ConfigMap): unknown conversion",
  ],
  "doubles the object by each operation of its patch": [
    (review) => answer(review, patchOf(copies)),
    "Internal error occurred: Unable to complete the copy, the accumulated size increase of copy is 5505142, exceeding the limit 3145728",
  ],
};

for (const [what, [handler, expected]] of Object.entries(faults)) {
  test(`rejects the request when the webhook ${what}`, async () => {
    const name = what.replaceAll(/\W/g, "-").toLowerCase();
    handlers.set(`/${name}`, handler);
    const timeoutSeconds = expected.includes("deadline exceeded") ? 1 : 30;
    await configure(name, [`${webhook.url}/${name}`], { timeoutSeconds });
    const message = expected.replace("$POST", `Post "${webhook.url}/${name}?timeout=${timeoutSeconds}s"`);
    assert.equal(outcome(await create(name)), `500 ${message}`);
    assert.deepEqual(calls, [`/${name}`]);
  });
}

test("rejects the request when the webhook hangs in the TLS handshake", async () => {
  await configure("handshake", [silentUrl], { timeoutSeconds: 1 });
  const expected = `500 ${failing}Post "${silentUrl}?timeout=1s": context deadline exceeded`;
  assert.equal(outcome(await create("handshake")), expected);
});

test("stops reading an answer of 100 MB", async () => {
  let sent = 0;
  let closed = Promise.resolve<unknown>(undefined);
  const piece = Buffer.alloc(1 << 20, " ");
  const send = (response: ServerResponse): void => {
    while (sent++ < 100) if (!response.write(piece)) return void response.once("drain", () => send(response));
    response.end("{}");
  };
  handlers.set("/large", () => (response) => {
    closed = once(response, "close");
    send(response.writeHead(200, { "content-type": "application/json" }));
  });
  await configure("large", [`${webhook.url}/large`]);
  const rejected = outcome(await create("large"));
  await closed;
  assert.equal(rejected, `500 ${failing}the response of the webhook is larger than 8388608 bytes`);
  assert.ok(sent < 30, String(sent));
});

test("calls webhooks that change the object at each call twice", async () => {
  const grow: Handler = (review) => {
    const { grown = "" } = review.request.object.data;
    return answer(review, patchOf([{ op: "add", path: "/data/grown", value: `${grown}x` }]));
  };
  const paths = ["/grow-a", "/grow-b"];
  for (const path of paths) handlers.set(path, grow);
  await configure(
    "grows",
    paths.map((path) => webhook.url + path),
    { reinvocationPolicy: "IfNeeded" },
  );
  const { status, body } = await create("grows");
  assert.deepEqual([status, body.data.grown, calls], [201, "xxxx", [...paths, ...paths]]);
});

test("serves other requests while many wait for a webhook, and those when it answers", async () => {
  const waiting: (() => void)[] = [];
  handlers.set("/waits", (review) => new Promise((resolve) => waiting.push(() => resolve(answer(review)))));
  await configure("waits", [`${webhook.url}/waits`]);
  let answered = 0;
  const slow = Array.from({ length: 100 }, async (_, at) => {
    const { status } = await create(`waits-${at}`, "waits");
    answered++;
    return status;
  });
  await until(() => calls.length >= 50);
  const others = await Promise.all(Array.from({ length: 20 }, (_, at) => create(`other-${at}`, "none")));
  assert.deepEqual([new Set(others.map(({ status }) => status)), answered], [new Set([201]), 0]);
  handlers.set("/waits", (review) => answer(review));
  for (const go of waiting) go();
  assert.deepEqual(new Set(await Promise.all(slow)), new Set([201]));
});

/** A webhook that changes the object while an update of it is reviewed. */
function writer(name: string, writesMax: number): Handler {
  let count = 0;
  return async (review) => {
    if (review.request.operation === "UPDATE" && count < writesMax)
      assert.equal((await update(name, { by: "webhook", count: String(count++) })).status, 200);
    return answer(review);
  };
}

test("asks again when the webhook writes to the object, and reports a conflict of the client's version", async () => {
  handlers.set("/writes", writer("writes", 3));
  await configure("writes", [`${webhook.url}/writes`]);
  const { metadata } = (await create("writes")).body;
  const body = { ...configMap("writes", { first: "client" }), metadata };
  const conflict = await client.send({ method: "PUT", path: `${configMaps}/writes`, body });
  assert.equal(conflict.status, 409, conflict.text);
  assert.deepEqual(calls.splice(0), ["/writes", "/writes", "/writes"]);
  const updated = await update("writes", { last: "client" });
  assert.deepEqual([updated.status, updated.body.data], [200, { by: "client", last: "client" }]);
  assert.deepEqual(calls.splice(0), ["/writes", "/writes"]);
});

test("ends an update during which the webhook always writes to the object when its time is over", async () => {
  handlers.set("/always", writer("always", Number.POSITIVE_INFINITY));
  await configure("always", [`${webhook.url}/always`]);
  await create("always");
  const { status, text } = await update("always", { last: "client" }, "?timeout=1s");
  assert.equal(status, 504);
  // The write ends by itself, or, when the process is busy, by the filter that limits requests.
  const limits = /requested timeout - context deadline exceeded|the allotted timeout/;
  assert.match(text, new RegExp(`"message":"Timeout: request did not complete within (?:${limits.source})"`));
  assert.ok(calls.length > 2);
});

test("answers a request whose time ends while a webhook hangs as upstream does: as text, whatever it accepts", async () => {
  handlers.set("/late", () => () => {});
  await configure("late", [`${webhook.url}/late`]);
  const accepts = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
  const answers = await Promise.all(
    accepts.map((accept) =>
      client.send({
        method: "POST",
        path: `${configMaps}?timeout=100ms`,
        headers: { accept },
        body: configMap("late"),
      }),
    ),
  );
  for (const { status, headers, text } of answers) {
    assert.deepEqual([status, headers["content-type"]], [504, "text/plain; charset=utf-8"]);
    assert.equal(
      text,
      '{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504}\n',
    );
  }
  calls.length = 0;
});

test("cancels the call of a webhook when the client disconnects", async () => {
  const closed = Promise.withResolvers<void>();
  handlers.set("/hangs", () => (response) => void response.once("close", closed.resolve));
  await configure("hangs", [`${webhook.url}/hangs`]);
  const leaving = rawClient(server.kubeconfig);
  const request = leaving.send({ method: "POST", path: configMaps, body: configMap("hangs") });
  await until(() => calls.length > 0);
  leaving.close();
  await assert.rejects(request);
  await closed.promise;
  assert.equal((await client.send({ path: `${configMaps}/hangs` })).status, 404);
});
