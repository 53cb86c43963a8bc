import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { passTurns } from "../../test/support/pass-turns.ts";
import { until } from "../../test/support/until.ts";
import type { BodyStream, Exchange } from "./exchange.ts";
import { acceptsGzip, gzipBody, gzipHeaders, respondGzipped } from "./gzip.ts";

/** A socket that accepts data when the test releases it, and a client that can disconnect. */
function stallingSink(): {
  sink: BodyStream;
  exchange: Exchange;
  sent: Buffer[];
  release: () => void;
  leave: () => void;
  ended: () => Promise<void>;
} {
  const sent: Buffer[] = [];
  let closed = false;
  let release = (): void => {};
  let onClose = (): void => {};
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const sink: BodyStream = {
    write: (piece) => {
      sent.push(piece);
      return closed;
    },
    drained: () => new Promise((resolve) => (release = resolve)),
    pendingBytes: 0,
    end,
    abort: () => undefined,
  };
  const exchange = {
    onClose: (run: () => void) => {
      onClose = run;
    },
  } as Exchange;
  const leave = (): void => {
    closed = true;
    onClose();
    release();
  };
  return { sink, exchange, sent, release: () => release(), leave, ended: () => ended };
}

/** Bytes that no compression makes fewer. */
const piece = randomBytes(1 << 20);
const bytesOf = (pieces: readonly Buffer[]): number => pieces.reduce((sum, { length }) => sum + length, 0);

test("a client that does not read gets no more than what is in hand, and all of it later", async () => {
  const { sink, exchange, sent, release, ended } = stallingSink();
  const body = gzipBody(exchange, sink, { takesSlots: false });
  let taken = 0;
  assert.equal(
    body.write(piece, () => taken++),
    false,
  );
  let isDrained = false;
  const drained = body.drained().then(() => (isDrained = true));
  await until(() => sent.length > 0);
  await passTurns(100);
  assert.ok(bytesOf(sent) <= 64 << 10);
  assert.deepEqual([isDrained, taken], [false, 0]);
  while (!isDrained) {
    release();
    await new Promise(setImmediate);
  }
  await drained;
  assert.equal(taken, 1);
  body.write(piece);
  body.end(); // Now the sink counts how long the client takes: it gets everything, and is asked no more.
  await ended();
  assert.ok(gunzipSync(Buffer.concat(sent)).equals(Buffer.concat([piece, piece])));
});

test("each compressed piece waits for a slot of the connection, also after the end", async () => {
  const { sink, exchange, sent, ended } = stallingSink();
  const grants: (() => void)[] = [];
  let reserved = 0;
  const reserve = (): Promise<void> => {
    reserved++;
    return new Promise((resolve) => grants.push(resolve));
  };
  const flowing: BodyStream = { ...sink, reserve, write: (bytes) => sent.push(bytes) > 0 };
  const body = gzipBody(exchange, flowing, { takesSlots: true });
  body.write(piece);
  body.end();
  let isEnded = false;
  void ended().then(() => (isEnded = true));
  while (!isEnded) {
    assert.equal(reserved - sent.length, grants.length);
    assert.ok(grants.length <= 1);
    grants.shift()?.();
    await new Promise(setImmediate);
  }
  assert.equal(sent.length, reserved);
  assert.ok(gunzipSync(Buffer.concat(sent)).equals(piece));
});

test("does not wait for a client that disconnected", async () => {
  const { sink, exchange, leave } = stallingSink();
  const body = gzipBody(exchange, sink, { takesSlots: false });
  let taken = 0;
  body.write(piece, () => taken++);
  const drained = body.drained();
  leave();
  await drained;
  assert.equal(body.write(piece), true);
  await body.drained();
  body.end();
  assert.equal(taken, 0);
});

test("does not answer a request twice", async () => {
  let answers = 0;
  const exchange = { answered: false, closed: false, respond: () => answers++ };
  respondGzipped(exchange as unknown as Exchange, 200, {}, piece);
  exchange.answered = true;
  await new Promise<void>((resolve) => {
    const last = { answered: false, closed: false, respond: () => resolve() };
    respondGzipped(last as unknown as Exchange, 200, {}, piece);
  });
  assert.equal(answers, 0);
});

const offers: [header: string | undefined, accepted: boolean][] = [
  ["gzip", true],
  ["br,gzip", true],
  ["deflate, \tgzip ", true],
  [undefined, false],
  ["", false],
  ["gzip;q=0.5", false],
  ["x-gzip", false],
  ["*", false],
];
for (const [header, accepted] of offers)
  test(`Accept-Encoding: ${header}`, () => assert.equal(acceptsGzip(header), accepted));

test("adds Accept-Encoding to an existing Vary header", () => {
  assert.deepEqual(gzipHeaders({ vary: "Accept", etag: "x" }), {
    vary: ["Accept", "Accept-Encoding"],
    etag: "x",
    "content-encoding": "gzip",
  });
  assert.deepEqual(gzipHeaders({}), { vary: ["Accept-Encoding"], "content-encoding": "gzip" });
});
