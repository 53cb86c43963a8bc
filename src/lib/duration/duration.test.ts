import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDuration, humanDuration, parseDuration } from "./duration.ts";

const durationRows: [text: string, want: string | { error: string }][] = [
  ["0", "0s"],
  ["-0", "0s"],
  ["1s", "1s"],
  ["1m30s", "1m30s"],
  ["90s", "1m30s"],
  ["1.5h", "1h30m0s"],
  ["-3h", "-3h0m0s"],
  [".5s", "500ms"],
  ["1.s", "1s"],
  ["100us", "100\u00b5s"],
  ["1500ns", "1.5\u00b5s"],
  ["2562047h47m16.854775807s", "2562047h47m16.854775807s"],
  ["-2562047h47m16.854775808s", "-2562047h47m16.854775808s"],
  ["2562047h47m16.854775808s", { error: 'time: invalid duration "2562047h47m16.854775808s"' }],
  ["99999999999999999999h", { error: 'time: invalid duration "99999999999999999999h"' }],
  ["000000000000000000000000001s", "1s"],
  ["", { error: 'time: invalid duration ""' }],
  ["-", { error: 'time: invalid duration "-"' }],
  ["x", { error: 'time: invalid duration "x"' }],
  [".s", { error: 'time: invalid duration ".s"' }],
  ["1", { error: 'time: missing unit in duration "1"' }],
  ["1d", { error: 'time: unknown unit "d" in duration "1d"' }],
];

for (const [text, want] of durationRows) {
  test(`duration ${JSON.stringify(text)}`, () => {
    if (typeof want === "string") assert.equal(formatDuration(parseDuration(text)), want);
    else assert.throws(() => parseDuration(text), { name: "DurationError", message: want.error });
  });
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const ageRows: [ms: number, want: string][] = [
  [-2 * second, "<invalid>"],
  [-1 * second, "0s"],
  [0, "0s"],
  [119 * second, "119s"],
  [2 * minute, "2m"],
  [9 * minute + 59 * second, "9m59s"],
  [10 * minute, "10m"],
  [179 * minute, "179m"],
  [3 * hour, "3h"],
  [3 * hour + 12 * minute, "3h12m"],
  [8 * hour + 30 * minute, "8h"],
  [47 * hour, "47h"],
  [48 * hour, "2d"],
  [50 * hour, "2d2h"],
  [8 * day, "8d"],
  [729 * day, "729d"],
  [730 * day, "2y"],
  [775 * day, "2y45d"],
  [8 * 365 * day, "8y"],
];

for (const [ms, want] of ageRows) {
  test(`age of ${ms} ms`, () => assert.equal(humanDuration(ms), want));
}
