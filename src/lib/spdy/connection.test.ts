/** Two connections over one pair of sockets: what one side writes, the other reads; and what a peer can do wrong. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type Duplex, duplexPair } from "node:stream";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { passTurns } from "../../../test/support/pass-turns.ts";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { SpdyConnection, type SpdyStream, streamsMax } from "./connection.ts";
import { FrameReader } from "./frame-reader.ts";
import { encodeDataHead, encodePing, encodeSynReply, encodeSynStream, type Frame } from "./frames.ts";
import { HeaderEncoder } from "./headers.ts";

const empty = Buffer.alloc(0);
const none = new Map();

interface Pair {
  readonly client: SpdyConnection;
  readonly server: SpdyConnection;
  readonly accepted: SpdyStream[];
}

function connect(accepts: (stream: SpdyStream) => boolean = () => true): Pair {
  const [left, right] = duplexPair();
  const accepted: SpdyStream[] = [];
  const onStream = (stream: SpdyStream): boolean => accepts(stream) && accepted.push(stream) > 0;
  return {
    client: new SpdyConnection(left, empty, { role: "client", onStream: () => false }),
    server: new SpdyConnection(right, empty, { role: "server", onStream }),
    accepted,
  };
}

/** Reads to the end, without destroying the stream. */
async function readAll(stream: Duplex): Promise<Buffer> {
  const pieces: Buffer[] = [];
  stream.on("data", (piece: Buffer) => pieces.push(piece));
  await once(stream, "end");
  return Buffer.concat(pieces);
}

test("carries random data of many streams in both directions", async () => {
  console.log(`SEED=${seed}`);
  const random = seededRandom(seed);
  const bytes = (): Buffer => Buffer.from(Array.from({ length: random(300_000) }, () => random(256)));
  const { client, accepted } = connect();
  const streams = await Promise.all(
    Array.from({ length: 8 }, (_, index) => client.openStream(new Map([["n", [String(index)]]]))),
  );
  assert.deepEqual(
    accepted.map(({ headers }) => headers.get("n")?.[0]),
    streams.map((_, index) => String(index)),
  );
  const both = streams.flatMap((stream, index) => [
    [stream.data, (accepted[index] as SpdyStream).data] as const,
    [(accepted[index] as SpdyStream).data, stream.data] as const,
  ]);
  await Promise.all(
    both.map(async ([from, to]) => {
      const sent = bytes();
      const received = readAll(to);
      for (let at = 0; at < sent.length; ) {
        const end = at + 1 + random(70_000);
        if (!from.write(sent.subarray(at, end))) await once(from, "drain");
        at = end;
      }
      from.end();
      assert.ok(sent.equals(await received));
    }),
  );
  client.close();
});

test("stops reading a connection with a stream that is not read", async () => {
  const { client, accepted } = connect();
  const { data } = await client.openStream(none);
  let written = 0;
  for (let i = 0; i < 200; i++) {
    if (!data.writableNeedDrain) {
      data.write(Buffer.alloc(10_000));
      written += 10_000;
    }
    await setImmediate();
  }
  assert.ok(data.writableNeedDrain, "the writer must wait");
  assert.ok((accepted[0] as SpdyStream).data.readableLength < 200_000);
  const all = readAll((accepted[0] as SpdyStream).data);
  data.end();
  assert.equal((await all).length, written);
});

test("ends the streams of a connection that closes", async () => {
  const { client, server, accepted } = connect();
  const { data } = await client.openStream(none);
  (accepted[0] as SpdyStream).data.write("last");
  await setImmediate();
  const all = readAll(data);
  server.close();
  assert.equal((await all).toString(), "last");
  data.write("nothing");
  await new Promise<void>((resolve) => client.onClose(resolve));
  await assert.rejects(client.openStream(none), { name: "SpdyError", message: "the connection is closed" });
});

test("ends a stream that the peer resets", async () => {
  const { client, accepted } = connect();
  const { data } = await client.openStream(none);
  (accepted[0] as SpdyStream).data.destroy();
  assert.equal((await readAll(data)).length, 0);
  assert.equal(client.closed, false);
});

test("rejects a stream that the peer does not accept", async () => {
  const { client } = connect(() => false);
  await assert.rejects(client.openStream(none), { name: "SpdyError", message: "Stream reset" });
});

/** A connection whose peer is the test. */
function openRaw(role: "client" | "server"): { connection: SpdyConnection; peer: Duplex; streams: SpdyStream[] } {
  const [socket, peer] = duplexPair();
  const streams: SpdyStream[] = [];
  const onStream = (stream: SpdyStream): boolean => streams.push(stream) > 0;
  return { connection: new SpdyConnection(socket, empty, { role, onStream }), peer, streams };
}

async function framesOf(peer: Duplex): Promise<Frame[]> {
  const pieces: Buffer[] = [];
  peer.on("data", (piece: Buffer) => pieces.push(piece));
  await passTurns(1000);
  return [...new FrameReader().read(Buffer.concat(pieces))];
}

test("answers pings of the peer only", async () => {
  const { peer } = openRaw("server");
  peer.write(Buffer.concat([encodePing(1), encodePing(2), encodePing(3)]));
  assert.deepEqual(await framesOf(peer), [
    { type: "ping", id: 1 },
    { type: "ping", id: 3 },
  ]);
});

test("disconnects a peer that sends pings and reads no answers", async () => {
  const { connection, peer } = openRaw("server");
  const pings = Buffer.concat(Array.from({ length: 10_000 }, () => encodePing(1)));
  for (let i = 0; i < 40 && !connection.closed; i++) {
    peer.write(pings);
    await setImmediate();
  }
  assert.equal(connection.closed, true);
});

test(`accepts ${streamsMax} streams`, async () => {
  const { peer, streams } = openRaw("server");
  const encoder = new HeaderEncoder();
  for (let i = 0; i < streamsMax + 2; i++) peer.write(encodeSynStream(2 * i + 1, encoder.encode(none)));
  const answers = await framesOf(peer);
  assert.deepEqual(answers.slice(streamsMax), [
    { type: "rstStream", id: 2 * streamsMax + 1, status: 3 },
    { type: "rstStream", id: 2 * streamsMax + 3, status: 3 },
  ]);
  assert.equal(streams.length, streamsMax);
});

test("resets streams with ids of this side, or that were used", async () => {
  const { peer, streams } = openRaw("server");
  const encoder = new HeaderEncoder();
  for (const id of [3, 3, 1, 4]) peer.write(encodeSynStream(id, encoder.encode(none)));
  const answers = await framesOf(peer);
  assert.deepEqual(
    answers.map((frame) => [frame.type, "id" in frame && frame.id]),
    [
      ["synReply", 3],
      ["rstStream", 3],
      ["rstStream", 1],
      ["rstStream", 4],
    ],
  );
  assert.equal(streams.length, 1);
});

test("ignores data of unknown streams, and before the reply", async () => {
  const { connection, peer } = openRaw("client");
  const opened = connection.openStream(none);
  const data = (id: number): Buffer => Buffer.concat([encodeDataHead(id, { length: 1, fin: false }), Buffer.from("x")]);
  peer.write(Buffer.concat([data(1), data(7), encodeSynReply(1, new HeaderEncoder().encode(none)), data(1)]));
  const stream = await opened;
  peer.write(encodeDataHead(1, { length: 0, fin: true }));
  assert.equal((await readAll(stream.data)).toString(), "x");
});

test("closes a connection whose peer breaks the protocol", async () => {
  const { connection, peer } = openRaw("client");
  const opened = connection.openStream(none);
  peer.write("\x80 is not a frame");
  await assert.rejects(opened, { name: "SpdyError", message: "the connection is closed" });
  assert.equal(connection.error?.message, "a control frame is too long");
});
