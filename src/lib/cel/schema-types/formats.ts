/**
 * Strings with a format that gives them another type. As in Kubernetes, more texts are valid than
 * in RFC 3339 and for Go's durations. Source: k8s.io/kube-openapi, pkg/validation/strfmt
 */
import { DurationError, parseDuration } from "../../duration/duration.ts";
import { quoteGo } from "../../json/quote.ts";
import { layouts } from "../../schema/time.ts";
import { clampedInteger } from "../../text/integer.ts";
import { CelFailure, fail } from "../values/failure.ts";
import { parseTimestamp, timestampOf } from "../values/time.ts";
import { CelDuration, CelTimestamp, type Result } from "../values/value.ts";

/** Parsers by format; each returns a value or a failure. */
export const stringFormats: ReadonlyMap<string, (text: string) => Result> = new Map([
  ["duration", durationOf],
  ["date", dateOf],
  ["date-time", dateTimeOf],
  ["byte", bytesOf],
]);

function invalid(description: string, text: string, why: string): CelFailure {
  return fail(`Invalid ${description} ${text}: ${why}`);
}

function dateOf(text: string): Result {
  const date = timestampOf(text, layouts.date);
  return date instanceof CelFailure ? invalid("date formatted string", text, date.message) : date;
}

/** The default zone is UTC; an empty text is the Unix epoch. */
function dateTimeOf(text: string): Result {
  if (text === "") return new CelTimestamp(0n);
  const time = parseTimestamp(text);
  if (!(time instanceof CelFailure)) return time;
  const local = timestampOf(text, layouts.withoutZone);
  return local instanceof CelFailure ? invalid("date-time formatted string", text, local.message) : local;
}

const second = 1_000_000_000n;
const largestInteger = 2n ** 63n - 1n;

/** In lower case. A suffix can follow the last name of a unit: `seconds`, `hours`. */
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

/** Parses Go's durations, and texts such as `1 day 2 hours`. */
function durationOf(text: string): Result {
  try {
    return new CelDuration(parseDuration(text));
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
  }
  let total: bigint | undefined;
  // A number without a unit matches, too: otherwise the search starts again at each of its digits.
  for (const [, count = "", name] of text.matchAll(/([0-9]+)(?:\s*([A-Za-z\u00b5]+))?/g)) {
    if (name === undefined) continue;
    const factor = clampedInteger(count);
    if (factor > largestInteger)
      return invalid("duration", text, `strconv.Atoi: parsing ${quoteGo(count)}: value out of range`);
    const unit = name.toLowerCase();
    const matching = units.filter(([, names]) => names.includes(unit) || unit.startsWith(names.at(-1) as string));
    for (const [nanoseconds] of matching) total = BigInt.asIntN(64, (total ?? 0n) + factor * nanoseconds);
  }
  return total === undefined
    ? invalid("duration", text, `unable to parse ${text} as duration`)
    : new CelDuration(total);
}

/** Decodes base64 with the URL alphabet, as Kubernetes does. */
function bytesOf(text: string): Result {
  const unbroken = text.replace(/[\r\n]/g, "");
  const badCharacter = /[^A-Za-z0-9_-]/.exec(unbroken.replace(/={0,2}$/, ""));
  if (badCharacter === null && unbroken.length % 4 === 0) return new Uint8Array(Buffer.from(unbroken, "base64url"));
  return invalid(
    "byte formatted string",
    text,
    `illegal base64 data at input byte ${badCharacter?.index ?? unbroken.length - (unbroken.length % 4)}`,
  );
}
