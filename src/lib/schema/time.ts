/**
 * Parses times as Go does and formats them as Kubernetes does. Source: Go's package time, RFC3339.
 */
import { quoteTime } from "../json/quote.ts";
import { trimEndOf } from "../text/trim.ts";

/**
 * Text that is not a time. The message is Go's, such as `parsing time "x" as "2006-…": cannot parse
 * "x" as "2006"`.
 */
export class TimeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TimeError";
  }
}

const canonicalTime = /^(\d{4})-(\d\d)-(\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
const canonicalMicroTime = /^(\d{4})-(\d\d)-(\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/;

/**
 * Brings a time into canonical form.
 * @returns `2006-01-02T15:04:05Z`: UTC, whole seconds; undefined for Go's zero time
 * @throws TimeError
 */
export function canonicalizeTime(text: string): string | undefined {
  const match = canonicalTime.exec(text);
  if (match !== null && isDate(match)) return text === "0001-01-01T00:00:00Z" ? undefined : text;
  const { ms, nanoseconds } = parseGoTime(text, layouts.seconds);
  return ms === zeroMs && nanoseconds === 0 ? undefined : `${formatDate(ms)}Z`;
}

/**
 * Brings a time with microseconds into canonical form.
 * @returns `2006-01-02T15:04:05.000000Z`; undefined for Go's zero time
 * @throws TimeError
 */
export function canonicalizeMicroTime(text: string): string | undefined {
  const match = canonicalMicroTime.exec(text);
  if (match !== null && isDate(match)) return text === "0001-01-01T00:00:00.000000Z" ? undefined : text;
  const { ms, nanoseconds } = parseGoTime(text, layouts.microseconds);
  const micros = String(nanoseconds / 1000).padStart(6, "0");
  return ms === zeroMs && nanoseconds === 0 ? undefined : `${formatDate(ms)}.${micros}Z`;
}

/**
 * Parses a time.
 * @returns milliseconds since 1970, rounded down
 * @throws TimeError
 */
export function parseTimeMs(text: string): number {
  const { ms, nanoseconds } = parseGoTime(text, layouts.seconds);
  return ms + Math.floor(nanoseconds / 1_000_000);
}

/** Go's zero time. */
const zeroMs = Date.parse("0001-01-01T00:00:00Z");

function isDate([, year, month, day]: RegExpExecArray): boolean {
  const dayNumber = Number(day);
  if (dayNumber >= 1 && dayNumber <= 28) return month !== "00" && Number(month) <= 12;
  return (
    dayNumber >= 1 && Number(month) >= 1 && Number(month) <= 12 && dayNumber <= daysIn(Number(year), Number(month))
  );
}

function daysIn(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** Whole seconds; a zone may have moved the year out of four digits. */
function formatDate(ms: number): string {
  const date = new Date(ms);
  const year = date.getUTCFullYear();
  const yearText = year < 0 ? `-${String(-year).padStart(4, "0")}` : String(year).padStart(4, "0");
  const iso = date.toISOString();
  return yearText + iso.slice(iso.indexOf("-", 1), iso.indexOf("."));
}

/** Go's layouts of times. */
export const layouts = {
  seconds: "2006-01-02T15:04:05Z07:00",
  microseconds: "2006-01-02T15:04:05.000000Z07:00",
  withoutZone: "2006-01-02T15:04:05",
  date: "2006-01-02",
} as const;

type Layout = (typeof layouts)[keyof typeof layouts];

/** A time as it is written. */
interface ParsedTime {
  /** The whole second, as milliseconds since 1970. */
  readonly ms: number;
  /** After the second. */
  readonly nanoseconds: number;
  /** Of its zone, east of UTC; 0 without one. */
  readonly offsetSeconds: number;
}

/**
 * Parses a time as leniently as Go: the hour may have one digit, fractions of seconds any length.
 * @throws TimeError
 */
export function parseGoTime(text: string, layout: Layout): ParsedTime {
  return new TimeParser(text, layout).parse();
}

/** Parses one time. */
class TimeParser {
  readonly #text: string;
  readonly #layout: Layout;
  #rest: string;

  constructor(text: string, layout: Layout) {
    this.#text = text;
    this.#layout = layout;
    this.#rest = text;
  }

  parse(): ParsedTime {
    const year = this.#year();
    this.#skip("-");
    const month = this.#number("01", { digits: 2, min: 1, max: 12, name: "month" });
    this.#skip("-");
    const day = this.#number("02", { digits: 2, min: 0, max: 99, name: "day" });
    const time = this.#layout === layouts.date ? midnight : this.#time();
    if (this.#rest !== "") this.#fail(`: extra text: ${quoteTime(this.#rest)}`);
    if (day < 1 || day > daysIn(year, month)) this.#fail(": day out of range");
    const { secondOfDay, nanoseconds, offsetSeconds } = time;
    const dayMs = new Date(0).setUTCFullYear(year, month - 1, day);
    return { ms: dayMs + (secondOfDay - offsetSeconds) * 1000, nanoseconds, offsetSeconds };
  }

  #time(): typeof midnight {
    this.#skip("T");
    const hour = this.#number("15", { digits: 1, min: 0, max: 23, name: "hour" });
    this.#skip(":");
    const minute = this.#number("04", { digits: 2, min: 0, max: 59, name: "minute" });
    this.#skip(":");
    const second = this.#number("05", { digits: 2, min: 0, max: 59, name: "second" });
    const nanoseconds = this.#layout === layouts.microseconds ? this.#microseconds() : this.#fraction();
    const offsetSeconds = this.#layout === layouts.withoutZone ? 0 : this.#zone();
    return { secondOfDay: (hour * 60 + minute) * 60 + second, nanoseconds, offsetSeconds };
  }

  #year(): number {
    const digits = this.#rest.slice(0, 4);
    if (!/^\d{4}$/.test(digits)) this.#failParsing(this.#rest, "2006");
    this.#rest = this.#rest.slice(4);
    return Number(digits);
  }

  #skip(separator: string): void {
    if (!this.#rest.startsWith(separator)) this.#failParsing(this.#rest, separator);
    this.#rest = this.#rest.slice(1);
  }

  /** Parses two digits, or at least one if `digits` is 1. */
  #number(
    element: string,
    { digits, min, max, name }: { digits: 1 | 2; min: number; max: number; name: string },
  ): number {
    const found = /^\d\d?/.exec(this.#rest)?.[0] ?? "";
    if (found.length < digits) this.#failParsing(this.#rest, element);
    this.#rest = this.#rest.slice(found.length);
    const value = Number(found);
    if (value < min || value > max) this.#fail(`: ${name} out of range`);
    return value;
  }

  /** Parses a fraction, which Go accepts although the layout has none. */
  #fraction(): number {
    const found = /^[.,]\d+/.exec(this.#rest)?.[0];
    if (found === undefined) return 0;
    this.#rest = this.#rest.slice(found.length);
    return Number(found.slice(1, 10).padEnd(9, "0"));
  }

  #microseconds(): number {
    if (!/^[.,]\d{6}/.test(this.#rest)) this.#failParsing(this.#rest, ".000000");
    const micros = Number(this.#rest.slice(1, 7));
    this.#rest = this.#rest.slice(7);
    return micros * 1000;
  }

  /** @returns seconds east of UTC */
  #zone(): number {
    if (this.#rest.startsWith("Z")) {
      this.#rest = this.#rest.slice(1);
      return 0;
    }
    const [found, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)/.exec(this.#rest) ?? [];
    if (found === undefined) this.#failParsing(this.#rest, "Z07:00");
    this.#rest = this.#rest.slice(found.length);
    if (Number(hours) > 24) this.#fail(": time zone offset hour out of range");
    if (Number(minutes) > 60) this.#fail(": time zone offset minute out of range");
    const seconds = (Number(hours) * 60 + Number(minutes)) * 60;
    return sign === "-" && seconds > 0 ? -seconds : seconds;
  }

  #failParsing(value: string, element: string): never {
    const text = quoteTime(this.#text);
    const unread = value === this.#text ? text : quoteTime(value);
    throw new TimeError(
      `parsing time ${text} as ${quoteTime(this.#layout)}: cannot parse ${unread} as ${quoteTime(element)}`,
    );
  }

  #fail(why: string): never {
    throw new TimeError(`parsing time ${quoteTime(this.#text)}${why}`);
  }
}

const midnight = { secondOfDay: 0, nanoseconds: 0, offsetSeconds: 0 };

/**
 * Formats a time in UTC with up to nine digits of a second, like Go's RFC3339Nano.
 *
 * @param seconds since 1970, an integer in the years that a Date can hold
 * @param nanoseconds of the second, from 0 to 999,999,999
 */
export function formatNanoTime(seconds: number, nanoseconds: number): string {
  const digits = trimEndOf(String(nanoseconds).padStart(9, "0"), "0");
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}${digits === "" ? "" : `.${digits}`}Z`;
}
