/**
 * Converts tagged times to text. Source: Go's package time; fxamacker/cbor's TimeTagToRFC3339Nano.
 */
import { canonicalizeTime, formatNanoTime, TimeError } from "../schema/time.ts";
import { trimEndOf } from "../text/trim.ts";
import { CborError } from "./wire.ts";

/**
 * Converts the text of a time to the form that Go writes, in the same zone.
 * @throws CborError
 */
export function dateOfText(text: string): string {
  try {
    canonicalizeTime(text);
  } catch (error) {
    if (error instanceof TimeError) throw new CborError(`cbor: cannot set ${text} for time.Time: ${error.message}`);
    throw error;
  }
  const [, date = "", hour = "", rest = "", fraction = "", zone = ""] =
    /^([^T]*)T(\d\d?)(:\d\d:\d\d)(?:[.,](\d+))?([Z+-].*)$/.exec(text) ?? [];
  const digits = trimEndOf(fraction.slice(0, 9), "0");
  return `${date}T${hour.padStart(2, "0")}${rest}${digits === "" ? "" : `.${digits}`}${/^[+-]00:00$/.test(zone) ? "Z" : zone}`;
}

/**
 * Converts a Unix time to text.
 * @param seconds since 1970
 * @throws CborError
 */
export function dateOfEpoch(seconds: number): string {
  const whole = Math.trunc(seconds);
  const nanoseconds = Math.trunc((seconds - whole) * 1e9);
  const second = nanoseconds < 0 ? whole - 1 : whole;
  const year = new Date(second * 1000).getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) {
    const why = "Time.MarshalText: year outside of range [0,9999]";
    throw new CborError(`cbor: decoded time cannot be represented in RFC3339 format with sub-second precision: ${why}`);
  }
  return formatNanoTime(second, nanoseconds < 0 ? nanoseconds + 1e9 : nanoseconds);
}
