import assert from "node:assert/strict";
import { test } from "node:test";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import {
  addQuantities,
  asApproximateFloat,
  asInteger,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  integerValue,
  milliValue,
  parseQuantity,
  type Quantity,
  subtractQuantities,
} from "./quantity.ts";

const formatWrong = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const suffixWrong = "unable to parse quantity's suffix";

/** Results of k8s.io/apimachinery v0.36. */
const canonicalRows: [text: string | number, want: string | { error: string }][] = [
  ["0", "0"],
  ["-0", "0"],
  ["0Ki", "0"],
  ["1", "1"],
  ["1000m", "1"],
  ["1500m", "1500m"],
  ["1.5", "1500m"],
  ["1.500", "1.500"],
  ["0.5", "500m"],
  ["007", "007"],
  ["+5", "+5"],
  ["1000", "1k"],
  ["1000k", "1M"],
  ["100e3", "100e3"],
  ["100000e0", "100e3"],
  ["1E", "1E"],
  ["1E3", "1E3"],
  ["1000E", "1"],
  ["1e100", "10e99"],
  ["1e1000000000", "10e999999999"],
  ["1e-20", "1e-9"],
  ["0.1n", "1n"],
  ["-0.1n", "-1n"],
  ["1.5n", "2n"],
  ["1Ki", "1Ki"],
  ["1024Ki", "1Mi"],
  ["1023Ki", "1023Ki"],
  ["1.5Gi", "1536Mi"],
  ["0.5Ki", "512"],
  ["0.1Ki", "102400m"],
  ["3.999Mi", "4193255424m"],
  ["8Ei", "9223372036854775807"],
  ["9223372036854775808", "9223372036854775808"],
  ["12345678901234567890123", "12345678901234567890123"],
  [".", "0"],
  ["5.", "5."],
  ["e5", "0"],
  [2, "2"],
  [0.5, "500m"],
  [" 12 ", "12"],
  ["", { error: formatWrong }],
  ["a", { error: formatWrong }],
  ["1".repeat(1025), { error: formatWrong }],
  ["--1", { error: suffixWrong }],
  ["1.2.3", { error: formatWrong }],
  ["1Mi x", { error: formatWrong }],
  ["1e", { error: suffixWrong }],
  ["1K", { error: suffixWrong }],
  ["1Zi", { error: formatWrong }],
  ["1mm", { error: suffixWrong }],
  ["Pi", { error: "unable to parse numeric part of quantity" }],
];

for (const [text, want] of canonicalRows) {
  test(`canonical ${JSON.stringify(text)}`, () => {
    if (typeof want === "string") assert.equal(canonicalQuantity(text), want);
    else assert.throws(() => canonicalQuantity(text), { name: "QuantityError", message: want.error });
  });
}

const arithmeticRows: [a: string, b: string, sum: string, difference: string, order: number][] = [
  ["1", "500m", "1500m", "500m", 1],
  ["1Gi", "1Mi", "1025Mi", "1023Mi", 1],
  ["0", "1Ki", "1Ki", "-1Ki", -1],
  ["100m", "0", "100m", "100m", 1],
  ["-1", "1", "0", "-2", -1],
  ["1000m", "1", "2", "0", 0],
  ["1e1000000000", "1", "10e999999999", "10e999999999", 1],
  ["1k", "1Ki", "2024", "-24", -1],
];

for (const [a, b, sum, difference, order] of arithmeticRows) {
  test(`${a} and ${b}`, () => {
    const [left, right] = [parseQuantity(a), parseQuantity(b)];
    assert.deepEqual(
      [
        formatQuantity(addQuantities(left, right)),
        formatQuantity(subtractQuantities(left, right)),
        compareQuantities(left, right),
      ],
      [sum, difference, order],
    );
    assert.equal(compareQuantities(right, left), order === 0 ? 0 : -order);
  });
}

test(`comparisons agree with whole numbers of nanos (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  const quantity = (): Quantity => {
    const digits = 1n + BigInt(random(1_000_000_000)) * (random(2) === 0 ? 1n : BigInt(1 + random(1_000_000_000)));
    const near = [digits, 2n ** 53n + BigInt(random(3)) - 1n, 10n ** BigInt(random(16))][random(3)] as bigint;
    return { mantissa: random(2) === 0 ? near : -near, exponent: random(30) - 9, format: "DecimalSI" };
  };
  const nanos = ({ mantissa, exponent }: Quantity): bigint => mantissa * 10n ** BigInt(exponent + 9);
  for (let round = 0; round < 5000; round++) {
    const [left, right] = [quantity(), quantity()];
    const order = nanos(left) < nanos(right) ? -1 : Number(nanos(left) > nanos(right));
    assert.equal(compareQuantities(left, right), order, `${nanos(left)} and ${nanos(right)}`);
  }
});

const numberRows: [
  text: string,
  integer: number | bigint | undefined,
  value: number | bigint,
  milli: number | bigint,
  float: number,
][] = [
  ["0", 0, 0, 0, 0],
  ["1500m", undefined, 2, 1500, 1.5],
  ["-1500m", undefined, -2, -1500, -1.5],
  ["1n", undefined, 1, 1, 1e-9],
  ["2k", 2000, 2000, 2_000_000, 2000],
  ["1Gi", 2 ** 30, 2 ** 30, 2 ** 30 * 1000, 2 ** 30],
  ["9223372036854775807", 2n ** 63n - 1n, 2n ** 63n - 1n, 2n ** 63n - 1n, 2 ** 63],
  ["1e1000000000", undefined, 2n ** 63n - 1n, 2n ** 63n - 1n, Number.POSITIVE_INFINITY],
  ["-1e1000000000", undefined, -(2n ** 63n - 1n), -(2n ** 63n - 1n), Number.NEGATIVE_INFINITY],
];

for (const [text, integer, value, milli, float] of numberRows) {
  test(`numbers of ${text}`, () => {
    const quantity = parseQuantity(text);
    assert.deepEqual(
      [asInteger(quantity), integerValue(quantity), milliValue(quantity), asApproximateFloat(quantity)],
      [integer, value, milli, float],
    );
  });
}
