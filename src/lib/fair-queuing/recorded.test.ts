/** Upstream's results, as recorded by tools/golden/fair-queuing. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { allocateSeats } from "./allocate-seats.ts";
import { adjustLimits } from "./borrow-seats.ts";
import type { FlowHash } from "./contract.ts";
import { checkDeal, dealHand } from "./deal.ts";
import { flowHash } from "./flow-hash.ts";
import { type Integrated, Integrator, noSeatDemand, updateSeatDemand } from "./seat-demand.ts";

function readRows<Row>(name: string): Row[] {
  const content = readFileSync(join(import.meta.dirname, "testdata", name));
  const text = (name.endsWith(".gz") ? gunzipSync(content) : content).toString();
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

function hashOf(decimal: string): FlowHash {
  const bits = BigInt(decimal);
  return { high: Number(bits >> 32n), low: Number(bits & 0xffffffffn) };
}

test("deals.jsonl: deals hands and rejects sizes", () => {
  type Row = { deck: number; hand: number; error?: string; deals?: [hash: string, hand: number[]][] };
  for (const { deck, hand, error, deals = [] } of readRows<Row>("deals.jsonl")) {
    assert.equal(checkDeal(deck, hand), error);
    for (const [hash, expected] of deals) {
      const dealt = new Array(hand).fill(0);
      dealHand(hashOf(hash), deck, dealt);
      assert.deepEqual(dealt, expected, `${hash}: ${hand} of ${deck}`);
    }
  }
});

test("flow-hashes.jsonl: hashes flows", () => {
  for (const [schema, distinguisher, hash] of readRows<[string, string, string]>("flow-hashes.jsonl"))
    assert.deepEqual(flowHash(schema, distinguisher), hashOf(hash));
});

type Results = [seconds: number, average: number | null, deviation: number | null, min: number, max: number];

const resultsOf = ({ seconds, average, deviation, min, max }: Integrated): Results => [
  seconds,
  Number.isNaN(average) ? null : average,
  Number.isNaN(deviation) ? null : deviation,
  min,
  max,
];

test("seat-demand.jsonl: integrates steps", () => {
  for (const steps of readRows<[ns: number, operation: string, value: unknown][]>("seat-demand.jsonl")) {
    let now = 0;
    const integrator = new Integrator(() => now / 1e6);
    for (const [ns, operation, value] of steps) {
      now += ns;
      if (operation === "set") integrator.set(value as number);
      else assert.deepEqual(resultsOf(operation === "reset" ? integrator.reset() : integrator.results()), value);
    }
  }
});

function assertClose(actual: number, expected: number, message: string): void {
  assert.ok(
    Math.abs(actual - expected) <= 1e-9 * Math.max(1, Math.abs(expected)),
    `${message}: ${actual}, ${expected}`,
  );
}

test("allocations.jsonl.gz: divides seats", () => {
  type Row = {
    seats: number;
    claims: [target: number, lowerBound: number, upperBound: number][];
    error?: string;
    allocated?: number[];
    proportion?: number;
  };
  for (const [index, { seats, claims, error, allocated, proportion }] of readRows<Row>(
    "allocations.jsonl.gz",
  ).entries()) {
    const allocation = allocateSeats(
      seats,
      claims.map(([target, lowerBound, upperBound]) => ({ target, lowerBound, upperBound })),
    );
    if ("problem" in allocation) {
      assert.ok(error !== undefined, `row ${index}: ${allocation.problem}`);
      continue;
    }
    assert.equal(error, undefined, `row ${index}`);
    assertClose(allocation.fairProportion, proportion as number, `row ${index}`);
    assert.equal(allocation.seats.length, allocated?.length);
    for (const [at, one] of allocation.seats.entries()) assertClose(one, allocated?.[at] as number, `row ${index}`);
  }
});

test("borrowing.jsonl.gz: adjusts limits to the demand", () => {
  type Row = {
    seats: number;
    levels: { exempt: boolean; nominal: number; min: number; max: number }[];
    periods: {
      observed: [seconds: number, average: number | null, deviation: number | null, max: number][];
      limits: number[];
      smoothed: number[];
    }[];
  };
  for (const [index, { seats, levels, periods }] of readRows<Row>("borrowing.jsonl.gz").entries()) {
    let states = levels.map((level) => ({
      ...level,
      isExempt: level.exempt,
      current: level.nominal,
      demand: noSeatDemand,
    }));
    for (const { observed, limits, smoothed } of periods) {
      states = states.map((state, at) => {
        const [seconds, average, deviation, max] = observed[at] as (typeof observed)[number];
        const given = { seconds, average: average ?? Number.NaN, deviation: deviation ?? Number.NaN, min: 0, max };
        return { ...state, demand: updateSeatDemand(state.demand, given) };
      });
      const adjusted = adjustLimits(states, seats);
      assert.deepEqual(adjusted.limits, limits, `row ${index}`);
      for (const [at, { demand }] of states.entries())
        assertClose(demand.smoothed, smoothed[at] as number, `row ${index}`);
      states = states.map((state, at) => ({ ...state, current: adjusted.limits[at] as number }));
    }
  }
});
