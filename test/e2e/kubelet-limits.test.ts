/** Time limits of the streams of pods, with a clock that the tests advance, and their audit. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { defaultAuditOptions } from "../../src/audit/options.ts";
import { Closers } from "../../src/server/closers.ts";
import { type FakeKubelet, startFakeKubelet } from "../support/fake-kubelet.ts";
import { credentialsOf } from "../support/kubeconfig-fields.ts";
import { kubeletOptions } from "../support/kubelet-options.ts";
import { createObjects } from "../support/kubelet-table.ts";
import { type ManualClock, manualClock } from "../support/manual-clock.ts";
import { rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { eventually, untilSteady } from "../support/until.ts";

const seconds = 1000;
const hours = 3600 * seconds;
const directory = mkdtempSync(join(tmpdir(), "coxswain-kubelet-limits-"));
const auditLog = join(directory, "audit.log");
/** Also those of a `before` that fails halfway: what stays open keeps the test from ending. */
const opened = new Closers();
let clock: ManualClock;
let kubelet: FakeKubelet;
let server: TestServer;

before(async () => {
  clock = manualClock(Date.now());
  kubelet = await startFakeKubelet();
  opened.add(() => kubelet.close());
  const policyFile = join(directory, "policy.yaml");
  writeFileSync(policyFile, "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}");
  server = await startTestServer({
    ...kubeletOptions(kubelet, directory),
    clock,
    admission: { enable: [], disable: ["ServiceAccount"] },
    audit: { ...defaultAuditOptions, policyFile, log: { ...defaultAuditOptions.log, path: auditLog } },
  });
  opened.add(() => server.close());
  const client = rawClient(server.kubeconfig);
  opened.add(() => client.close());
  await createObjects(
    (line, body, contentType) => {
      const [method = "", path = ""] = line.split(" ");
      return client.send({ method, path, body, headers: { "content-type": contentType } });
    },
    { host: "127.0.0.1", port: kubelet.port },
  );
});
after(async () => {
  await opened.close();
  rmSync(directory, { recursive: true });
});

/** Waits for a state while the time passes. */
async function whilePassing(stepMs: number, what: string, reached: () => boolean): Promise<void> {
  await eventually(what, () => {
    if (reached()) return true;
    clock.advance(stepMs);
    return false;
  });
}

const isIdle = (): boolean => kubelet.openConnections() === 0;

/** Runs a command of the kubelet of the tests, and waits for the message with which the server opens the streams. */
async function open(command: string, auditId = ""): Promise<{ socket: WebSocket; messages: string[] }> {
  const { port, kubeconfig } = server;
  const path = `/api/v1/namespaces/default/pods/one/exec?stdin=true&stdout=true&command=${command}`;
  const socket = new WebSocket(`wss://127.0.0.1:${port}${path}`, "v5.channel.k8s.io", {
    ...credentialsOf(kubeconfig),
    headers: { "audit-id": auditId },
  });
  const messages: string[] = [];
  socket.on("message", (data: Buffer) => messages.push(data.toString()));
  socket.on("error", () => {});
  await once(socket, "message");
  return { socket, messages };
}

/** A command that has begun: it has sent output. */
async function openRunning(auditId = ""): ReturnType<typeof open> {
  const opened = await open("wait", auditId);
  await eventually("the command runs", () => opened.messages.includes("\x01waiting\n"));
  return opened;
}

/** The audit events of a request. */
function eventsOf(id: string): string[] {
  return readFileSync(auditLog, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ auditID }) => auditID === id)
    .map(({ stage, verb, objectRef, responseStatus }) =>
      [stage, verb, objectRef.subresource, responseStatus?.code].join(" "),
    );
}

test("a kubelet that does not accept a stream within 30 s ends the request", async () => {
  const first = kubelet.requests.length;
  const { socket, messages } = await open("hang");
  const closed = once(socket, "close");
  await eventually("the request reaches the kubelet", () => kubelet.requests.length > first);
  await whilePassing(30 * seconds, "the limit ends the request", () => messages.length > 1);
  assert.match(messages[1] as string, /"Internal error occurred: Timeout occurred"/);
  await closed;
  await eventually("the kubelet is disconnected", isIdle);
});

test("the kubelet gets a ping every 5 s, until the client disconnects", async () => {
  const { socket } = await openRunning();
  const before = kubelet.pings();
  for (let sent = 1; sent <= 3; sent++) {
    clock.advance(5 * seconds - 1);
    clock.advance(1);
    await eventually("a ping arrives", () => kubelet.pings() === before + sent);
  }
  socket.terminate();
  await eventually("the kubelet is disconnected", isIdle);
});

test("a connection without messages for four hours is closed", async () => {
  const { socket } = await openRunning();
  let isClosed = false;
  socket.on("close", () => {
    isClosed = true;
  });
  clock.advance(4 * hours - 60 * seconds);
  socket.ping();
  await once(socket, "pong"); // A close frame would come before.
  assert.equal(isClosed, false);
  clock.advance(60 * seconds);
  await eventually("the client is disconnected", () => isClosed);
  await eventually("the kubelet is disconnected", isIdle);
});

test("a ping finds a client that disconnects while its stdin is blocked", async () => {
  const { socket } = await openRunning("blocked");
  const message = Buffer.alloc(1 << 20);
  for (let sent = 0; sent < 32; sent++) socket.send(message);
  await untilSteady(() => socket.bufferedAmount); // The server stops reading.
  socket.terminate();
  await whilePassing(10 * seconds, "the request ends", () => eventsOf("blocked").length === 3);
  kubelet.disconnect(); // It reads no more, so that it does not notice the end.
});

test("a command is audited when its streams open, and when they end", async () => {
  const { socket } = await openRunning("exec");
  const started = ["RequestReceived get exec ", "ResponseStarted get exec 101"];
  await eventually("the start is written", () => eventsOf("exec").length === 2);
  assert.deepEqual(eventsOf("exec"), started);
  socket.terminate();
  await eventually("the end is written", () => eventsOf("exec").length === 3);
  assert.deepEqual(eventsOf("exec"), [...started, "ResponseComplete get exec 101"]);
});

test("a server that ends closes the streams of pods, and does not wait for them", async () => {
  const { socket } = await openRunning();
  const closed = once(socket, "close");
  await server.close(); // The clock is manual: the time for open requests never ends.
  await closed;
  await eventually("the kubelet is disconnected", isIdle);
});
