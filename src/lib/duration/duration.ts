/**
 * Go durations (`1m30s`), and the short ages that `kubectl get` shows. Durations are nanoseconds,
 * as bigint.
 */
import { quoteTime } from "../json/quote.ts";
import { trimEndOf, trimStartOf } from "../text/trim.ts";

/** Text that is not a duration. The message is Go's, such as `time: invalid duration "x"`. */
export class DurationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DurationError";
  }
}

const unitNanoseconds = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  ["\u00b5s", 1_000n],
  ["\u03bcs", 1_000n],
  ["ms", 1_000_000n],
  ["s", 1_000_000_000n],
  ["m", 60_000_000_000n],
  ["h", 3_600_000_000_000n],
]);

const largest = 2n ** 63n;

/**
 * Parses a duration. Source: Go's time.ParseDuration
 * @returns nanoseconds
 * @throws DurationError
 */
export function parseDuration(text: string): bigint {
  const negative = text.startsWith("-");
  const unsigned = text.replace(/^[-+]/, "");
  if (unsigned === "0") return 0n;
  const invalid = (): never => {
    throw new DurationError(`time: invalid duration ${quoteTime(text)}`);
  };
  if (unsigned === "") invalid();
  let total = 0n;
  for (let at = 0; at < unsigned.length; ) {
    const whole = digitsAt(unsigned, at);
    at += whole.length;
    const hasPoint = unsigned[at] === ".";
    const fraction = hasPoint ? digitsAt(unsigned, at + 1) : "";
    if (hasPoint) at += 1 + fraction.length;
    if (whole === "" && fraction === "") invalid();
    const digits = trimStartOf(whole, "0");
    if (digits.length > nanosecondDigitsMax) invalid();
    const unit = unitAt(unsigned, at);
    at += unit.length;
    if (unit === "") throw new DurationError(`time: missing unit in duration ${quoteTime(text)}`);
    const nanoseconds = unitNanoseconds.get(unit);
    if (nanoseconds === undefined)
      throw new DurationError(`time: unknown unit ${quoteTime(unit)} in duration ${quoteTime(text)}`);
    if (digits !== "") total += BigInt(digits) * nanoseconds;
    if (fraction !== "") total += fractionOf(fraction, nanoseconds);
    if (total > largest) invalid();
  }
  if (negative) return -total;
  return total > largest - 1n ? invalid() : total;
}

/** The number of digits of `largest`. */
const nanosecondDigitsMax = 19;

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9";
}

function digitsAt(text: string, start: number): string {
  let end = start;
  while (end < text.length && isDigit(text[end] as string)) end++;
  return text.slice(start, end);
}

function unitAt(text: string, start: number): string {
  let end = start;
  while (end < text.length && text[end] !== "." && !isDigit(text[end] as string)) end++;
  return text.slice(start, end);
}

/** The value of a fraction. As in Go, digits beyond an int64 are ignored. */
function fractionOf(digits: string, nanoseconds: bigint): bigint {
  const counted = digits.slice(0, 18);
  return (BigInt(counted) * nanoseconds) / 10n ** BigInt(counted.length);
}

/** Formats a duration: `1h0m30.5s`, `100ms`, `0s`. Source: Go's Duration.String */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return "0s";
  const sign = nanoseconds < 0n ? "-" : "";
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (size < 1_000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size, 3)}\u00b5s`;
  if (size < 1_000_000_000n) return `${sign}${decimal(size, 6)}ms`;
  const minutes = size / 60_000_000_000n;
  const seconds = decimal(size % 60_000_000_000n, 9);
  if (minutes === 0n) return `${sign}${seconds}s`;
  if (minutes < 60n) return `${sign}${minutes}m${seconds}s`;
  return `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}s`;
}

/** Formats a number with its last digits after a point, without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const digits = String(value).padStart(places + 1, "0");
  const fraction = trimEndOf(digits.slice(-places), "0");
  return digits.slice(0, -places) + (fraction === "" ? "" : `.${fraction}`);
}

/**
 * Formats an age as `kubectl get` shows it: `45s`, `3m12s`, `3h12m`, `5d`, `2y45d`.
 * Source: apimachinery's HumanDuration
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return pair(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return pair(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (hours < 24 * 8) return pair(days, "d", hours % 24, "h");
  const years = Math.trunc(days / 365);
  if (years < 2) return `${days}d`;
  return years < 8 ? pair(years, "y", days % 365, "d") : `${years}y`;
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}
