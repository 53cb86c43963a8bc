/** Streams at a limited rate. */
import assert from "node:assert/strict";
import { PassThrough, type Readable } from "node:stream";
import { test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { throttled } from "./throttled.ts";

/** A turn of the event loop, in which streams deliver what they have. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function received(stream: Readable): { bytes: number; ended: boolean } {
  const state = { bytes: 0, ended: false };
  stream.on("data", (piece: Buffer) => {
    state.bytes += piece.length;
  });
  stream.on("end", () => {
    state.ended = true;
  });
  return state;
}

const rows: [bytesPerSecondMax: number, sent: number, afterMs: number, atLeast: number, atMost: number][] = [
  [1000, 500, 0, 1, 50],
  [1000, 500, 250, 250, 350],
  [1000, 500, 500, 500, 500],
  [10, 3, 0, 1, 1],
  [10, 3, 200, 3, 3],
  [1_000_000, 200_000, 100, 100_000, 200_000],
];

for (const [rate, sent, afterMs, atLeast, atMost] of rows)
  test(`of ${sent} bytes at ${rate} a second, ${atLeast} to ${atMost} have passed after ${afterMs} ms`, async () => {
    const clock = manualClock();
    const source = new PassThrough();
    const result = received(throttled(source, rate, clock));
    source.end(Buffer.alloc(sent));
    await turn();
    for (let ms = 0; ms < afterMs; ms += 10) {
      clock.advance(10);
      await turn();
    }
    assert.ok(result.bytes >= atLeast && result.bytes <= atMost, `${result.bytes}`);
  });

test("it ends after the last byte, and is destroyed with its source", async () => {
  const clock = manualClock();
  const source = new PassThrough();
  const result = received(throttled(source, 100, clock));
  source.end(Buffer.alloc(10));
  await turn();
  assert.equal(result.ended, false);
  clock.advance(100);
  await turn();
  assert.deepEqual(result, { bytes: 10, ended: true });

  const broken = new PassThrough();
  const limited = throttled(broken, 100, clock);
  broken.destroy();
  await turn();
  assert.equal(limited.destroyed, true);
});

test("a limit of 0 is none", () => {
  const source = new PassThrough();
  assert.equal(throttled(source, 0, manualClock()), source);
});
