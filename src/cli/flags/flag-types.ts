/** The types of flags. `read` throws a FlagValueError that describes what is expected. */

import { parseBool } from "../../apimachinery/parse-bool.ts";
import { CsvError, parseCsv } from "../../lib/csv/csv.ts";
import { DurationError, formatDuration, parseDuration } from "../../lib/duration/duration.ts";
import { ipVersion } from "../../lib/ip-range/ip-version.ts";
import { formatPortRange, parsePortRange } from "../../lib/ip-range/port-range.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { formatQuantity, integerValue, parseQuantity, QuantityError } from "../../lib/quantity/quantity.ts";
import { FlagError, type FlagType, FlagValueError } from "./contract.ts";

/** A switch with a boolean in the forms of Go's strconv.ParseBool. */
export const bool: FlagType<boolean> = {
  value: "bool",
  ts: "boolean",
  isSwitch: true,
  read(text) {
    const value = parseBool(text);
    if (value === undefined) throw new FlagValueError(`strconv.ParseBool: parsing ${quoteGo(text)}: invalid syntax`);
    return value;
  },
};

/**
 * Any text.
 *
 * @param value what `--help` calls it
 * @param choices the values that the server accepts, which checks them
 */
export function text(value: string, choices?: readonly string[]): FlagType<string> {
  return { value, ts: "string", ...(choices !== undefined && { choices }), read: (one) => one };
}

/** One of several words. */
export function word<const Word extends string>(value: string, choices: readonly Word[]): FlagType<Word> {
  return {
    value,
    ts: choices.map((choice) => JSON.stringify(choice)).join(" | "),
    choices,
    read(one) {
      const found = choices.find((choice) => choice === one);
      if (found === undefined) throw new FlagValueError(`must be one of ${choices.join(", ")}`);
      return found;
    },
  };
}

/** Parses digits, as Go's strconv.ParseInt. @throws FlagValueError */
export function parseDigits(text: string, bits = 64): number {
  const problem = `strconv.ParseInt: parsing ${quoteGo(text)}`;
  if (!/^[+-]?\d+$/.test(text)) throw new FlagValueError(`${problem}: invalid syntax`);
  const [limit, number] = [2 ** (bits - 1), Number(text)];
  if (number < -limit || number >= limit) throw new FlagValueError(`${problem}: value out of range`);
  return number;
}

/** A port, as Go's strconv.ParseUint reads it. */
export const unsignedPort: FlagType<number> = {
  value: "port",
  read(text) {
    const problem = `strconv.ParseUint: parsing ${quoteGo(text)}`;
    if (!/^\d+$/.test(text)) throw new FlagValueError(`${problem}: invalid syntax`);
    if (Number(text) >= 2 ** 64) throw new FlagValueError(`${problem}: value out of range`);
    return Number(text);
  },
};

/**
 * A type with a further condition, whose error names the flag.
 *
 * @param problemOf the whole error of a value; undefined: none
 * @throws FlagError when such a value is read
 */
export function validated<T>(type: FlagType<T>, problemOf: (value: T) => string | undefined): FlagType<T> {
  return checked(type, (value) => {
    const problem = problemOf(value);
    if (problem !== undefined) throw new FlagError(problem);
  });
}

/** An integer within inclusive limits. */
export function integer({
  min = Number.MIN_SAFE_INTEGER,
  max = Number.MAX_SAFE_INTEGER,
  value = "int",
}: {
  readonly min?: number;
  readonly max?: number;
  readonly value?: string;
} = {}): FlagType<number> {
  return {
    value,
    ts: "number",
    read(text) {
      const number = parseDigits(text);
      if (number < min || number > max) throw new FlagValueError(`must be between ${min} and ${max}, inclusive`);
      return number;
    },
  };
}

/** A number with a fraction. */
export const float: FlagType<number> = {
  value: "float",
  ts: "number",
  read(text) {
    const problem = `strconv.ParseFloat: parsing ${quoteGo(text)}`;
    if (text.trim() === "" || Number.isNaN(Number(text))) throw new FlagValueError(`${problem}: invalid syntax`);
    if (!Number.isFinite(Number(text))) throw new FlagValueError(`${problem}: value out of range`);
    return Number(text);
  },
};

const nanosecondsOfMs = 1_000_000n;

/**
 * Parses a duration in Go's format, such as `1m30s`.
 *
 * @returns milliseconds
 * @throws FlagValueError
 */
export function durationMs(text: string): number {
  const ms = signedMs(text);
  if (ms < 0) throw new FlagValueError("must not be negative");
  return ms;
}

function signedMs(text: string): number {
  return Number(parsed(() => parseDuration(text), DurationError) / nanosecondsOfMs);
}

/** Milliseconds, as a duration that is not negative. */
export const duration: FlagType<number> = {
  value: "duration",
  ts: "number",
  read: (text) => durationMs(text),
  format: (ms) => formatDuration(BigInt(ms) * nanosecondsOfMs),
};

/** Milliseconds, as a duration. @param negative the whole error for a negative one */
export function durationType(negative: string): FlagType<number> {
  return validated({ ...duration, read: signedMs }, (ms) => (ms < 0 ? negative : undefined));
}

/** Milliseconds, also negative ones, which a check of several flags rejects. */
export const signedDuration: FlagType<number> = { ...duration, read: signedMs };

/** A number of bytes, or a quantity such as `256Mi`. */
export const byteCount: FlagType<number> = {
  value: "quantity",
  ts: "number",
  read(text) {
    const bytes = Number(integerValue(parsed(() => parseQuantity(text), QuantityError)));
    if (bytes <= 0 || !Number.isSafeInteger(bytes)) throw new FlagValueError("must be a positive number of bytes");
    return bytes;
  },
  format: (bytes) => formatQuantity({ mantissa: BigInt(bytes), exponent: 0, format: "BinarySI" }),
};

/** An IPv4 or IPv6 address. */
export const ipAddress: FlagType<string> = unlessEmpty(
  checked(text("ip"), (address) => {
    if (ipVersion(address) === 0) throw new FlagValueError(`failed to parse IP: ${quoteGo(address)}`);
  }),
);

/** Ranges of addresses, such as `10.0.0.0/24`, separated by commas. @param name in errors */
export function cidrs(name: string): FlagType<string> {
  return validated(text("cidrs"), (ranges) => {
    const wrong = ranges.split(",").findIndex((range) => !isCidr(range));
    return wrong < 0 ? undefined : `${name}[${wrong}] is not a valid cidr`;
  });
}

function isCidr(text: string): boolean {
  const [address = "", length = "", ...rest] = text.split("/");
  const bits = ipVersion(address) === 4 ? 32 : 128;
  return ipVersion(address) !== 0 && rest.length === 0 && /^\d{1,3}$/.test(length) && Number(length) <= bits;
}

/** A range of ports, normalized. */
export const portRange: FlagType<string> = {
  value: "range",
  ts: "string",
  read(text) {
    if (text.trim() === "") return undefined;
    const range = parsePortRange(text);
    if (typeof range === "string") throw new FlagValueError(range);
    return formatPortRange(range);
  },
};

/** A type with a further condition. @param check throws a FlagValueError */
export function checked<T>(type: FlagType<T>, check: (value: T) => void): FlagType<T> {
  return {
    ...type,
    read(text, before) {
      const value = type.read(text, before);
      if (value !== undefined) check(value);
      return value;
    },
  };
}

/** A type of which an empty text is as an unset flag. */
export function unlessEmpty<T>(type: FlagType<T>): FlagType<T> {
  return { ...type, read: (text, before) => (text === "" ? undefined : type.read(text, before)) };
}

/** The path of a file; empty for none. */
export const file: FlagType<string> = unlessEmpty(text("file"));

/** A comma-separated list, which further flags extend. @param value what `--help` calls it */
export function list(value: string): FlagType<readonly string[]> {
  return { ...listOf(value, (item) => item), ts: "readonly string[]" };
}

/** A comma-separated list of items that are parsed. @param parse throws a FlagValueError */
export function listOf<T>(value: string, parse: (item: string) => T): FlagType<readonly T[]> {
  return { value, read: (text, before = []) => [...before, ...stringSlice(text).map(parse)] };
}

/** A flag that is repeated, with one item each. @param parse throws a FlagValueError */
export function repeated<T>(value: string, parse: (text: string) => T): FlagType<readonly T[]> {
  return { value, read: (text, before = []) => [...before, parse(text)] };
}

/** A flag that is repeated, with one text each. */
export function texts(value: string): FlagType<readonly string[]> {
  return { ...repeated(value, String), ts: "readonly string[]" };
}

/** Comma-separated pairs as one text, which further flags extend. */
export const pairs: FlagType<string> = {
  value: "pairs",
  ts: "string",
  read: (text, before = "") => (before === "" ? text : `${before},${text}`),
};

/**
 * Parses a comma-separated list as pflag does: one line of CSV.
 * @throws FlagValueError
 */
export function stringSlice(text: string): readonly string[] {
  return parsed(() => parseCsv(text.split("\n", 1)[0] as string), CsvError)[0]?.fields ?? [];
}

/**
 * Returns what a parser returns.
 * @param known the class of its errors, whose messages are for the user
 * @throws FlagValueError
 */
export function parsed<T>(parse: () => T, known: new (...args: never[]) => Error): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof known) throw new FlagValueError(error.message);
    throw error;
  }
}
