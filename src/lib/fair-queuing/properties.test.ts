/**
 * Random requests. Guarantees: no more seats are in use than the limit, except for one wider request
 * alone; every request that is not rejected runs; a level with free seats has no request that waits,
 * unless the next one needs more seats.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { seed } from "../../../test/support/seed.ts";
import type { Ticket } from "./contract.ts";
import { FairQueueSet } from "./fair-queue-set.ts";

interface Arrival {
  readonly afterMs: number;
  readonly flow: number;
  readonly seats: number;
  readonly executesMs: number;
  readonly finalSeats: number;
  readonly latencyMs: number;
}

const arrival: fc.Arbitrary<Arrival> = fc.record({
  afterMs: fc.constantFrom(0, 0, 0.001, 1, 20),
  flow: fc.nat(5),
  seats: fc.integer({ min: 1, max: 8 }),
  executesMs: fc.constantFrom(0.5, 3, 40),
  finalSeats: fc.nat(4),
  latencyMs: fc.constantFrom(0, 0, 2),
});

const ignore = (): void => {};
const observer = {
  waiting: ignore,
  executing: ignore,
  seatsInUse: ignore,
  seatDemand: ignore,
  queueLength: ignore,
  noAccommodation: ignore,
  epochAdvance: ignore,
};

test("seats are limited and used, and all requests run", () => {
  fc.assert(
    fc.property(fc.array(arrival, { maxLength: 60 }), fc.integer({ min: 1, max: 6 }), (arrivals, limit) => {
      const clock = manualClock(0);
      const queues = new FairQueueSet<Arrival>(clock, observer);
      queues.configure({ queues: 4, handSize: 2, queueLengthMax: 20 });
      queues.setConcurrencyLimit(limit);
      const executing = new Set<Ticket<Arrival>>();
      let accepted = 0;
      let ended = 0;
      const checkSeats = (): void => {
        const { seatsInUse, waiting } = queues.counts;
        assert.ok(seatsInUse <= limit || executing.size <= 1, `${seatsInUse} of ${limit} seats`);
        if (waiting === 0) return;
        const heads = queues.dump().queues.flatMap(({ waiting: [first] }) => (first === undefined ? [] : [first]));
        const fits = heads.every(({ work }) => seatsInUse + Math.max(work.initialSeats, work.finalSeats) <= limit);
        assert.ok(!fits, "all oldest requests would fit");
      };
      const execute = (ticket: Ticket<Arrival>): void => {
        executing.add(ticket);
        clock.after(ticket.descriptor.executesMs, () => {
          executing.delete(ticket);
          ended++;
          queues.finish(ticket);
          checkSeats();
        });
      };
      for (const one of arrivals) {
        clock.advance(one.afterMs);
        const flow = { schema: "", distinguisher: "", hash: { high: one.flow * 7919, low: one.flow * 104729 } };
        const work = { initialSeats: one.seats, finalSeats: one.finalSeats, additionalLatencyMs: one.latencyMs };
        const started = queues.start(flow, work, one, execute);
        if (typeof started === "string") continue;
        accepted++;
        if (started.state === "executing") execute(started);
        checkSeats();
      }
      clock.advance(100_000);
      assert.deepEqual([ended, queues.idle, queues.counts.seatsInUse], [accepted, true, 0]);
    }),
    { numRuns: 300, seed },
  );
});
