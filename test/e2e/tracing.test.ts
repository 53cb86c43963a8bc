/** Spans of requests, as a collector receives them. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type RawClient, type RawRequest, rawClient } from "../support/raw-client.ts";
import { startTestServer } from "../support/start-test-server.ts";
import { type CollectedSpan, startTraceCollector, type TraceCollector } from "../support/trace-collector.ts";
import { startWebhookServer, type WebhookServer } from "../support/webhook-server.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const directory = mkdtempSync(join(tmpdir(), "coxswain-tracing-"));

let collector: TraceCollector;
let webhook: WebhookServer;
/** The ids of the traces, by the row of a request. */
const traces = new Map<string, string>();

/** Requests whose trace is continued, and the names of their spans, each below the one before it. */
const rows: readonly (RawRequest & { readonly what: string; readonly chain: readonly string[] })[] = [
  {
    what: "create",
    method: "POST",
    path: maps,
    body: { metadata: { name: "traced" }, data: { a: "b" } },
    chain: [`POST ${maps.replace("default", "{:namespace}")}`, ...filters(), "Create", "Create memory"],
  },
  { what: "get", path: `${maps}/traced`, chain: [...filters(), "Get", "cacher.Get"] },
  {
    what: "list",
    path: maps,
    chain: [`GET ${maps.replace("default", "{:namespace}")}`, ...filters(), "List", "cacher.GetList"],
  },
  {
    what: "update",
    method: "PUT",
    path: `${maps}/traced`,
    body: { metadata: { name: "traced" }, data: { a: "c" } },
    chain: [...filters(), "Update", "GuaranteedUpdate memory"],
  },
  {
    what: "patch",
    method: "PATCH",
    path: `${maps}/traced`,
    headers: { "content-type": "application/merge-patch+json" },
    body: { data: { a: "d" } },
    chain: [...filters(), "Patch", "GuaranteedUpdate memory"],
  },
  {
    what: "webhook",
    method: "POST",
    path: "/api/v1/namespaces/default/secrets",
    body: { metadata: { name: "hooked" } },
    chain: [...filters(), "Create", "Call validating webhook", "HTTP POST"],
  },
  { what: "missing", path: `${maps}/none`, chain: [...filters(), "Get", "SerializeObject"] },
  { what: "delete", method: "DELETE", path: `${maps}/traced`, chain: [...filters(), "Delete", "SerializeObject"] },
  { what: "other path", path: "/version", chain: ["GET", ...filters()] },
];

function filters(): readonly string[] {
  return ["constrainedimpersonation", "priorityandfairness", "authorization"];
}

const idOf = (number: number): string => String(number).padStart(32, "1");
const parent = "00f067aa0ba902b7";

before(async () => {
  collector = await startTraceCollector();
  webhook = await startWebhookServer(({ body }) => ({
    ...body,
    response: { uid: body.request.uid, allowed: true },
  }));
  const tracingConfigFile = join(directory, "tracing.yaml");
  writeFileSync(
    tracingConfigFile,
    `apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: ${collector.endpoint}\n`,
  );
  const server = await startTestServer({ tracingConfigFile });
  const client = rawClient(server.kubeconfig);
  const reader = rawClient((await server.as("reader")).kubeconfig);
  await configureWebhook(client);
  for (const [index, { what, chain: _chain, ...request }] of rows.entries()) await send(client, what, index, request);
  await send(reader, "without rights", 100, { path: maps });
  await send(client, "unauthenticated", 101, { path: "/healthz", anonymous: true });
  await client.send({ path: `${maps}/traced`, headers: { traceparent: `00-${idOf(102)}-${parent}-00` } });
  await client.send({ path: `${maps}/traced`, headers: hostile });
  client.close();
  reader.close();
  await server.close(); // Sends the spans that wait.
});
after(() => {
  collector.close();
  webhook.close();
  rmSync(directory, { recursive: true });
});

async function send(client: RawClient, what: string, id: number, request: RawRequest): Promise<void> {
  traces.set(what, idOf(id));
  const context = { traceparent: `00-${idOf(id)}-${parent}-01`, tracestate: "vendor=1", baggage: "user=1" };
  await client.send({ ...request, headers: { ...request.headers, ...context } });
}

const hostile = {
  traceparent: `00-${"g".repeat(32)}-${parent}-01`,
  tracestate: `${"a=b,".repeat(2000)}`,
  baggage: `${"k=v,".repeat(2000)}`,
};

async function configureWebhook(client: RawClient): Promise<void> {
  const { status } = await client.send({
    method: "POST",
    path: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    body: {
      metadata: { name: "traced" },
      webhooks: [
        {
          name: "traced.example.com",
          rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] }],
          clientConfig: { url: webhook.url, caBundle: Buffer.from(webhook.ca).toString("base64") },
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
        },
      ],
    },
  });
  assert.equal(status, 201);
}

const spansOf = (what: string): CollectedSpan[] =>
  collector.spans.filter(({ traceId }) => traceId === traces.get(what));

for (const { what, chain } of rows)
  test(`${what}: the spans are within each other`, () => {
    const spans = spansOf(what);
    let above: CollectedSpan | undefined;
    for (const name of chain) {
      const found = spans.find((span) => span.name === name);
      assert.ok(found, `${name} is not among ${spans.map((span) => span.name).join(", ")}`);
      if (above !== undefined) assert.equal(found.parentId, above.spanId, `${name} is in ${above.name}`);
      above = found;
    }
  });

test("the span of a request continues the trace of a privileged client", () => {
  const [first] = spansOf("create").filter(({ name }) => name.startsWith("POST /api"));
  assert.equal(first?.parentId, parent);
  const { attributes = {} } = first ?? {};
  assert.equal(attributes["http.request.method"], "POST");
  assert.equal(attributes["url.path"], maps);
  assert.equal(attributes["http.response.status_code"], 201);
  assert.ok(attributes["audit-id"]);
  assert.equal(collector.resource["service.name"], "apiserver");
  assert.match(String(collector.resource["service.instance.id"]), /^apiserver-/);
});

test("the span of a verb has the events of kube-apiserver", () => {
  const eventsOf = (what: string, name: string) => spansOf(what).find((span) => span.name === name)?.events;
  assert.deepEqual(eventsOf("create", "Create"), [
    "limitedReadBody succeeded",
    "About to convert to expected version",
    "Conversion done",
    "About to store object in database",
    "Write to database call succeeded",
    "About to write a response",
    "Writing http response done",
  ]);
  assert.deepEqual(eventsOf("create", "SerializeObject"), ["About to start writing response", "Write call succeeded"]);
  assert.deepEqual(eventsOf("update", "GuaranteedUpdate memory"), [
    "initial value restored",
    "About to Encode",
    "Encode succeeded",
    "TransformToStorage succeeded",
    "Transaction prepared",
    "Txn call completed",
    "Transaction committed",
    "decode succeeded",
  ]);
  const storage = spansOf("create").find(({ name }) => name === "Create memory");
  assert.equal(storage?.attributes.key, "/configmaps/default/traced");
  assert.equal(storage?.attributes.type, "*core.ConfigMap");
});

test("a webhook receives the context of its call", () => {
  const call = spansOf("webhook").find(({ name }) => name === "HTTP POST");
  const headers = webhook.requests[0]?.headers;
  assert.equal(headers?.traceparent, `00-${traces.get("webhook")}-${call?.spanId}-01`);
  assert.equal(headers?.tracestate, "vendor=1");
  assert.equal(headers?.baggage, "user=1");
});

test("other users cannot request spans, and neither can malformed headers", () => {
  for (const what of ["without rights", "unauthenticated"]) assert.deepEqual(spansOf(what), []);
  const known = new Set(rows.map(({ what }) => traces.get(what)));
  assert.deepEqual(
    collector.spans.filter(({ traceId }) => !known.has(traceId)).map(({ name }) => name),
    [],
  );
});
