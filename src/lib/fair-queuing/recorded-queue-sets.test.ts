/**
 * Random scenarios with upstream's state after each step, as recorded by tools/golden/fair-queuing:
 * the same requests wait and execute in the same queues at the same virtual times.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { manualClock } from "../../../test/support/manual-clock.ts";
import type { QueueSetDump, Ticket } from "./contract.ts";
import { FairQueueSet } from "./fair-queue-set.ts";
import { Integrator } from "./seat-demand.ts";

interface Step {
  readonly do: "start" | "finish" | "cancel" | "configure" | "limit" | "wait";
  readonly ns: number;
  readonly id: number;
  readonly hash: string;
  readonly work: [initialSeats: number, finalSeats: number, latencyNs: number];
  readonly rejected?: true;
  readonly config: Config;
  readonly limit: number;
  readonly after: unknown;
}

type Config = [queues: number, handSize: number, queueLengthMax: number];

interface Scenario {
  readonly seed: number;
  /** Upstream counted too many waiting seats, see `#dispatchFrom`. */
  readonly miscounted: boolean;
  readonly start: { readonly config: Config; readonly limit: number };
  readonly steps: readonly Step[];
  readonly demand: [seconds: number, average: number, deviation: number, min: number, max: number];
}

const scenarios: Scenario[] = gunzipSync(readFileSync(join(import.meta.dirname, "testdata/queue-sets.jsonl.gz")))
  .toString()
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

const configOf = ([queues, handSize, queueLengthMax]: Config) => ({ queues, handSize, queueLengthMax });
const ids = (tickets: readonly Ticket<number>[]): number[] => tickets.map(({ descriptor }) => descriptor);
const sortedIds = (tickets: readonly Ticket<number>[]): number[] => ids(tickets).sort((a, b) => a - b);

/** The state in the form of the fixture. */
function stateOf(dump: QueueSetDump<number>): unknown {
  return {
    count: dump.queues.length,
    queueless: sortedIds(dump.queueless),
    queues: dump.queues
      .map((queue, index) => [
        index,
        queue.nextDispatch,
        ids(queue.waiting),
        sortedIds(queue.executing),
        queue.seatsInUse,
        queue.initialSeatsSum,
        queue.maxSeatsSum,
        queue.totalWorkSum,
      ])
      .filter(([, , waiting, executing]) => (waiting as []).length + (executing as []).length > 0),
    requests: [dump.waiting, dump.executing, dump.rejected, dump.cancelled],
    seats: [dump.seatsInUse, dump.seatsWaiting],
  };
}

function replay({ start, steps, demand, miscounted }: Scenario): void {
  const clock = manualClock(0);
  const integrator = new Integrator(clock.now);
  const ignore = (): void => {};
  const queues = new FairQueueSet<number>(clock, {
    waiting: ignore,
    executing: ignore,
    seatsInUse: ignore,
    seatDemand: (seats) => integrator.set(seats),
    queueLength: ignore,
    noAccommodation: ignore,
    epochAdvance: ignore,
  });
  queues.configure(configOf(start.config));
  queues.setConcurrencyLimit(start.limit);
  const tickets = new Map<number, Ticket<number>>();
  const ticketOf = (id: number): Ticket<number> => tickets.get(id) as Ticket<number>;
  const run: Record<Step["do"], (step: Step) => void> = {
    start: ({ id, hash, work: [initialSeats, finalSeats, latencyNs], rejected }) => {
      const bits = BigInt(hash);
      const flow = {
        schema: "",
        distinguisher: "",
        hash: { high: Number(bits >> 32n), low: Number(bits & 0xffffffffn) },
      };
      const work = { initialSeats, finalSeats, additionalLatencyMs: latencyNs / 1e6 };
      const started = queues.start(flow, work, id, ignore);
      assert.equal(typeof started === "string", rejected === true);
      if (typeof started !== "string") tickets.set(id, started);
    },
    finish: ({ id }) => queues.finish(ticketOf(id)),
    cancel: ({ id }) => assert.ok(queues.cancel(ticketOf(id))),
    configure: ({ config }) => queues.configure(configOf(config)),
    limit: ({ limit }) => queues.setConcurrencyLimit(limit),
    wait: () => {},
  };
  for (const [index, step] of steps.entries()) {
    clock.advance(step.ns / 1e6 - clock.now());
    run[step.do](step);
    assert.deepEqual(stateOf(queues.dump()), step.after, `step ${index}: ${step.do}`);
  }
  if (miscounted) return;
  const { seconds, average, deviation, min, max } = integrator.results();
  assert.deepEqual([min, max], demand.slice(3));
  for (const [at, value] of [seconds, average, deviation].entries())
    assert.ok(Math.abs(value - (demand[at] as number)) < 1e-9, `demand: ${value}, ${demand[at]}`);
}

for (const scenario of scenarios) test(`scenario ${scenario.seed}`, () => replay(scenario));
