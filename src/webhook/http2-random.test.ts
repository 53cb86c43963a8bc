/**
 * Random frames of a server that calls of webhooks share a connection with.
 *
 * - Each call ends once: with a response, an error, or when it is canceled; it counts until then.
 * - The connection closes once, and takes no calls afterwards.
 * - What the server sends throws nothing elsewhere.
 *
 * No frame is cut: of thousands of connections that go on after half a frame, one ends the process in Node.js 26
 * (`current_nghttp2_memory_` in node_http2.cc), which is not ours to mend.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { test } from "node:test";
import type { Dispatcher } from "undici";
import { passTurns, turnsUntil } from "../../test/support/pass-turns.ts";
import { seed } from "../../test/support/seed.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { openHttp2 } from "./http2-connection.ts";

const rounds = process.env.COXSWAIN_TEST_FULL === "1" ? 20_000 : 150;
const callsMax = 6;
const random = seededRandom(seed);
const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;

const [data, headersFrame, reset, settings, push, ping, goAway, window] = [0, 1, 3, 4, 5, 6, 7, 8];
const types = [
  data,
  data,
  headersFrame,
  headersFrame,
  headersFrame,
  reset,
  settings,
  push,
  ping,
  goAway,
  window,
  9,
  200,
];
const fields: readonly (readonly [name: string, value: string])[] = [
  [":status", "200"],
  [":status", "200"],
  [":status", "100"],
  [":status", "101"],
  [":status", "204"],
  [":status", "600"],
  [":status", "abc"],
  [":path", "/"],
  ["content-length", "3"],
  ["content-length", "-1"],
  ["content-type", "application/json"],
  ["content-type", "text/html"],
  ["connection", "close"],
  ["Upper", "x"],
  ["a b", "x"],
  ["x", "\x01\r\n"],
  ["", ""],
  ["long", "x".repeat(120)],
];

/** A literal of HPACK that is not indexed. */
function literal([name, value]: (typeof fields)[number]): Buffer {
  const [first, second] = [Buffer.from(name, "latin1"), Buffer.from(value, "latin1")];
  return Buffer.concat([Buffer.from([0, first.length]), first, Buffer.from([second.length]), second]);
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

function payloadOf(type: number): Buffer {
  if (type === headersFrame)
    return Buffer.concat(
      Array.from({ length: 1 + random(3) }, (_, index) => literal(index === 0 ? (fields[0] as never) : pick(fields))),
    );
  if (type === settings)
    return pick([Buffer.alloc(0), Buffer.from("000300000001", "hex"), Buffer.from("0004ffffffff", "hex")]);
  if (type === ping) return Buffer.alloc(8);
  if (type === goAway) return Buffer.from("0000000300000000", "hex");
  if (type === reset || type === window)
    return pick([Buffer.from([0, 0, 0, random(15)]), Buffer.from("7fffffff", "hex")]);
  return pick([Buffer.alloc(0), Buffer.from("{}"), Buffer.from("abc"), Buffer.alloc(20_000, 97)]);
}

function randomFrame(): Buffer {
  const type = pick(types);
  const onConnection = type === settings || type === ping || type === goAway;
  const stream = random(8) === 0 ? random(20) : onConnection ? 0 : 1 + 2 * random(callsMax);
  const flags =
    random(8) === 0 ? random(256) : (type === headersFrame ? 4 : 0) | (random(3) === 0 && type <= headersFrame ? 1 : 0);
  const bytes = frame(type, flags, stream, payloadOf(type));
  if (random(12) === 0) bytes[random(bytes.length)] = random(256);
  return bytes;
}

function response(stream: number): Buffer {
  const head = frame(headersFrame, 4, stream, literal([":status", "200"]));
  return Buffer.concat([head, frame(data, 1, stream, Buffer.from("{}"))]);
}

interface Call {
  ended: number;
  outcomes: string[];
  cancel(): void;
}

function call(connection: ReturnType<typeof openHttp2>): Call {
  const outcomes: string[] = [];
  const result: Call = { ended: 0, outcomes, cancel: () => opened.cancel() };
  const opened = connection.open(() => result.ended++);
  const handler: Dispatcher.DispatchHandler = {
    onResponseStart() {},
    onResponseData() {},
    onResponseEnd: () => void outcomes.push("response"),
    onResponseError: (_controller, error) => void outcomes.push(error.message),
  };
  const body = random(2) === 0 ? null : "{}";
  const options = { path: "/", method: "POST", headers: ["host", "peer"], body } as const;
  opened.dispatcher.dispatch(options as unknown as Dispatcher.DispatchOptions, handler);
  return result;
}

async function answerAtRandom({ far }: Pair): Promise<void> {
  if (random(10) > 0) far.write(frame(settings, 0, 0, Buffer.alloc(0)));
  for (let left = random(12); left > 0; left--) {
    far.write(random(6) === 0 ? response(1 + 2 * random(callsMax)) : randomFrame());
    if (random(3) === 0) await passTurns(3);
  }
  await turnsUntil(() => far.writableLength === 0 || far.destroyed);
  await passTurns(20);
  const end = random(4);
  if (end === 0) far.end();
  else if (end === 1) far.destroy();
}

interface Pair {
  readonly near: net.Socket;
  readonly far: net.Socket;
}

async function connectPair(server: net.Server): Promise<Pair> {
  const near = net.connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [far] = (await once(server, "connection")) as [net.Socket];
  far.on("error", () => {}).resume();
  return { near, far };
}

test(`random frames, seed ${seed}`, async (t) => {
  const server = net.createServer().listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const seen = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    const pair = await connectPair(server);
    let closed = 0;
    const connection = openHttp2(pair.near, { origin: "https://peer", changed() {}, closed: () => closed++ });
    const calls = Array.from({ length: 1 + random(callsMax) }, () => call(connection));
    await answerAtRandom(pair);
    await passTurns(5);
    const open = calls.filter(({ ended }) => ended === 0);
    assert.equal(connection.calls, open.length);
    for (const one of open) if (random(2) === 0) one.cancel();
    connection.destroy();
    await turnsUntil(() => closed > 0);
    pair.far.destroy();
    for (const { ended, outcomes } of calls) {
      assert.deepEqual([ended, outcomes.length <= 1], [1, true], outcomes.join());
      seen.add(outcomes[0] ?? "canceled");
    }
    assert.deepEqual([closed, connection.calls, connection.callsMax], [1, 0, 0]);
  }
  assert.ok(seen.has("response") && seen.has("canceled") && seen.size > 4, [...seen].join());
});
