/**
 * Upstream's test of borrowing, with its margins, on a clock of the test: two levels with the same
 * shares, of which one needs more seats than it has. Source:
 * k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/borrowing_test.go.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import { borrowingPeriodMs } from "../lib/fair-queuing/borrow-seats.ts";
import { Integrator } from "../lib/fair-queuing/seat-demand.ts";
import { flowControlMetrics } from "../metrics/flow-control-metrics.ts";
import { Levels } from "./levels.ts";
import { readPriorityLevel } from "./priority-level.ts";

const clients = [24, 6];
const executesMs = 250;
const work = { initialSeats: 1, finalSeats: 0, additionalLatencyMs: 0 };

function levelOf(name: string, lendablePercent: number, borrowingLimitPercent: number) {
  const queuing = { queues: 10, handSize: 2, queueLengthLimit: 10 };
  const limitResponse = { type: "Queue", queuing };
  const limited = { nominalConcurrencyShares: 100, lendablePercent, borrowingLimitPercent, limitResponse };
  const level = readPriorityLevel({ apiVersion: "", kind: "", metadata: { name }, spec: { type: "Limited", limited } });
  assert.ok(level);
  return level;
}

for (const [what, constraints] of [
  ["lendable-limited", [[50, 67] as const, [33, 50] as const]],
  ["borrowing-limited", [[50, 33] as const, [67, 50] as const]],
] as const) {
  test(`TestBorrowing: ${what}`, () => {
    const clock = manualClock(0);
    const { observer } = flowControlMetrics(clock.now);
    const levels = new Levels<() => void>({ serverSeats: 24, clock, observer, failed: assert.fail });
    levels.configure(
      constraints.map(([lendable, borrowing], index) => levelOf(`level${index}`, lendable, borrowing)),
      [],
    );
    const executing = clients.map((count, index) => {
      const level = levels.all().find(({ name }) => name === `level${index}`);
      assert.ok(level);
      const flow = level.flowsOf("s").get("user");
      const integrator = new Integrator(clock.now);
      let seats = 0;
      const request = (): void => {
        const execute = (): void => {
          integrator.set(++seats);
          clock.after(executesMs, () => {
            integrator.set(--seats);
            assert.ok(typeof ticket !== "string");
            level.queues.finish(ticket);
            request();
          });
        };
        const ticket = level.queues.start(flow, work, execute, ({ descriptor }) => descriptor());
        assert.ok(typeof ticket !== "string");
        if (ticket.state === "executing") execute();
      };
      for (let client = 0; client < count; client++) request();
      return integrator;
    });
    const adjust = (): void => {
      levels.adjust();
      clock.after(borrowingPeriodMs, adjust);
    };
    clock.after(borrowingPeriodMs, adjust);
    clock.advance(10_000);
    for (const integrator of executing) integrator.reset();
    clock.advance(15_000);
    const [first = 0, second = 0] = executing.map((integrator) => integrator.results().average);
    assert.ok(first >= 15.5 && first <= 16.1, `level0: ${first}`);
    assert.ok(second >= 5.5 && second <= 6.1, `level1: ${second}`);
  });
}
