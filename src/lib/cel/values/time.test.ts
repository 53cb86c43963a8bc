/** Timestamps in expressions: the texts that Go's time.Parse accepts, and its errors. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CelFailure } from "./failure.ts";
import { formatTimestamp, parseTimestamp } from "./time.ts";
import type { CelTimestamp } from "./value.ts";

const valid: readonly (readonly [text: string, formatted: string])[] = [
  ["2020-01-02T03:04:05Z", "2020-01-02T03:04:05Z"],
  ["2020-01-02T3:04:05Z", "2020-01-02T03:04:05Z"],
  ["2020-01-02T03:04:05,5+01:30", "2020-01-02T03:04:05.5+01:30"],
  ["2020-02-29T23:59:59.123456789-00:00", "2020-02-29T23:59:59.123456789Z"],
];

for (const [text, formatted] of valid) {
  test(`${text} is ${formatted}`, () => {
    assert.equal(formatTimestamp(parseTimestamp(text) as CelTimestamp), formatted);
  });
}

const layout = '"2006-01-02T15:04:05Z07:00"';
const invalid: readonly (readonly [text: string, message: string])[] = [
  ["x", `parsing time "x" as ${layout}: cannot parse "x" as "2006"`],
  ["2020-01-02", `parsing time "2020-01-02" as ${layout}: cannot parse "" as "T"`],
  ["2020-01-02T03:04:05", `parsing time "2020-01-02T03:04:05" as ${layout}: cannot parse "" as "Z07:00"`],
  ["2020-01-02T03:04:05Zx", 'parsing time "2020-01-02T03:04:05Zx": extra text: "x"'],
  ["2021-02-29T03:04:05Z", 'parsing time "2021-02-29T03:04:05Z": day out of range'],
  ["é", String.raw`parsing time "\xc3\xa9" as ${layout}: cannot parse "\xc3\xa9" as "2006"`],
];

for (const [text, message] of invalid) {
  test(`${text} is no timestamp`, () => {
    const failure = parseTimestamp(text);
    assert.ok(failure instanceof CelFailure);
    assert.equal(failure.message, message);
  });
}
