/** Pings of an HTTP/2 connection: one whose peer has vanished is closed, and its calls fail. */
import assert from "node:assert/strict";
import http2 from "node:http2";
import type net from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { mock, type TestContext, test } from "node:test";
import type { Dispatcher } from "undici";
import { passTurns } from "../../test/support/pass-turns.ts";
import { openHttp2 } from "./http2-connection.ts";

const emptySettings = Buffer.from("000000040000000000", "hex");
const pingType = 6;
const pingIntervalMs = 30_000;
const pingTimeoutMs = 15_000;

interface Scene {
  readonly far: Duplex;
  readonly connection: ReturnType<typeof openHttp2>;
  readonly closed: ReturnType<typeof mock.fn>;
  /** Moves the timers of the connection, and lets it read and write. */
  pass(ms: number): Promise<void>;
}

async function openScene(t: TestContext, serve: (far: Duplex) => void): Promise<Scene> {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const [near, far] = duplexPair();
  far.on("error", () => {});
  serve(far);
  const closed = mock.fn();
  const connection = openHttp2(near as net.Socket, { origin: "https://peer", changed() {}, closed });
  t.after(async () => {
    connection.destroy();
    far.destroy();
    await passTurns(10);
  });
  await passTurns(20);
  return {
    far,
    connection,
    closed,
    async pass(ms) {
      t.mock.timers.tick(ms);
      await passTurns(20);
    },
  };
}

/** @returns the error of a call, once it has one */
function call(connection: Scene["connection"]): { error?: Error } {
  const result: { error?: Error } = {};
  const handler: Dispatcher.DispatchHandler = {
    onResponseError(_controller, error) {
      result.error = error;
    },
  };
  const options = { path: "/", method: "POST", headers: ["host", "peer"], body: null } as const;
  connection.open(() => {}).dispatcher.dispatch(options as unknown as Dispatcher.DispatchOptions, handler);
  return result;
}

test("a connection whose peer answers pings stays open", async (t) => {
  let pings = 0;
  const { connection, closed, pass } = await openScene(t, (far) => {
    const session = http2.performServerHandshake(far);
    session.on("error", () => {});
    session.on("ping", () => pings++);
    session.on("stream", (stream) => stream.on("error", () => {}));
  });
  const open = call(connection); // An idle connection would be closed.
  for (let round = 0; round < 5; round++) await pass(pingIntervalMs);
  assert.deepEqual([pings, closed.mock.callCount(), open.error], [5, 0, undefined]);
});

test("a connection whose peer has vanished is closed, and its calls fail", async (t) => {
  const types: number[] = [];
  const { connection, closed, pass } = await openScene(t, (far) => {
    far.write(emptySettings);
    far.on("data", (piece: Buffer) => types.push(...frameTypes(piece)));
  });
  const open = call(connection);
  await pass(pingIntervalMs);
  assert.equal(types.filter((type) => type === pingType).length, 1);
  await pass(pingTimeoutMs - 1);
  assert.deepEqual([closed.mock.callCount(), open.error], [0, undefined]);
  await pass(1);
  assert.equal(closed.mock.callCount(), 1);
  assert.equal(connection.callsMax, 0);
  assert.equal(open.error?.message, "http2: client connection lost");
});

/** The types of the frames of a write, which begins with one, or with the preface of the connection. */
function frameTypes(bytes: Buffer): number[] {
  const types: number[] = [];
  const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  let at = bytes.toString("latin1").startsWith(preface) ? preface.length : 0;
  for (; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) types.push(bytes[at + 3] as number);
  return types;
}
