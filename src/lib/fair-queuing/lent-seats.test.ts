/**
 * Guarantees: requests of one seat do not wait for lent seats; wider ones do; each kind of requests
 * uses no more seats than the limit; lent seats are free again when the lender ends.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import type { QueuingConfig, Ticket } from "./contract.ts";
import { FairQueueSet } from "./fair-queue-set.ts";

const ignore = (): void => {};

/** A queue set of two seats, and a function that starts requests of flows. */
function twoSeats(config: QueuingConfig = { queues: 16, handSize: 1, queueLengthMax: 3 }) {
  const queues = new FairQueueSet<undefined>(manualClock(), {
    waiting: ignore,
    executing: ignore,
    seatsInUse: ignore,
    seatDemand: ignore,
    queueLength: ignore,
    noAccommodation: ignore,
    epochAdvance: ignore,
  });
  queues.configure(config);
  queues.setConcurrencyLimit(2);
  const start = (flow: number, seats: number): Ticket<undefined> => {
    const work = { initialSeats: seats, finalSeats: 0, additionalLatencyMs: 0 };
    const started = queues.start(
      { schema: "", distinguisher: "", hash: { high: 0, low: flow } },
      work,
      undefined,
      ignore,
    );
    assert.notEqual(typeof started, "string");
    return started as Ticket<undefined>;
  };
  return { queues, start };
}

test("a request of one seat starts while all seats are lent, also before wider ones that wait", () => {
  const { queues, start } = twoSeats();
  const list = start(1, 2);
  const nextList = start(1, 2);
  const waiting = start(2, 1);
  assert.deepEqual([list.state, nextList.state, waiting.state], ["executing", "waiting", "waiting"]);
  queues.lendSeats(list);
  assert.deepEqual([nextList.state, waiting.state], ["waiting", "executing"]);
  assert.equal(start(3, 1).state, "executing");
  const third = start(4, 1);
  assert.equal(third.state, "waiting", "requests of one seat have two seats");
  queues.finish(waiting);
  assert.equal(third.state, "executing");
});

test("a wider request waits for lent seats, and starts when they are free", () => {
  const { queues, start } = twoSeats();
  const list = start(1, 2);
  queues.lendSeats(list);
  queues.lendSeats(list);
  const next = start(2, 2);
  assert.equal(next.state, "waiting");
  assert.equal(queues.counts.seatsLent, 2);
  queues.finish(list);
  assert.deepEqual([next.state, queues.counts.seatsLent, queues.counts.seatsInUse], ["executing", 0, 2]);
});

test("a level without queues does not reject requests of one seat because of lent seats", () => {
  const { queues, start } = twoSeats({ queues: 0, handSize: 1, queueLengthMax: 1 });
  const list = start(1, 2);
  queues.lendSeats(list);
  assert.equal(start(2, 1).state, "executing");
});

test("lending changes nothing after the end", () => {
  const { queues, start } = twoSeats();
  const list = start(1, 2);
  queues.finish(list);
  queues.lendSeats(list);
  assert.equal(queues.counts.seatsLent, 0);
});
