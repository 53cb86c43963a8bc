/**
 * Upstream's smaller tests of queue sets: which request is next, no limit, cancellation, and what a
 * request frees at its end. Upstream sets private fields; here requests bring a queue set into the
 * same state. Source:
 * k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/fairqueuing/queueset/queueset_test.go.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import type { Flow, QueueSetObserver, Ticket, WorkEstimate } from "./contract.ts";
import { FairQueueSet } from "./fair-queue-set.ts";
import { QueuedRequest } from "./queue.ts";

const second = 1000;

const flowOf = (name: string, low: number): Flow => ({ schema: "s", distinguisher: name, hash: { high: 0, low } });

function queueSet(queues: number, limit: number) {
  const clock = manualClock(0);
  const waits: number[] = [];
  const started: string[] = [];
  const ignore = (): void => {};
  const observer: QueueSetObserver = {
    waiting: (_flow, change) => waits.push(change),
    executing: ignore,
    seatsInUse: ignore,
    seatDemand: ignore,
    queueLength: ignore,
    noAccommodation: ignore,
    epochAdvance: ignore,
  };
  const set = new FairQueueSet<string>(clock, observer);
  set.configure({ queues, handSize: 1, queueLengthMax: 11 });
  set.setConcurrencyLimit(limit);
  let flows = 0;
  /** Each request has its own flow and queue. */
  const start = (name: string, initialSeats = 1): Ticket<string> =>
    startIn(flowOf(name, flows++), { initialSeats, finalSeats: 0, additionalLatencyMs: 0 });
  const startIn = (flow: Flow, work: WorkEstimate): Ticket<string> => {
    const name = flow.distinguisher;
    const ticket = set.start(flow, work, name, ({ descriptor }) => started.push(descriptor));
    if (typeof ticket === "string") throw new Error(ticket);
    return ticket;
  };
  return { clock, set, start, startIn, started, waits };
}

interface Row {
  readonly what: string;
  readonly limit: number;
  /** In use. */
  readonly seats: number;
  /** Seats of the request with the least virtual start, and of the other one. */
  readonly first: number;
  readonly other: number;
  /** Those that start while the seats are in use, and after one of these seats was freed. */
  readonly starts: readonly string[];
  readonly startsLater: readonly string[];
}

const rows: readonly Row[] = [
  {
    what: "one seat is free: the queue with the least virtual start is next",
    limit: 2,
    seats: 1,
    first: 1,
    other: 1,
    starts: ["first"],
    startsLater: ["first", "other"],
  },
  { what: "no seat is free", limit: 1, seats: 1, first: 1, other: 1, starts: [], startsLater: ["first"] },
  {
    what: "seats are free for the request with the least virtual end",
    limit: 50,
    seats: 25,
    first: 25,
    other: 50,
    starts: ["first"],
    startsLater: ["first"],
  },
  {
    what: "seats are not free for the request with the least virtual end, until one is freed",
    limit: 50,
    seats: 26,
    first: 25,
    other: 10,
    starts: [],
    startsLater: ["first"],
  },
];

for (const { what, limit, seats, first, other, starts, startsLater } of rows) {
  test(`TestFindDispatchQueueLocked: ${what}`, () => {
    const { clock, set, start, started } = queueSet(64, seats);
    const users = Array.from({ length: seats }, (_none, index) => start(`user${index}`));
    start("first", first);
    clock.advance(100 * second);
    start("other", other);
    for (const attempt of [1, 2]) {
      set.setConcurrencyLimit(limit);
      assert.deepEqual(started, starts, `attempt ${attempt}`);
    }
    set.finish(users[0] as Ticket<string>);
    assert.deepEqual(started, startsLater);
  });
}

test("TestNoRestraint: an exempt level executes all requests at once", () => {
  const { set, start, waits } = queueSet(-1, 0);
  const tickets = Array.from({ length: 100 }, (_none, index) => start(`${index}`, 10));
  assert.ok(tickets.every(({ state }) => state === "executing"));
  assert.deepEqual([set.counts.executing, set.counts.seatsInUse, waits], [100, 1000, []]);
  for (const ticket of tickets) set.finish(ticket);
  assert.deepEqual([set.idle, set.counts.seatsInUse], [true, 0]);
});

test("TestContextCancel: a cancelled request leaves its queue at once and never starts", () => {
  const { clock, set, start, started, waits } = queueSet(11, 1);
  const one = start("one");
  assert.deepEqual([one.state, waits], ["executing", []]);
  const two = start("two");
  assert.deepEqual([two.state, waits], ["waiting", [1]]);
  clock.advance(second);
  assert.equal(set.cancel(two), true);
  assert.deepEqual([waits, set.idle, set.counts.cancelled], [[1, -1], false, 1]);
  assert.equal(set.cancel(two), false);
  set.finish(one);
  assert.deepEqual([set.idle, started], [true, []]);
});

const estimates: [what: string, work: WorkEstimate][] = [
  ["request has additional latency", { initialSeats: 1, finalSeats: 10, additionalLatencyMs: 60 * second }],
  ["request has no additional latency", { initialSeats: 10, finalSeats: 0, additionalLatencyMs: 0 }],
];
for (const [what, work] of estimates) {
  test(`TestFinishRequestLocked: ${what}`, () => {
    const { clock, set, startIn } = queueSet(1, 222);
    const flow = flowOf("one", 0);
    const request = startIn(flow, work);
    const other = startIn(flow, { initialSeats: 12, finalSeats: 0, additionalLatencyMs: 0 });
    const inQueue = (): unknown => {
      const { queues, executing, seatsInUse } = set.dump();
      return [executing, seatsInUse, queues[0]?.executing, queues[0]?.seatsInUse];
    };
    assert.deepEqual(inQueue(), [2, 22, [request, other], 22]);
    set.finish(request);
    const lasts = work.additionalLatencyMs > 0;
    assert.deepEqual(inQueue(), lasts ? [1, 22, [other], 22] : [1, 12, [other], 12]);
    if (lasts) clock.advance(work.additionalLatencyMs - 1);
    assert.deepEqual(inQueue(), lasts ? [1, 22, [other], 22] : [1, 12, [other], 12]);
    clock.advance(1);
    assert.deepEqual(inQueue(), [1, 12, [other], 12]);
  });
}

/** A request that arrives at time 0 and never starts. */
const requestOf = (work: WorkEstimate) =>
  new QueuedRequest({ flow: flowOf("one", 0), work, descriptor: "", onStart: () => {} }, { at: 0, r: 0 });

for (const [initialSeats, finalSeats] of [
  [3, 3],
  [1, 3],
  [3, 1],
] as const) {
  test(`TestRequestSeats: ${initialSeats} initial and ${finalSeats} final seats`, () => {
    assert.equal(requestOf({ initialSeats, finalSeats, additionalLatencyMs: 0 }).maxSeats, 3);
  });
}

test("TestRequestWork: initial seats for the estimated 3 ms (upstream's test: 2 s), and final seats for the latency", () => {
  const { totalWork } = requestOf({ initialSeats: 3, finalSeats: 50, additionalLatencyMs: 70 * second });
  assert.equal(totalWork, (3 * 0.003 + 50 * 70) * 1e8);
});
