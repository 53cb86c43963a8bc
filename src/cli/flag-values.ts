/** Parsers of flag values. Each throws a FlagValueError that describes what is expected. */
import { parseBool } from "../apimachinery/parse-bool.ts";
import { CsvError, parseCsv } from "../lib/csv/csv.ts";
import { DurationError, parseDuration } from "../lib/duration/duration.ts";
import { ipVersion } from "../lib/ip-range/ip-version.ts";
import { formatPortRange, parsePortRange } from "../lib/ip-range/port-range.ts";
import { integerValue, parseQuantity, QuantityError } from "../lib/quantity/quantity.ts";
import type { StorageMediaType } from "../registry/contract.ts";

/** A flag has an invalid value; the message is for the user. */
export class FlagValueError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "FlagValueError";
  }
}

/** A boolean in the forms of Go's strconv.ParseBool. */
export function boolValue(text: string): boolean {
  const value = parseBool(text);
  if (value === undefined)
    throw new FlagValueError(`strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`);
  return value;
}

/** An integer within inclusive limits. */
export function integerWithin(text: string, { min, max }: { min: number; max: number }): number {
  if (!/^[+-]?\d+$/.test(text))
    throw new FlagValueError(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  const value = Number(text);
  if (value < min || value > max) throw new FlagValueError(`must be between ${min} and ${max}, inclusive`);
  return value;
}

/**
 * A duration in Go's format, such as `1m30s`.
 * @param negative the error for a negative one
 * @returns milliseconds
 */
export function durationMs(text: string, negative = "must not be negative"): number {
  try {
    const nanoseconds = parseDuration(text);
    if (nanoseconds < 0n) throw new FlagValueError(negative);
    return Number(nanoseconds / 1_000_000n);
  } catch (error) {
    if (error instanceof DurationError) throw new FlagValueError(error.message);
    throw error;
  }
}

/** A number of bytes, or a quantity such as `256Mi`. */
export function byteCount(text: string): number {
  try {
    const bytes = Number(integerValue(parseQuantity(text)));
    if (bytes <= 0 || !Number.isSafeInteger(bytes)) throw new FlagValueError("must be a positive number of bytes");
    return bytes;
  } catch (error) {
    if (error instanceof QuantityError) throw new FlagValueError(error.message);
    throw error;
  }
}

/** Validates sizes of watch caches. @param text comma-separated `resource[.group]#size` */
export function checkWatchCacheSizes(text: string): void {
  for (const one of text === "" ? [] : text.split(",")) {
    const [, size, ...rest] = one.split("#");
    if (size === undefined || rest.length > 0) throw new FlagValueError(`invalid value of watch cache size: ${one}`);
    if (!/^[+-]?\d+$/.test(size)) throw new FlagValueError(`invalid size of watch cache size: ${one}`);
    if (Number(size) < 0) throw new FlagValueError(`watch cache size cannot be negative: ${one}`);
    if (Number(size) === 0) throw new FlagValueError(`the watch cache cannot be disabled: ${one}`);
  }
}

/** An IPv4 or IPv6 address. */
export function ipAddress(text: string): string {
  if (ipVersion(text) === 0) throw new FlagValueError(`failed to parse IP: ${JSON.stringify(text)}`);
  return text;
}

/** `10.0.0.0/24`: an address and the length of its network part. */
export function cidr(text: string): string {
  const [address = "", length = "", ...rest] = text.split("/");
  const bits = ipVersion(address) === 4 ? 32 : 128;
  const isCidr = ipVersion(address) !== 0 && rest.length === 0 && /^\d{1,3}$/.test(length) && Number(length) <= bits;
  if (!isCidr) throw new FlagValueError(`invalid CIDR address: ${text}`);
  return text;
}

/** A range of ports, normalized. @returns the default range for an empty text */
export function portRange(text: string): string {
  if (text.trim() === "") return "30000-32767";
  const range = parsePortRange(text);
  if (typeof range === "string") throw new FlagValueError(range);
  return formatPortRange(range);
}

/** One of several words. */
export function oneOf<const Word extends string>(text: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === text);
  if (found === undefined) throw new FlagValueError(`must be one of ${words.join(", ")}`);
  return found;
}

/** Media types of stored objects. */
export const storageMediaTypes = [
  "application/json",
  "application/vnd.kubernetes.protobuf",
  "application/yaml",
] as const;

/** A media type for stored objects; JSON if empty, as in upstream. */
export function storageMediaType(text: string): StorageMediaType {
  const found = storageMediaTypes.find((one) => one === (text || "application/json"));
  if (found === undefined) throw new FlagValueError(`invalid, allowed values: ${storageMediaTypes.join(", ")}`);
  return found;
}

/** Treats an empty text as an unset flag. */
export function unlessEmpty(text: string): string | undefined {
  return text === "" ? undefined : text;
}

/** A comma-separated list, parsed as pflag does: one line of CSV. */
export function stringSlice(text: string): readonly string[] {
  try {
    return parseCsv(text.split("\n", 1)[0] as string)[0]?.fields ?? [];
  } catch (error) {
    if (error instanceof CsvError) throw new FlagValueError(error.message);
    throw error;
  }
}
