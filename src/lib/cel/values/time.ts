/** Timestamps: range, RFC 3339 with the error messages of Go, and the calendar in a time zone. */
import { quoteGo } from "../../json/quote.ts";
import { formatNanoTime, layouts, parseGoTime, TimeError } from "../../schema/time.ts";
import { CelFailure, fail } from "./failure.ts";
import { CelTimestamp, type Result } from "./value.ts";

const nanosecondsPerSecond = 1_000_000_000n;
const first = -62_135_596_800n * nanosecondsPerSecond;
const last = 253_402_300_799n * nanosecondsPerSecond + 999_999_999n;

/** @returns a failure outside of year 1 to year 9999 */
export function checkedTimestamp(nanoseconds: bigint, offsetSeconds = 0): Result {
  if (nanoseconds < first || nanoseconds > last) return fail("timestamp overflow");
  return new CelTimestamp(nanoseconds, offsetSeconds);
}

/** Parses RFC 3339. @returns a failure with the message of Go's time.Parse */
export function parseTimestamp(text: string): Result {
  return timestampOf(text, layouts.seconds);
}

/** Parses a time by a layout of Go. @returns a failure with Go's message */
export function timestampOf(text: string, layout: Parameters<typeof parseGoTime>[1]): Result {
  try {
    const { ms, nanoseconds, offsetSeconds } = parseGoTime(text, layout);
    return checkedTimestamp(BigInt(ms) * 1_000_000n + BigInt(nanoseconds), offsetSeconds);
  } catch (error) {
    if (error instanceof TimeError) return fail(error.message);
    throw error;
  }
}

/** Formats like Go's RFC3339Nano, with the offset of the timestamp. */
export function formatTimestamp({ nanoseconds, offsetSeconds }: CelTimestamp): string {
  const fraction = ((nanoseconds % nanosecondsPerSecond) + nanosecondsPerSecond) % nanosecondsPerSecond;
  const seconds = Number((nanoseconds - fraction) / nanosecondsPerSecond);
  const text = formatNanoTime(seconds + offsetSeconds, Number(fraction));
  if (offsetSeconds === 0) return text;
  const minutes = Math.abs(offsetSeconds) / 60;
  const parts = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0"));
  return `${text.slice(0, -1)}${offsetSeconds < 0 ? "-" : "+"}${parts.join(":")}`;
}

/**
 * Returns a date whose UTC fields are the wall clock time in a zone.
 *
 * @param zone `UTC`, `Local` for the zone of the process, an IANA name, or `[+-]hh:mm`
 */
export function wallClock(timestamp: CelTimestamp, zone: string): Date | CelFailure {
  const ms = Number(
    (timestamp.nanoseconds - (((timestamp.nanoseconds % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n,
  );
  if (zone === "UTC" || zone === "") return new Date(ms);
  const colon = zone.indexOf(":");
  if (colon !== -1) {
    const [hours, minutes] = [atoi(zone.slice(0, colon)), atoi(zone.slice(colon + 1))];
    if (hours instanceof CelFailure) return hours;
    if (minutes instanceof CelFailure) return minutes;
    return new Date(ms + (hours * 60 + (zone.startsWith("-") ? -minutes : minutes)) * 60_000);
  }
  const format = zone === "Local" ? zoneFormat(new Intl.DateTimeFormat().resolvedOptions().timeZone) : zoneFormat(zone);
  if (format === undefined) return fail(`unknown time zone ${zone}`);
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const [year, month, day] = ["year", "month", "day"].map((part) => parts.get(part as "year")) as [
    number,
    number,
    number,
  ];
  const [hour, minute, second] = ["hour", "minute", "second"].map((part) => parts.get(part as "hour")) as [
    number,
    number,
    number,
  ];
  const whole = new Date(0).setUTCFullYear(year, month - 1, day) + ((hour * 60 + minute) * 60 + second) * 1000;
  return new Date(whole + (((ms % 1000) + 1000) % 1000));
}

/** Parses like Go's strconv.Atoi. A number above 1e9, beyond any offset, counts as out of range. */
function atoi(text: string): number | CelFailure {
  const failure = (why: string): CelFailure => fail(`strconv.Atoi: parsing ${quoteGo(text)}: ${why}`);
  if (!/^[+-]?[0-9]+$/.test(text)) return failure("invalid syntax");
  return Math.abs(Number(text)) <= 1e9 ? Number(text) : failure("value out of range");
}

/** Go finds only the spelling of the zone database; JavaScript ignores the case of letters. */
function differsInCase(written: string, canonical: string): boolean {
  return written !== canonical && written.toLowerCase() === canonical.toLowerCase();
}

/** Cached because creating a format is slow. There are about 600 zones. */
const formats = new Map<string, Intl.DateTimeFormat>();
const formatsMax = 1000;

function zoneFormat(zone: string): Intl.DateTimeFormat | undefined {
  const cached = formats.get(zone);
  if (cached !== undefined) return cached;
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]*$/.test(zone)) return undefined;
  const fields = {
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  } as const;
  try {
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      calendar: "iso8601",
      ...fields,
    });
    if (differsInCase(zone, format.resolvedOptions().timeZone)) return undefined;
    if (formats.size < formatsMax) formats.set(zone, format);
    return format;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
