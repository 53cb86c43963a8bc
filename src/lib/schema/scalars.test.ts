import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalizeBase64 } from "./base64.ts";
import { canonicalizeMicroTime, canonicalizeTime, formatNanoTime } from "./time.ts";

type Expected = string | undefined | { error: string };

function check(what: string, run: () => unknown, expected: Expected): void {
  test(what, () => {
    if (typeof expected === "object") assert.throws(run, { message: expected.error });
    else assert.equal(run(), expected);
  });
}

const layout = '"2006-01-02T15:04:05Z07:00"';
const cannot = (text: string, rest: string, element: string): Expected => ({
  error: `parsing time "${text}" as ${layout}: cannot parse "${rest}" as "${element}"`,
});
const rejected = (text: string, why: string): Expected => ({ error: `parsing time "${text}": ${why}` });

/** Go's answers. */
const timeRows: [text: string, expected: Expected][] = [
  ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"],
  ["2020-02-29T23:59:59Z", "2020-02-29T23:59:59Z"],
  ["2020-01-01T00:00:00+01:00", "2019-12-31T23:00:00Z"],
  ["9999-12-31T23:59:59-05:00", "10000-01-01T04:59:59Z"],
  ["0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"],
  ["1969-12-31T23:59:59.9Z", "1969-12-31T23:59:59Z"],
  ["2020-01-01T00:00:00.123456789123Z", "2020-01-01T00:00:00Z"],
  ["2020-01-01T00:00:00,5Z", "2020-01-01T00:00:00Z"],
  ["2020-01-01T0:00:00Z", "2020-01-01T00:00:00Z"],
  ["2020-01-01T00:00:00+24:00", "2019-12-31T00:00:00Z"],
  ["0001-01-01T00:00:00Z", undefined],
  ["", cannot("", "", "2006")],
  ["2020-1-01T00:00:00Z", cannot("2020-1-01T00:00:00Z", "1-01T00:00:00Z", "01")],
  ["2020-01-01 00:00:00Z", cannot("2020-01-01 00:00:00Z", " 00:00:00Z", "T")],
  ["2020-01-01T00:00:00", cannot("2020-01-01T00:00:00", "", "Z07:00")],
  ["2020-01-01T00:00:00+1:00", cannot("2020-01-01T00:00:00+1:00", "+1:00", "Z07:00")],
  ["20é0", { error: `parsing time "20\\xc3\\xa90" as ${layout}: cannot parse "20\\xc3\\xa90" as "2006"` }],
  ["2020-13-01T00:00:00Z", rejected("2020-13-01T00:00:00Z", "month out of range")],
  ["2020-02-30T00:00:00Z", rejected("2020-02-30T00:00:00Z", "day out of range")],
  ["2019-02-29T00:00:00Z", rejected("2019-02-29T00:00:00Z", "day out of range")],
  ["2020-01-01T24:00:00Z", rejected("2020-01-01T24:00:00Z", "hour out of range")],
  ["2020-01-01T00:00:00+25:00", rejected("2020-01-01T00:00:00+25:00", "time zone offset hour out of range")],
  ["2020-01-01T00:00:00Zx", rejected("2020-01-01T00:00:00Zx", 'extra text: "x"')],
];

for (const [text, expected] of timeRows) check(`time ${text}`, () => canonicalizeTime(text), expected);

const microRows: [text: string, expected: Expected][] = [
  ["2020-01-01T00:00:00.000001Z", "2020-01-01T00:00:00.000001Z"],
  ["2020-01-01T00:00:00.500000+01:00", "2019-12-31T23:00:00.500000Z"],
  ["0001-01-01T00:00:00.000000Z", undefined],
  [
    "2020-01-01T00:00:00Z",
    {
      error: 'parsing time "2020-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
    },
  ],
];

for (const [text, expected] of microRows) check(`micro time ${text}`, () => canonicalizeMicroTime(text), expected);

const illegal = (at: number): Expected => ({ error: `illegal base64 data at input byte ${at}` });

const base64Rows: [text: string, expected: Expected][] = [
  ["", ""],
  ["YWJj", "YWJj"],
  ["YWI=", "YWI="],
  ["YQ==", "YQ=="],
  ["YW\nJj\r\n", "YWJj"],
  ["YR==", "YQ=="],
  ["YQ=\n=", "YQ=="],
  ["!", illegal(0)],
  ["YW-j", illegal(2)],
  ["YQ", illegal(0)],
  ["YQ=", illegal(3)],
  ["YQ=a", illegal(2)],
  ["YQ==YQ==", illegal(4)],
  ["====", illegal(0)],
  ["Y===", illegal(1)],
  ["YWJ", illegal(0)],
];

for (const [text, expected] of base64Rows)
  check(`base64 ${JSON.stringify(text)}`, () => canonicalizeBase64(text), expected);

const nanoTimes: [seconds: number, nanoseconds: number, expected: string][] = [
  [0, 0, "1970-01-01T00:00:00Z"],
  [1, 1, "1970-01-01T00:00:01.000000001Z"],
  [-1, 500_000_000, "1969-12-31T23:59:59.5Z"],
];
for (const [seconds, nanoseconds, expected] of nanoTimes)
  check(`time of ${seconds} s and ${nanoseconds} ns`, () => formatNanoTime(seconds, nanoseconds), expected);
