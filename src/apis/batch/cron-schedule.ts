/**
 * Validates the schedule of a CronJob: five fields, or a descriptor such as `@daily`.
 *
 * Source: github.com/robfig/cron/v3@v3.0.1/parser.go, ParseStandard
 */

import { DurationError, parseDuration } from "../../lib/duration/duration.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { isTimeZone } from "./time-zones.ts";

interface Bounds {
  readonly min: number;
  readonly max: number;
  /** Names of the values, starting with `min`. */
  readonly names: readonly string[];
}

const fieldBounds: readonly Bounds[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"] },
  { min: 0, max: 6, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
];

const descriptors = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
const every = "@every ";

const space = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;
const leadingSpace = new RegExp(`^${space.source}`);

class ScheduleError extends Error {
  override name = "ScheduleError";
}

/**
 * @param text not empty
 * @returns the message of upstream's parser; undefined for a valid schedule
 */
export function scheduleProblem(text: string): string | undefined {
  try {
    parseSchedule(text);
    return undefined;
  } catch (error) {
    if (error instanceof ScheduleError) return error.message;
    throw error;
  }
}

function parseSchedule(text: string): void {
  const rest = text.startsWith("TZ=") || text.startsWith("CRON_TZ=") ? withoutZone(text) : text;
  if (rest.startsWith("@")) return parseDescriptor(rest);
  const fields = rest.split(space).filter((field) => field !== "");
  if (fields.length !== fieldBounds.length)
    throw new ScheduleError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`);
  for (const [index, bounds] of fieldBounds.entries()) {
    for (const range of (fields[index] as string).split(",")) if (range !== "") parseRange(range, bounds);
  }
}

function withoutZone(text: string): string {
  const end = text.indexOf(" ");
  if (end < 0) throw new ScheduleError("invalid schedule format: runtime error: slice bounds out of range [:-1]");
  const zone = text.slice(text.indexOf("=") + 1, end);
  const problem = zoneProblem(zone);
  if (problem !== undefined) throw new ScheduleError(`provided bad location ${zone}: ${problem}`);
  return text.slice(end).replace(leadingSpace, "");
}

/** @returns the message of Go's `time.LoadLocation`; undefined for a time zone that exists */
export function zoneProblem(zone: string): string | undefined {
  if (zone === "" || zone === "Local" || isTimeZone(zone)) return undefined;
  return zone.split(/[/\\]/).includes("..") || /^[/\\]/.test(zone)
    ? "time: invalid location name"
    : `unknown time zone ${zone}`;
}

function parseDescriptor(text: string): void {
  if (descriptors.includes(text)) return;
  if (!text.startsWith(every)) throw new ScheduleError(`unrecognized descriptor: ${text}`);
  try {
    parseDuration(text.slice(every.length));
  } catch (error) {
    if (error instanceof DurationError) throw new ScheduleError(`failed to parse duration ${text}: ${error.message}`);
    throw error;
  }
}

/** Parses `5`, `1-5`, `*` or `mon-fri`, each with an optional step after a slash. */
function parseRange(text: string, bounds: Bounds): void {
  const [range = "", ...steps] = text.split("/");
  const [low = "", ...highs] = range.split("-");
  let [start, end] = [BigInt(bounds.min), BigInt(bounds.max)];
  if (low !== "*" && low !== "?") {
    start = parseValue(low, bounds);
    if (highs.length > 1) throw new ScheduleError(`too many hyphens: ${text}`);
    end = highs[0] === undefined ? start : parseValue(highs[0], bounds);
  }
  if (steps.length > 1) throw new ScheduleError(`too many slashes: ${text}`);
  const step = steps[0] === undefined ? 1n : parseNumber(steps[0]);
  if (steps.length === 1 && highs.length === 0) end = BigInt(bounds.max);
  if (start < bounds.min)
    throw new ScheduleError(`beginning of range (${start}) below minimum (${bounds.min}): ${text}`);
  if (end > bounds.max) throw new ScheduleError(`end of range (${end}) above maximum (${bounds.max}): ${text}`);
  if (start > end) throw new ScheduleError(`beginning of range (${start}) beyond end of range (${end}): ${text}`);
  if (step === 0n) throw new ScheduleError(`step of range should be a positive number: ${text}`);
}

function parseValue(text: string, { min, names }: Bounds): bigint {
  const index = names.indexOf(text.toLowerCase());
  return index < 0 ? parseNumber(text) : BigInt(min + index);
}

/** Longer numbers are rejected without being parsed; an int64 has at most 19 digits. */
const digitsMax = 400;

function parseNumber(text: string): bigint {
  if (!/^[+-]?[0-9]+$/.test(text))
    throw new ScheduleError(`failed to parse int from ${text}: strconv.Atoi: parsing ${quoteGo(text)}: invalid syntax`);
  const number = text.length > digitsMax ? undefined : BigInt(text.replace("+", ""));
  if (number === undefined || BigInt.asIntN(64, number) !== number) {
    throw new ScheduleError(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${quoteGo(text)}: value out of range`,
    );
  }
  if (number < 0n) throw new ScheduleError(`negative number (${number}) not allowed: ${text}`);
  return number;
}
