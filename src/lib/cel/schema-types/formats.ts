/**
 * Strings whose format makes them another value, as upstream reads them: more than RFC 3339 and Go's durations allow.
 * Source: k8s.io/kube-openapi pkg/validation/strfmt
 */
import { DurationError, parseDuration } from "../../duration/duration.ts";
import { type CelFailure, fail } from "../values/failure.ts";
import { parseTimestamp } from "../values/time.ts";
import { CelDuration, CelTimestamp, type Result } from "../values/value.ts";
import { whyNoTime } from "./go-layout.ts";

/** Each gives a value or says what is wrong. */
export const stringFormats: ReadonlyMap<string, (text: string) => Result> = new Map([
  ["duration", durationOf],
  ["date", dateOf],
  ["date-time", dateTimeOf],
  ["byte", bytesOf],
]);

function bad(what: string, text: string, why: string): CelFailure {
  return fail(`Invalid ${what} ${text}: ${why}`);
}

function dateOf(text: string): Result {
  const parsed = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text) ? parseTimestamp(`${text}T00:00:00Z`) : undefined;
  return parsed instanceof CelTimestamp ? parsed : bad("date formatted string", text, whyNoTime(text, "2006-01-02"));
}

/** Without a zone it is UTC; an empty text is 1970. */
function dateTimeOf(text: string): Result {
  if (text === "") return new CelTimestamp(0n);
  const parsed = parseTimestamp(/Z$|[+-][0-9]{2}:[0-9]{2}$/.test(text) ? text : `${text}Z`);
  return parsed instanceof CelTimestamp
    ? parsed
    : bad("date-time formatted string", text, whyNoTime(text, "2006-01-02T15:04:05"));
}

const second = 1_000_000_000n;

/** In lower case. The last name of a unit may go on: `seconds`, `hours`. */
const units: readonly [nanoseconds: bigint, names: readonly string[]][] = [
  [1n, ["ns", "nano"]],
  [1_000n, ["us", "\u00b5s", "micro"]],
  [1_000_000n, ["ms", "milli"]],
  [second, ["s", "sec"]],
  [60n * second, ["m", "min"]],
  [3600n * second, ["h", "hr", "hour"]],
  [24n * 3600n * second, ["d", "day"]],
  [7n * 24n * 3600n * second, ["w", "wk", "week"]],
];

/** Go's durations, and `1 day 2 hours`. */
function durationOf(text: string): Result {
  try {
    return new CelDuration(parseDuration(text));
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
  }
  let total: bigint | undefined;
  for (const [, count, name] of text.matchAll(/([0-9]+)\s*([A-Za-z\u00b5]+)/g) as IterableIterator<
    [string, string, string]
  >) {
    const unit = name.toLowerCase();
    const matching = units.filter(([, names]) => names.includes(unit) || unit.startsWith(names.at(-1) as string));
    for (const [nanoseconds] of matching) total = BigInt.asIntN(64, (total ?? 0n) + BigInt(count) * nanoseconds);
  }
  return total === undefined ? bad("duration", text, `unable to parse ${text} as duration`) : new CelDuration(total);
}

/** Base64 with the alphabet of URLs, which is what upstream takes. */
function bytesOf(text: string): Result {
  const unbroken = text.replace(/[\r\n]/g, "");
  const bad64 = /[^A-Za-z0-9_-]/.exec(unbroken.replace(/={0,2}$/, ""));
  if (bad64 === null && unbroken.length % 4 === 0) return new Uint8Array(Buffer.from(unbroken, "base64url"));
  return bad(
    "byte formatted string",
    text,
    `illegal base64 data at input byte ${bad64?.index ?? unbroken.length - (unbroken.length % 4)}`,
  );
}
