/** Formats of dates, times and durations. Source: k8s.io/kube-openapi pkg/validation/strfmt */
import { DurationError, parseDuration } from "../../duration/duration.ts";
import { clampedInteger } from "../../text/integer.ts";

/** Whether the text is a date such as `2006-01-02`. */
export function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return (
    date.getUTCMonth() === Number(month) - 1 &&
    date.getUTCDate() === Number(day) &&
    date.getUTCFullYear() === Number(year)
  );
}

/**
 * Whether the text is a time by RFC 3339, in either case, with a zone and without a leap second.
 */
export function isDateTime(text: string): boolean {
  const [date = "", time] = text.toLowerCase().split("t");
  if (time === undefined || !isDate(date)) return false;
  const [, hour = "", minute = "", second = ""] =
    /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/.exec(time) ?? [];
  return hour !== "" && hour <= "23" && minute <= "59" && second <= "59";
}

/** Names of units, then prefixes of names. */
const units = /^(?:ns|us|\u00b5s|ms|s|m|h|hr|d|w|wk)$|^(?:nano|micro|milli|sec|min|hour|day|week)/;

/**
 * Whether the text is a Go duration, or contains a duration in the syntax of Scala, such as `3
 * weeks`.
 */
export function isDuration(text: string): boolean {
  if (isGoDuration(text)) return true;
  let any = false;
  // A number without a unit matches, too: otherwise the search starts again at each of its digits.
  for (const [, digits = "", unit] of text.matchAll(/([0-9]+)(?:[\t\n\f\r ]*([A-Za-z\u00b5]+))?/g)) {
    if (unit === undefined) continue;
    if (digits.length >= largestDigits && clampedInteger(digits) > largestInteger) return false;
    any ||= units.test(unit.toLowerCase());
  }
  return any;
}

const largestInteger = 2n ** 63n - 1n;
const largestDigits = String(largestInteger).length;

function isGoDuration(text: string): boolean {
  try {
    parseDuration(text);
    return true;
  } catch (error) {
    if (error instanceof DurationError) return false;
    throw error;
  }
}
