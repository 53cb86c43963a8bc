import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../test/support/seeded-random.ts";
import { compare, criticalT, type Pair } from "./paired-ratio.ts";

/** From the table of critical values: https://www.itl.nist.gov/div898/handbook/eda/section3/eda3672.htm. */
const table: [freedom: number, probability: number, value: number][] = [
  [1, 0.05, 12.706],
  [4, 0.05, 2.776],
  [4, 0.01, 4.604],
  [9, 0.002, 4.297],
  [30, 0.05, 2.042],
];

for (const [freedom, probability, value] of table)
  test(`t of ${freedom} degrees of freedom is beyond ${value} with probability ${probability}`, () =>
    assert.ok(Math.abs(criticalT(freedom, probability) - value) < 0.001));

/** Pairs with a noise of up to 10 %, and a machine whose speed changes from pair to pair. */
function pairsOf(random: (below: number) => number, ratio: number, count: number): Pair[] {
  const noise = (): number => 0.9 + random(2001) / 10_000;
  return Array.from({ length: count }, () => {
    const speed = 1 + random(3);
    return { base: speed * noise(), now: speed * ratio * noise() };
  });
}

test("sees a slow-down and a gain of a third in nearly all runs", () => {
  const random = seededRandom(1);
  const critical = criticalT(5, 0.05 / 12);
  let seen = 0;
  for (let round = 0; round < 500; round++) {
    const slower = compare(pairsOf(random, 1.33, 6), critical);
    const faster = compare(pairsOf(random, 0.75, 6), critical);
    if (slower.verdict === "slower" && faster.verdict === "faster") seen++;
    assert.ok(slower.verdict !== "faster" && faster.verdict !== "slower");
  }
  assert.ok(seen > 450, `${seen} of 500`);
});

test("gives no verdict about equal costs, but for as many mistakes as accepted", () => {
  const random = seededRandom(2);
  const critical = criticalT(5, 0.05);
  let mistakes = 0;
  for (let round = 0; round < 2000; round++)
    if (compare(pairsOf(random, 1, 6), critical).verdict !== "no difference") mistakes++;
  assert.ok(mistakes > 50 && mistakes < 150, `${mistakes} of 2000, of which 100 are expected`);
});

test("the interval is that of the noise", () => {
  const { ratio, low, high } = compare(
    [
      { base: 1, now: 2 },
      { base: 2, now: 4 },
    ],
    12.7,
  );
  assert.deepEqual(
    [ratio, low, high].map((one) => one.toFixed(6)),
    ["2.000000", "2.000000", "2.000000"],
  );
});
