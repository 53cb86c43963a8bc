import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { beginInTurns } from "./begin-in-turns.ts";

class FakeStream extends EventEmitter {
  closed = false;
  destroyed = false;
}

/** Streams that ask to begin, and the indexes of those that have begun. */
function ask(count: number): { streams: FakeStream[]; begun: number[]; begin: (stream: FakeStream) => void } {
  const streams = Array.from({ length: count }, () => new FakeStream());
  const begun: number[] = [];
  const begin = beginInTurns<[FakeStream]>((stream) => begun.push(streams.indexOf(stream)));
  for (const stream of streams) begin(stream);
  return { streams, begun, begin };
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("begins 32 streams in a turn, and the rest in the next turns in their order", async () => {
  const { streams, begun, begin } = ask(70);
  assert.deepEqual(begun, upTo(32));
  await turn();
  begin(streams[streams.push(new FakeStream()) - 1] as FakeStream);
  assert.deepEqual(begun, upTo(64));
  await turn();
  assert.deepEqual(begun, upTo(71));
});

test("skips streams that have ended before their turn", async () => {
  const { streams, begun } = ask(100);
  for (const stream of streams.slice(0, 50)) stream.closed = true;
  for (const stream of streams.slice(50, 99)) stream.destroyed = true;
  await turn();
  assert.deepEqual(begun.slice(32), [99]);
});

test("a connection that breaks while its streams wait throws nothing", async () => {
  const { streams, begun } = ask(40);
  for (const stream of streams.slice(32)) {
    stream.destroyed = true;
    stream.emit("error", new Error("read ECONNRESET"));
  }
  await turn();
  assert.equal(begun.length, 32);
});
