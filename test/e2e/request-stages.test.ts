/**
 * An unexpected error ends its own request only. For each kind of request, a throw at each stage that
 * the request passes (apimachinery/request-stages.ts):
 *
 * - the request ends: with 500 if nothing was sent, or a broken connection;
 * - the error is logged once, with the method, the path and the stack, and is counted;
 * - the next request is served.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http2 from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { defaultAuditOptions } from "../../src/audit/options.ts";
import type { RequestExtension } from "../../src/http/contract.ts";
import { defaultOptions } from "../../src/index.ts";
import { type RequestStage, requestStages } from "../../src/request/stages.ts";
import { Closers } from "../../src/server/closers.ts";
import { openServer } from "../../src/server/server.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { startFakeKubelet } from "../support/fake-kubelet.ts";
import { credentialsOf } from "../support/kubeconfig-fields.ts";
import { kubeletOptions } from "../support/kubelet-options.ts";
import { createObjects } from "../support/kubelet-table.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { rawSocket } from "../support/raw-socket.ts";
import { quietControllers } from "../support/start-test-server.ts";
import { startWebhookServer, type WebhookServer } from "../support/webhook-server.ts";

/** What is thrown, and where. */
interface Fault {
  readonly stage: RequestStage;
  /** 1: when the request enters the stage for the first time. */
  readonly occurrence: number;
}

/** How a request ended. */
type End = number | "broken";

const opened = new Closers();
const logged: { readonly message: string; readonly values: Readonly<Record<string, unknown>> }[] = [];
/** The value of the header `x-staged` of the current request. */
let current = 0;
/** The stages of the current request, in order. */
let entered: RequestStage[] = [];
let fault: Fault | undefined;
let server: { readonly url: string; readonly kubeconfig: string };
let client: RawClient;
let session: http2.ClientHttp2Session | undefined;

const extension: RequestExtension = {
  ready: () => undefined,
  probe: () => undefined,
  changed() {},
  decide: () => ({ isCurrent: () => true, check() {} }),
  stopping() {},
  routes: [],
  entered(exchange, stage) {
    if (exchange.header("x-staged") !== String(current)) return;
    entered.push(stage);
    const count = entered.filter((one) => one === stage).length;
    if (fault?.stage === stage && fault.occurrence === count) throw new Error(`thrown at the stage ${stage}`);
  },
};

const record = (message: string, values: Readonly<Record<string, unknown>> = {}): void =>
  void logged.push({ message, values });

before(async () => {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-stages-"));
  opened.add(() => rmSync(directory, { recursive: true }));
  const kubelet = await startFakeKubelet();
  opened.add(() => kubelet.close());
  const policyFile = join(directory, "policy.yaml");
  writeFileSync(policyFile, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n");
  const auditor = await startWebhookServer(() => ({}));
  opened.add(() => auditor.close());
  const configFile = join(directory, "audit.kubeconfig");
  writeFileSync(configFile, auditConfiguration(auditor));
  // Responses wait until the webhook has recorded them.
  const webhook = { ...defaultAuditOptions.webhook, configFile, mode: "blocking" } as const;
  const { running } = await openServer(
    {
      ...defaultOptions,
      ...kubeletOptions(kubelet, directory),
      controllers: quietControllers,
      admission: { ...defaultOptions.admission, disable: ["ServiceAccount"] },
      audit: { ...defaultAuditOptions, policyFile, webhook },
      logger: { info() {}, warn() {}, error: record },
    },
    { requests: extension },
  );
  opened.add(() => running.close());
  server = running;
  client = rawClient(running.kubeconfig);
  opened.add(() => client.close());
  opened.add(() => session?.destroy());
  await createObjects(
    (line, body, contentType) => {
      const [method = "", path = ""] = line.split(" ");
      return client.send({ method, path, body, headers: { "content-type": contentType } });
    },
    { host: "127.0.0.1", port: kubelet.port },
  );
  for (let at = 0; at < 3; at++) {
    const data = { text: "x".repeat(200_000) };
    await client.send({ method: "POST", path: maps, body: { metadata: { name: `large-${at}` }, data } });
  }
});
after(() => opened.close());

const auditConfiguration = ({ url, ca }: WebhookServer): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: "a", cluster: { server: url, "certificate-authority-data": Buffer.from(ca).toString("base64") } },
    ],
    users: [{ name: "a", user: {} }],
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    "current-context": "a",
  });

const maps = "/api/v1/namespaces/default/configmaps";
const pods = "/api/v1/namespaces/default/pods";
let names = 0;

function connect(): http2.ClientHttp2Session {
  const opening = http2.connect(server.url, credentialsOf(server.kubeconfig));
  opening.on("error", () => {}); // Its streams report it.
  return opening;
}

/** Sends a request over HTTP/2, and waits for its end. */
async function send(line: string, body?: object, headers: http2.OutgoingHttpHeaders = {}): Promise<End> {
  const [method = "", path = ""] = line.split(" ");
  if (session === undefined || session.closed) session = connect();
  const stream = session.request(
    { ":method": method, ":path": path, "x-staged": String(current), ...headers },
    { endStream: body === undefined },
  );
  let status: End = "broken";
  stream.on("response", ({ ":status": answered }) => {
    status = Number(answered);
  });
  stream.on("error", () => {}); // The code of the reset says it.
  stream.resume();
  if (body !== undefined) stream.end(JSON.stringify(body));
  await new Promise<void>((resolve) => stream.once("close", resolve));
  return stream.rstCode === 0 ? status : "broken";
}

/** Watches until a change and the end of the watch. */
async function watch(): Promise<End> {
  const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const path = `${maps}?${query}&timeoutSeconds=1`;
  const ended = send(`GET ${path}`);
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  await eventually(() => isOver || entered.includes("watch progress"));
  await client.send({ method: "POST", path: maps, body: { metadata: { name: `watched-${names++}` } } });
  const end = await ended;
  return end;
}

/** Runs a command, which repeats what it receives, over a WebSocket. */
async function exec(): Promise<End> {
  const path = `${pods}/one/exec?stdin=true&stdout=true&command=cat`;
  const url = `${server.url.replace("https", "wss")}${path}`;
  const headers = { "x-staged": String(current) };
  const socket = new WebSocket(url, "v5.channel.k8s.io", { ...credentialsOf(server.kubeconfig), headers });
  socket.on("error", () => {}); // A close follows.
  socket.on("open", () => {
    socket.send(Buffer.from("\0hello"));
    socket.send(Buffer.from([255, 0])); // The end of its input.
  });
  return new Promise((resolve) => {
    let status: End = "broken";
    socket.on("upgrade", () => {
      status = 101;
    });
    socket.on("unexpected-response", (request, response) => {
      request.destroy();
      resolve(response.statusCode ?? "broken");
    });
    socket.once("close", () => resolve(status));
  });
}

/** Requests another protocol, which the kubelet serves itself. */
async function upgrade(): Promise<End> {
  const socket = await rawSocket(server.kubeconfig);
  socket.socket.write(
    `POST ${pods}/one/portforward HTTP/1.1\r\nHost: x\r\nX-Staged: ${current}\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n` +
      "X-Stream-Protocol-Version: portforward.k8s.io\r\nContent-Length: 0\r\n\r\n",
  );
  const text = await socket.until(/\r\n\r\n/);
  socket.socket.destroy();
  const status = Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? 0);
  return status === 0 ? "broken" : status;
}

const manifest = (name: string): object => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
const applyType = { "content-type": "application/apply-patch+yaml" };

/** Each has the status of its success. */
const requests: Readonly<Record<string, readonly [number, () => Promise<End>]>> = {
  get: [200, () => send(`GET ${maps}/large-0`)],
  "get of nothing": [404, () => send(`GET ${maps}/none`)],
  list: [200, () => send(`GET ${maps}`)],
  "list, compressed": [200, () => send(`GET ${maps}`, undefined, { "accept-encoding": "gzip" })],
  "get, compressed": [200, () => send(`GET ${maps}/large-0`, undefined, { "accept-encoding": "gzip" })],
  watch: [200, watch],
  create: [201, () => send(`POST ${maps}`, manifest(`created-${names++}`))],
  apply: [
    201,
    () => send(`PATCH ${maps}/applied-${names++}?fieldManager=me`, manifest(`applied-${names - 1}`), applyType),
  ],
  log: [200, () => send(`GET ${pods}/one/log`)],
  exec: [101, exec],
  proxy: [200, () => send("GET /api/v1/nodes/worker/proxy/containerLogs/default/one/main")],
  upgrade: [101, upgrade],
};

const failures = (): { readonly message: string; readonly values: Readonly<Record<string, unknown>> }[] =>
  logged.filter(({ message }) => message !== "The store failed");

async function countedErrors(): Promise<number> {
  const { text } = await client.send({ path: "/metrics" });
  return Number(/^coxswain_unexpected_errors_total\{part="request"\} (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
}

const reached = new Set<RequestStage>();

for (const [name, [success, run]] of Object.entries(requests)) {
  test(`a throw at any stage of a ${name} request ends that request alone`, async (t) => {
    begin(undefined);
    assert.equal(await run(), success);
    await eventually(() => entered.includes("close") && entered.includes("returned"));
    const stages = [...entered];
    const countedBefore = await countedErrors();
    let faults = 0;
    for (const stage of new Set(stages)) {
      reached.add(stage);
      const count = stage === "filter" ? stages.filter((one) => one === stage).length : 1;
      for (let occurrence = 1; occurrence <= count; occurrence++, faults++)
        await t.test(`${stage} ${occurrence}`, () => checkFault({ stage, occurrence }, run, success));
    }
    begin(undefined);
    assert.equal(await countedErrors(), countedBefore + faults);
  });
}

/** The next request is another one than those before it, which may still be open. */
function begin(thrown: Fault | undefined): void {
  current++;
  entered = [];
  logged.length = 0;
  fault = thrown;
}

async function checkFault(thrown: Fault, run: () => Promise<End>, success: number): Promise<void> {
  begin(thrown);
  const end = await run();
  if (thrown.stage === "close") assert.equal(end, success);
  else if (thrown.stage !== "returned")
    assert.ok(end === 500 || end === "broken" || (end === 101 && success === 101), `it ended with ${end}`);
  await eventually(() => failures().length > 0);
  const [failure, ...more] = failures();
  assert.deepEqual(more, []);
  assert.equal(failure?.message, "Request failed");
  assert.match(String(failure?.values.method), /^(GET|POST|PATCH)$/);
  if (thrown.stage !== "parse") assert.match(String(failure?.values.path), /^\/api\/v1\//);
  assert.match(String(failure?.values.error), new RegExp(`thrown at the stage ${thrown.stage}\\n +at `));
  assert.equal((await client.send({ path: "/version" })).status, 200);
}

test("all stages are covered", () => {
  assert.deepEqual(
    requestStages.filter((stage) => !reached.has(stage)),
    [],
  );
});
