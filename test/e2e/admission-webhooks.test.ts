/**
 * Admission webhooks over TLS: their effect, and what happens when they fail. No failure delays or
 * rejects requests that the webhook does not see.
 */
import assert from "node:assert/strict";
import net, { type AddressInfo } from "node:net";
import { after, test } from "node:test";
import { createAuthority, issueCertificate } from "../../src/server/serving/x509.ts";
import type { Answer } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { startWebhookServer, type WebhookReply, type WebhookRequest } from "../support/webhook-server.ts";

const { client, server } = await startServerWithClient();

/** What the webhook server does, by path. */
const handlers = new Map<string, (request: WebhookRequest) => WebhookReply | Promise<WebhookReply>>();
const hooks = await startWebhookServer(({ path, ...rest }) => {
  const handler = handlers.get(path.split("?")[0] as string);
  assert.ok(handler, path);
  return handler({ path, ...rest });
});
after(() => hooks.close());

const group = "/apis/admissionregistration.k8s.io/v1";
const configMaps = "/api/v1/namespaces/default/configmaps";

const send = (line: string, body?: object): Promise<Answer> => {
  const [method = "", path = ""] = line.split(" ");
  const patch = { "content-type": "application/merge-patch+json" };
  return client.send({ method, path, ...(body && { body }), ...(method === "PATCH" && { headers: patch }) });
};

interface HookOptions {
  readonly kind?: "mutating" | "validating";
  readonly url?: string;
  /** The name prefix of the ConfigMaps that the webhook sees. */
  readonly selects: string;
  readonly fields?: object;
}

/** Creates a configuration with one webhook. @returns deletes it */
async function register(
  name: string,
  { kind = "validating", url, selects, fields }: HookOptions,
): Promise<() => Promise<Answer>> {
  const webhook = {
    name: `${name}.example.com`,
    clientConfig: { url: url ?? `${hooks.url}/${name}`, caBundle: Buffer.from(hooks.ca).toString("base64") },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["*"] }],
    objectSelector: { matchLabels: { hook: selects } },
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    ...fields,
  };
  const collection = `${group}/${kind}webhookconfigurations`;
  const created = await send(`POST ${collection}`, { metadata: { name }, webhooks: [webhook] });
  assert.equal(created.status, 201, created.text);
  return () => send(`DELETE ${collection}/${name}`);
}

const answer = ({ body }: WebhookRequest, response: object = {}): object => ({
  apiVersion: body.apiVersion,
  kind: body.kind,
  response: { uid: body.request.uid, allowed: true, ...response },
});
const patchOf = (operations: readonly object[]): object => ({
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
  patchType: "JSONPatch",
});
const create = (name: string, hook: string, rest: object = {}): Promise<Answer> =>
  send(`POST ${configMaps}`, { metadata: { name, labels: { hook } }, ...rest });

test("a configuration applies to the next request, and no more after its deletion", async () => {
  handlers.set("/denies", (request) => answer(request, { allowed: false, status: { code: 418, message: "no tea" } }));
  assert.equal((await create("before", "denies")).status, 201);
  const remove = await register("denies", { selects: "denies" });
  const denied = await create("during", "denies");
  assert.deepEqual(
    [denied.status, denied.body.message],
    [418, 'admission webhook "denies.example.com" denied the request: no tea'],
  );
  await remove();
  assert.equal((await create("during", "denies")).status, 201);
});

test("a mutating webhook changes the object before a validating one sees it, and adds warnings", async () => {
  handlers.set("/changes", (request) =>
    answer(request, { ...patchOf([{ op: "add", path: "/data", value: { a: "1" } }]), warnings: ["changed"] }),
  );
  handlers.set("/checks", (request) => answer(request, { allowed: request.body.request.object.data?.a === "1" }));
  const remove = [
    await register("changes", { kind: "mutating", selects: "changes" }),
    await register("checks", { selects: "changes" }),
  ];
  const created = await create("changed", "changes");
  assert.deepEqual([created.status, created.body.data], [201, { a: "1" }], created.text);
  assert.equal(created.headers.warning, '299 - "changed"');
  for (const one of remove) await one();
});

test("match conditions select requests", async () => {
  let calls = 0;
  handlers.set("/conditional", (request) => {
    calls++;
    return answer(request);
  });
  const expressions = {
    data: "has(object.data)",
    rights: 'authorizer.group("").resource("secrets").check("get").allowed()',
  };
  const matchConditions = Object.entries(expressions).map(([name, expression]) => ({ name, expression }));
  const remove = await register("conditional", { selects: "conditional", fields: { matchConditions } });
  assert.equal((await create("without", "conditional")).status, 201);
  assert.equal(calls, 0);
  assert.equal((await create("with", "conditional", { data: { a: "1" } })).status, 201);
  assert.equal(calls, 1);
  await remove();
});

test("calls reuse connections", async () => {
  handlers.set("/reused", (request) => answer(request));
  const remove = await register("reused", { selects: "reused" });
  await create("reused-first", "reused");
  const before = hooks.connections();
  for (let count = 0; count < 20; count++) assert.equal((await create(`reused-${count}`, "reused")).status, 201);
  assert.equal(hooks.connections(), before);
  await remove();
});

test("webhooks do not see configurations of admission", async () => {
  handlers.set("/everything", () => ({}));
  const rules = [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["*"] }];
  const remove = await register("everything", { selects: "x", fields: { rules, objectSelector: {} } });
  assert.equal((await create("hidden", "nothing")).status, 500);
  assert.equal((await remove()).status, 200);
});

test("a webhook that writes to the object of an update is called again for the new state", async () => {
  let calls = 0;
  handlers.set("/writes", async (request) => {
    if (calls++ < 3)
      await send(`PATCH ${configMaps}/raced`, { metadata: { labels: { hook: null } }, data: { n: `${calls}` } });
    return answer(request);
  });
  await create("raced", "writes");
  const operations = ["UPDATE"];
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations }];
  const fields = { rules, objectSelector: { matchLabels: { outer: "yes" } } };
  const remove = await register("writes", { selects: "writes", fields });
  const patched = await send(`PATCH ${configMaps}/raced`, { metadata: { labels: { outer: "yes" } } });
  assert.equal(patched.status, 200, patched.text);
  assert.ok(calls > 1, `${calls} calls`);
  await remove();
});

const silent = net.createServer((socket) => void socket.resume()); // Never answers a handshake.
await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
after(() => silent.close());
const closed = net.createServer();
await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
const closedPort = (closed.address() as AddressInfo).port;
await new Promise((resolve) => closed.close(resolve));

const raw =
  (status: number, body: string, headers: Record<string, string> = {}): (() => WebhookReply) =>
  () =>
  (response) =>
    void response.writeHead(status, headers).end(body);

const hundredMegabytes = 100 << 20;
const piece = Buffer.alloc(1 << 20, "x");

interface Fault {
  readonly what: string;
  readonly url?: string;
  readonly reply?: (request: WebhookRequest) => WebhookReply;
  readonly kind?: "mutating";
  readonly message: RegExp;
  /** Failures of patches reject the request whatever the failure policy is. */
  readonly isFinal?: boolean;
}

const faults: readonly Fault[] = [
  { what: "is down", url: `https://127.0.0.1:${closedPort}/`, message: /connect: connection refused$/ },
  {
    what: "hangs in the handshake",
    url: `https://127.0.0.1:${(silent.address() as AddressInfo).port}/`,
    message: /context deadline exceeded/,
  },
  { what: "does not answer", reply: () => () => {}, message: /context deadline exceeded$/ },
  {
    what: "redirects to another scheme",
    reply: raw(302, "", { location: "ftp://a/b" }),
    message: /Post "ftp:\/\/a\/b": unsupported protocol scheme "ftp"$/,
  },
  {
    what: "fails",
    reply: raw(500, "oops", { "content-type": "text/plain" }),
    message: /an error on the server \("oops"\)/,
  },
  { what: "sends garbage", reply: raw(200, "{nope"), message: /couldn't get version\/kind; json parse error/ },
  {
    what: "sends 100 MiB",
    reply: () => (response) => {
      response.writeHead(200, { "content-length": String(hundredMegabytes) });
      const write = (left: number): void => {
        if (left > 0 && !response.destroyed) response.write(piece, () => write(left - piece.length));
      };
      write(hundredMegabytes);
    },
    message: /the response of the webhook is larger than 8388608 bytes$/,
  },
  {
    what: "answers another request",
    reply: () => ({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid: "x" } }),
    message: /received invalid webhook response: expected response\.uid=/,
  },
  {
    what: "sends a patch that is no patch",
    kind: "mutating",
    reply: (request) => answer(request, { patch: Buffer.from("{}").toString("base64"), patchType: "JSONPatch" }),
    message:
      /received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch\.Patch$/,
  },
  {
    what: "sends a patch that does not apply",
    kind: "mutating",
    isFinal: true,
    reply: (request) => answer(request, patchOf([{ op: "remove", path: "/data/none" }])),
    message:
      /^Internal error occurred: remove operation does not apply: doc is missing path: "\/data\/none": missing value$/,
  },
  {
    what: "makes the object invalid",
    kind: "mutating",
    isFinal: true,
    reply: (request) => answer(request, patchOf([{ op: "add", path: "/data", value: 5 }])),
    message:
      /^Internal error occurred: json: cannot unmarshal number into Go struct field ConfigMap\.data of type map\[string\]string$/,
  },
];

for (const [index, { what, url, reply, kind, message, isFinal = false }] of faults.entries()) {
  test(`a webhook that ${what} fails as upstream's, or is ignored`, async () => {
    const name = `fault-${index}`;
    if (reply !== undefined) handlers.set(`/${name}`, reply);
    const options = { selects: name, ...(url !== undefined && { url }), ...(kind !== undefined && { kind }) };
    const remove = await register(name, { ...options, fields: { timeoutSeconds: 1 } });
    const failing = create(name, name);
    const others = await Promise.all(Array.from({ length: 20 }, () => send(`GET ${configMaps}/before`)));
    assert.deepEqual([...new Set(others.map(({ status }) => status))], [200]);
    const failed = await failing;
    assert.deepEqual([failed.status, failed.body.reason], [500, "InternalError"], failed.text);
    assert.match(failed.body.message, message);
    await remove();
    const removeIgnored = await register(name, { ...options, fields: { timeoutSeconds: 1, failurePolicy: "Ignore" } });
    assert.equal((await create(name, name)).status, isFinal ? 500 : 201);
    await removeIgnored();
  });
}

test("metrics count calls, rejections and ignored failures", async () => {
  const { text } = await client.send({ path: "/metrics" });
  for (const line of [
    'apiserver_admission_webhook_request_total{name="denies.example.com",type="validating",operation="CREATE",code="418",rejected="true"} 1',
    'apiserver_admission_webhook_rejection_count{name="fault-0.example.com",type="validating",operation="CREATE",error_type="calling_webhook_error",rejection_code="503"} 1',
    'apiserver_admission_webhook_fail_open_count{name="fault-0.example.com",type="validating"} 1',
    'apiserver_admission_match_condition_exclusions_total{name="conditional.example.com",kind="webhook",type="validate",operation="CREATE"} 1',
  ])
    assert.ok(text.includes(`${line}\n`), line);
  assert.equal((await client.send({ path: "/readyz" })).status, 200, server.url);
});

test("requests to a webhook whose certificate has only a common name are counted", async () => {
  const life = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 3_600_000 };
  const authority = await createAuthority({ subject: { commonName: "old" }, ...life });
  const subject = { commonName: "localhost" };
  const pair = await issueCertificate(authority, { subject, usage: "server", names: [], ...life });
  const old = await startWebhookServer(() => assert.fail(), { tls: pair });
  const caBundle = Buffer.from(authority.cert).toString("base64");
  const url = `https://localhost:${old.port}/old`;
  const unregister = await register("old", { selects: "old", fields: { clientConfig: { url, caBundle } } });
  const counted = async (): Promise<(number | undefined)[]> => {
    const { text } = await client.send({ path: "/metrics" });
    return ["missing_san", "insecure_sha1"].map((name) =>
      Number(new RegExp(`^apiserver_webhooks_x509_${name}_total (\\d+)$`, "m").exec(text)?.[1]),
    );
  };
  assert.deepEqual(await counted(), [0, 0]);
  for (const name of ["old-1", "old-2"]) {
    const { status, text } = await create(name, "old");
    assert.equal(status, 500);
    assert.match(text, /certificate relies on legacy Common Name field, use SANs instead/);
  }
  assert.deepEqual(await counted(), [2, 0]);
  await unregister();
  await old.close();
});
