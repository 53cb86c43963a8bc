/**
 * Guarantees: few pieces wait for the socket at a time; streams whose clients do not read do not
 * block the others; closed streams free their slots.
 */
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { WritableBody } from "./body-stream.ts";
import { type WriteSlot, WriteSlots } from "./write-slots.ts";

function slotsOf(count: number) {
  const clock = manualClock();
  const slots = new WriteSlots(clock);
  const granted: WriteSlot[] = [];
  for (let index = 0; index < count; index++) {
    const taken = slots.take();
    if (taken instanceof Promise) void taken.then((slot) => granted.push(slot));
    else granted.push(taken);
  }
  for (const slot of granted) slot.written();
  return { clock, granted, settle: () => new Promise((resolve) => setImmediate(resolve)) };
}

test("a slot that is free again goes to the stream that waits longest", async () => {
  const { granted, settle } = slotsOf(5);
  assert.equal(granted.length, 2);
  granted[0]?.release();
  granted[0]?.release();
  await settle();
  assert.equal(granted.length, 3);
});

test("a stream whose client does not read keeps its slot only until a later piece is accepted", async () => {
  const { granted, settle } = slotsOf(6);
  const [stalled, flowing] = granted as [WriteSlot, WriteSlot];
  flowing.release();
  await settle();
  assert.equal(granted.length, 4);
  stalled.release();
  await settle();
  assert.equal(granted.length, 4, "its slot was free already");
});

test("while no piece is accepted, one more is tried each 100 ms", async () => {
  const { clock, granted, settle } = slotsOf(6);
  clock.advance(99);
  await settle();
  assert.equal(granted.length, 2);
  clock.advance(1);
  await settle();
  assert.equal(granted.length, 3);
  granted[2]?.written();
  granted[2]?.release();
  await settle();
  assert.equal(granted.length, 5, "the two before it only wait for their clients");
});

test("a slot that was not used for a piece is free again", async () => {
  const clock = manualClock();
  const slots = new WriteSlots(clock);
  const [first] = [slots.take(), slots.take()] as WriteSlot[];
  const waiting = slots.take();
  assert.ok(waiting instanceof Promise);
  first?.release();
  assert.ok(await waiting);
});

test("responses that write nothing for now do not use the slots", async () => {
  const clock = manualClock();
  const slots = new WriteSlots(clock);
  const bodies = Array.from(
    { length: 3 },
    () => new WritableBody(new PassThrough(), { clock, lingerMs: 0, abort: assert.fail, slots }),
  );
  for (const body of bodies) {
    assert.equal(body.reserve(), undefined);
    body.unreserve();
    body.unreserve();
  }
});
