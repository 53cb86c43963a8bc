/**
 * Clients that read slowly or leave, and backups that fail. The socket is real, and a stream takes
 * the place of the process.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import https from "node:https";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";
import { type ManualClock, manualClock } from "../../../test/support/manual-clock.ts";
import { until } from "../../../test/support/until.ts";
import type { Exchange } from "../../request/exchange.ts";
import { requestInfo } from "../../request/request-info.ts";
import { type Certificates, createCertificates } from "../../server/serving/certificates.ts";
import type { RequestContext } from "../contract.ts";
import { sendError } from "../errors.ts";
import { type Listener, listen } from "../listener/listen.ts";
import { json } from "../representation/json.ts";
import { type RunningBackup, storeBackupHandler } from "./store-backup.ts";

const logged: string[] = [];
const logger = { info() {}, warn() {}, error: (message: string) => void logged.push(message) };
let certificates: Certificates;
let listener: Listener;
let clock: ManualClock;
let handler: (context: RequestContext) => void | Promise<void>;
/** What the next backup is. */
let next: () => RunningBackup;
let stopped = 0;

before(async () => {
  certificates = await createCertificates({ now: Date.now(), names: ["127.0.0.1"] });
  clock = manualClock();
  handler = storeBackupHandler({ start: async () => next(), sizeBytes: async () => 120 << 20, clock, logger });
  listener = await listen({
    host: "127.0.0.1",
    port: 0,
    serving: { certificate: certificates.serving, named: [], clientCa: certificates.ca.cert },
    onExchange(exchange) {
      const context = contextOf(exchange);
      Promise.resolve(handler(context)).catch((error: unknown) => sendError(context, error, logger));
    },
    acceptsUpgrade: () => false,
    clock,
    logger,
  });
});
after(() => listener.close());

function contextOf(exchange: Exchange): RequestContext {
  return {
    exchange,
    info: requestInfo(exchange.method, exchange.target),
    receivedAt: 0,
    endsAt: Number.POSITIVE_INFINITY,
    auditId: "audit",
    user: { name: "tester", uid: "", groups: [], extra: new Map() },
    resolved: undefined,
    encodings: [json],
    representation: { shape: { kind: "object" }, encoding: json },
    audit: undefined,
    annotations: undefined,
    gzip: false,
    explanation: undefined,
    execution: undefined,
    warnings: [],
    headers: {},
  };
}

/** @param finished settles when the backup is stopped, or its output has ended */
function backupOf(output: Readable, finished = Promise.resolve() as Promise<unknown>): RunningBackup {
  return {
    output,
    finished,
    stop() {
      stopped++;
      output.push(null);
    },
  };
}

function endless(): Readable {
  return new Readable({
    read() {
      this.push(Buffer.alloc(64 << 10));
    },
  });
}

function post(): ReturnType<typeof https.request> {
  const request = https.request({
    host: "127.0.0.1",
    port: listener.port,
    method: "POST",
    path: "/storage/backup",
    ca: certificates.ca.cert,
  });
  request.end();
  return request;
}

async function answered(): Promise<{ status: number; bytes: number; whole: boolean }> {
  const [response] = (await once(post(), "response")) as [import("node:http").IncomingMessage];
  let bytes = 0;
  response.on("data", (piece: Buffer) => (bytes += piece.length)).on("error", () => {});
  await new Promise((resolve) => response.once("close", resolve));
  return { status: response.statusCode as number, bytes, whole: response.complete };
}

test("a complete backup ends the response", async () => {
  next = () => backupOf(Readable.from([Buffer.alloc(10), Buffer.alloc(20)]));
  assert.deepEqual(await answered(), { status: 200, bytes: 30, whole: true });
});

test("a backup that fails before its first byte is a 500 without the reason, and one that fails later has no end", async () => {
  const failed = (): Promise<never> => Promise.reject(new Error("/secret/path"));
  next = () => backupOf(Readable.from([]), failed());
  assert.equal((await answered()).status, 500);
  next = () => backupOf(Readable.from([Buffer.alloc(10)]), failed());
  const { status, whole } = await answered();
  assert.deepEqual([status, whole], [200, false]);
  assert.deepEqual(logged.splice(0), ["Backup failed", "Backup failed"]);
});

test("a client that does not read holds up no other for longer than the store's size allows", async () => {
  next = () => backupOf(endless());
  stopped = 0;
  const request = post();
  const [response] = (await once(request, "response")) as [import("node:http").IncomingMessage];
  response.on("error", () => {});
  assert.equal((await answered()).status, 429);
  clock.advance(119_000);
  assert.equal(stopped, 0);
  clock.advance(2000);
  assert.ok(stopped > 0);
  next = () => backupOf(Readable.from([Buffer.alloc(10)]));
  await until(async () => (await answered()).status !== 429);
  assert.deepEqual(await answered(), { status: 200, bytes: 10, whole: true });
  request.destroy();
});

test("a client that disconnects ends its backup", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  next = () => {
    const backup = backupOf(endless());
    return {
      ...backup,
      stop() {
        backup.stop();
        resolve();
      },
    };
  };
  const request = post();
  const [response] = (await once(request, "response")) as [import("node:http").IncomingMessage];
  response.on("error", () => {});
  request.destroy();
  await promise;
});
