/**
 * The scenarios of upstream's test, with its margins: clients with equal requests, which repeat them
 * with a pause, get their fair average of the seats. Source:
 * k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/fairqueuing/queueset/queueset_test.go.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ManualClock, manualClock } from "../../../test/support/manual-clock.ts";
import type { Flow, QueueSet, Ticket } from "./contract.ts";
import { FairQueueSet } from "./fair-queue-set.ts";
import { Integrator } from "./seat-demand.ts";

const second = 1000;
const nanosecond = 1e-6;
const quarter = 91 * 24 * 3600 * second;

interface Client {
  readonly hash: number;
  readonly threads: number;
  readonly calls: number;
  readonly executesMs: number;
  /** Until the next request; negative if that starts before this one has ended. */
  readonly pauseMs: number;
  readonly seats?: number;
  readonly finalSeats?: number;
  readonly padMs?: number;
  /** Half of the threads start in the second half. */
  readonly split?: boolean;
}

interface Scenario {
  /** Queues, hand and length of queues. */
  readonly queues: readonly [number, number, number];
  readonly limit: number;
  readonly clients: readonly Client[];
  readonly evaluatedMs: number;
  /** For each half if a client is split, else for all: how far averages may be from the fair ones. */
  readonly margins: readonly number[];
  /** Whether they are within the margins; default: yes. */
  readonly fair?: readonly boolean[];
  readonly averages?: readonly number[];
  readonly rejects?: boolean;
}

/** Max-min fair shares of a capacity. */
function fairShares(demands: readonly number[], capacity: number): number[] {
  const shares = demands.map(() => 0);
  let left = capacity;
  let open = demands.map((_, index) => index).sort((a, b) => (demands[a] as number) - (demands[b] as number));
  while (open.length > 0) {
    const [index = 0, ...others] = open;
    shares[index] = Math.min(demands[index] as number, left / open.length);
    left -= shares[index] as number;
    open = others;
  }
  return shares;
}

class Run {
  readonly scenario: Scenario;
  readonly clock: ManualClock = manualClock(0);
  readonly demand: Integrator = new Integrator(this.clock.now);
  readonly expectedDemand: Integrator = new Integrator(this.clock.now);
  readonly queues: QueueSet<undefined>;
  readonly executing: Integrator[];
  readonly seats: number[];
  #demanded = 0;
  rejected = 0;
  executed = 0;

  constructor(scenario: Scenario) {
    const ignore = (): void => {};
    this.scenario = scenario;
    this.executing = scenario.clients.map(() => new Integrator(this.clock.now));
    this.seats = scenario.clients.map(() => 0);
    this.queues = new FairQueueSet(this.clock, {
      waiting: ignore,
      executing: ignore,
      seatsInUse: ignore,
      seatDemand: (seats) => this.demand.set(seats),
      queueLength: ignore,
      noAccommodation: ignore,
      epochAdvance: ignore,
    });
    const [queues, handSize, queueLengthMax] = scenario.queues;
    this.queues.configure({ queues, handSize, queueLengthMax });
    this.queues.setConcurrencyLimit(scenario.limit);
    for (const [index, client] of scenario.clients.entries())
      for (let thread = 0; thread < client.threads; thread++) this.#startThread(index, client, thread);
  }

  #startThread(index: number, client: Client, thread: number): void {
    const isLate = client.split === true && thread >= client.threads / 2;
    const calls = isLate ? client.calls / 2 : client.calls;
    const delayMs = (90 * thread + 20 * index) * nanosecond + (isLate ? this.scenario.evaluatedMs / 2 : 0);
    this.clock.after(delayMs, () => this.#call(index, client, calls));
  }

  #call(index: number, client: Client, calls: number): void {
    if (calls <= 0) return;
    const { hash, executesMs, pauseMs, seats = 1, finalSeats = 1, padMs = 0 } = client;
    const width = Math.max(seats, finalSeats);
    this.#addDemand(width);
    const execute = (ticket: Ticket<undefined>): void => {
      this.executed++;
      this.#addSeats(index, seats);
      this.clock.after(executesMs + pauseMs, () => this.#call(index, client, calls - 1));
      this.clock.after(executesMs, () => {
        this.#addSeats(index, -seats);
        this.clock.after(padMs, () => this.#addDemand(-width));
        this.queues.finish(ticket);
      });
    };
    const flow: Flow = {
      schema: "",
      distinguisher: "",
      hash: { high: Math.floor(hash / 2 ** 32), low: hash % 2 ** 32 },
    };
    const work = { initialSeats: seats, finalSeats, additionalLatencyMs: padMs };
    const started = this.queues.start(flow, work, undefined, execute);
    if (typeof started === "string") {
      this.rejected++;
      this.#addDemand(-width);
    } else if (started.state === "executing") execute(started);
  }

  #addSeats(index: number, change: number): void {
    this.seats[index] = (this.seats[index] as number) + change;
    this.executing[index]?.set(this.seats[index]);
  }

  #addDemand(change: number): void {
    this.#demanded += change;
    this.expectedDemand.set(this.#demanded);
  }

  /** Runs until a time, and compares the averages since the last evaluation. */
  evaluate(untilMs: number, half: number): void {
    const { clients, limit, margins, fair, averages } = this.scenario;
    this.clock.advance(untilMs - this.clock.now());
    const isFirstHalf = margins.length > 1 && half === 0;
    const demands = clients.map(({ threads, seats = 1, executesMs, pauseMs, split }) => {
      const active = split && isFirstHalf ? threads / 2 : threads;
      return (active * seats * executesMs) / (pauseMs + executesMs);
    });
    const expected = averages ?? fairShares(demands, limit);
    for (const [index, integrator] of this.executing.entries()) {
      const { average } = integrator.reset();
      const off = Math.abs(average / (expected[index] as number) - 1);
      const isWithin = off <= (margins[half] as number) + 1e-8;
      assert.equal(isWithin, fair?.[half] ?? true, `client ${index}: ${average} instead of ${expected[index]}`);
    }
    const [got, expectedDemand] = [this.demand.results(), this.expectedDemand.results()];
    for (const field of ["seconds", "average", "deviation"] as const)
      assertClose(got[field], expectedDemand[field], `demand: ${field}`);
  }
}

/** Without any variance, the deviation can be NaN. */
function assertClose(actual: number, expected: number, what: string): void {
  const difference = Math.abs((actual || 0) - (expected || 0));
  assert.ok(difference <= 1e-6 * Math.max(1, Math.abs(expected || 0)), `${what}: ${actual} instead of ${expected}`);
}

function check(scenario: Scenario): void {
  const { evaluatedMs, margins, rejects = false } = scenario;
  const run = new Run(scenario);
  for (const half of margins.keys()) run.evaluate((evaluatedMs * (half + 1)) / margins.length, half);
  for (let rounds = 0; rounds < 200 && !run.queues.idle; rounds++) run.clock.advance(evaluatedMs);
  assert.ok(run.queues.idle, "all requests end");
  assert.equal(run.rejected > 0, rejects);
  assert.equal(run.queues.counts.seatsInUse, 0);
}

const client = (
  hash: number,
  threads: number,
  calls: number,
  executesMs: number,
  pauseMs: number,
  more = {},
): Client => ({
  hash,
  threads,
  calls,
  executesMs,
  pauseMs,
  ...more,
});

const almost = second - nanosecond;
const windup: Omit<Scenario, "margins"> = {
  queues: [9, 1, 6],
  limit: 3,
  clients: [
    client(1001001001, 2, 40, second, -nanosecond),
    client(2002002002, 2, 40, second, -nanosecond, { split: true }),
  ],
  evaluatedMs: 40 * second,
};

const scenarios: Record<string, Scenario> = {
  "one client": {
    queues: [9, 3, 8],
    limit: 1,
    clients: [client(1001001001, 1, 21, second, 0)],
    evaluatedMs: 20 * second,
    margins: [0],
  },
  "an exempt level without seats": {
    queues: [-1, 3, 2],
    limit: 0,
    clients: [client(1001001001, 5, 20, second, second, { seats: 3 })],
    evaluatedMs: 40 * second,
    averages: [7.5],
    margins: [1e-8],
  },
  "hands of one queue": {
    queues: [9, 1, 8],
    limit: 4,
    clients: [client(1001001001, 8, 20, second, almost), client(2002002002, 8, 20, second, almost)],
    evaluatedMs: 50 * second,
    margins: [0.01],
  },
  "hands of three queues": {
    queues: [8, 3, 16],
    limit: 4,
    clients: [client(400900100100, 8, 30, second, almost), client(300900200200, 8, 30, second, almost)],
    evaluatedMs: 60 * second,
    margins: [0.03],
  },
  "different flows with equal shares": {
    queues: [9, 1, 8],
    limit: 4,
    clients: [client(1001001001, 8, 20, second, second), client(2002002002, 7, 30, second, second / 2)],
    evaluatedMs: 40 * second,
    margins: [0.01],
  },
  "virtual times beyond the largest number": {
    queues: [9, 1, 8],
    limit: 2000,
    clients: [
      client(1001001001, 8, 20, quarter, quarter, { seats: 500 }),
      client(2002002002, 7, 30, quarter, quarter / 2, { seats: 500 }),
    ],
    evaluatedMs: 40 * quarter,
    margins: [0.01],
  },
  "different flows with unequal shares": {
    queues: [9, 1, 6],
    limit: 3,
    clients: [client(1001001001, 4, 20, second, almost), client(2002002002, 2, 20, second, almost)],
    evaluatedMs: 20 * second,
    margins: [0.01],
  },
  "different widths": {
    queues: [64, 7, 13],
    limit: 6,
    clients: [
      client(10010010010010, 13, 10, second, almost),
      client(20020020020020, 7, 10, second, almost, { seats: 2 }),
    ],
    evaluatedMs: 20 * second,
    margins: [0.155],
  },
  "wider than the limit": {
    queues: [64, 7, 35],
    limit: 6,
    clients: [
      ...[40040040040040, 50050050050050, 60060060060060, 70070070070070].map((hash) =>
        client(hash, 15, 21, second, almost, { seats: 2 }),
      ),
      client(90090090090090, 15, 21, second, almost, { seats: 7 }),
    ],
    evaluatedMs: 225 * second,
    margins: [0.33],
  },
  "a flow that used less than its share, upper bound": { ...windup, margins: [0.01, 0.26] },
  "a flow that used less than its share, lower bound": { ...windup, margins: [0.01, 0.1], fair: [true, false] },
  "without queues": {
    queues: [0, 0, 0],
    limit: 4,
    clients: [client(1001001001, 6, 10, second, 57), client(2002002002, 4, 15, second, 750)],
    evaluatedMs: 13 * second,
    margins: [0.2],
    fair: [false],
    rejects: true,
  },
};

for (const [name, scenario] of Object.entries(scenarios)) test(name, () => check(scenario));

/** Pause, final seats, latency after the end, limit, clients, and averages that are not the fair ones. */
const separations: [
  pause: number,
  finalSeats: number,
  pad: number,
  limit: number,
  clients: number,
  average?: number,
][] = [
  ...[1, 2].flatMap((clients): typeof separations => [
    [1, 1, 0, 1, clients],
    [1, 1, 0, 2, clients],
    [1, 2, 0, 2, clients],
    [0, 1, 1, 1, clients, 0.5 / clients],
    clients === 1 ? [0, 1, 1, 2, 1] : [0, 1, 1, 2, 2, 0.5],
    [0, 2, 1, 2, clients, 0.5 / clients],
    clients === 1 ? [1, 1, 0.5, 1, 1] : [1, 1, 0.5, 1, 2, 1 / 3],
    [1, 1, 0.5, 2, clients],
    clients === 1 ? [1, 2, 0.5, 2, 1] : [1, 2, 0.5, 2, 2, 1 / 3],
    [0.5, 1, 1, 1, clients, 0.5 / clients],
    clients === 1 ? [0.5, 1, 1, 2, 1] : [0.5, 1, 1, 2, 2, 0.5],
    [0.5, 2, 1, 2, clients, 0.5 / clients],
  ]),
];

for (const [pause, finalSeats, pad, limit, clients, average] of separations)
  test(`pause ${pause} s, ${finalSeats} final seats for ${pad} s, limit ${limit}, ${clients} clients`, () => {
    const more = { finalSeats, padMs: pad * second };
    check({
      queues: [9, 3, 8],
      limit,
      clients: [1001001001, 2002002002]
        .slice(0, clients)
        .map((hash) => client(hash, 1, 25, second, pause * second, more)),
      evaluatedMs: 24 * second,
      margins: [0],
      ...(average !== undefined && { averages: new Array(clients).fill(average) }),
    });
  });
