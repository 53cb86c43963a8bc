/** Converts values to plain JSON, for patches and objects of policies. */
import {
  CelDouble,
  CelDuration,
  CelList,
  CelMap,
  CelTimestamp,
  CelUint,
  type CelValue,
  formatTimestamp,
  intOf,
  isInt,
  typeNameOf,
} from "../lib/cel/index.ts";
import { ObjectValue } from "./mutation-types.ts";

/** The value, such as a type, cannot be converted to JSON. */
class PlainValueError extends Error {
  constructor(value: CelValue) {
    super(`unable to convert ${typeNameOf(value)} to JSON`);
    this.name = "PlainValueError";
  }
}

/**
 * Converts a value to JSON. Unsafe integers become bigint, timestamps and durations text, bytes
 * base64.
 *
 * @throws PlainValueError for a value without a JSON form, such as a type
 */
export function plainValue(value: CelValue): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean" || isInt(value)) return value;
  if (value instanceof CelDouble) return value.value;
  if (value instanceof CelUint) return intOf(value.value) ?? value.value;
  if (value instanceof CelList) return Array.from({ length: value.size }, (_, at) => plainValue(value.at(at)));
  if (value instanceof CelMap) return objectOf(value.keys().map((key) => [keyText(key), value.find(key) as CelValue]));
  if (value instanceof ObjectValue) return objectOf([...value.fields]);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return `${Number(value.nanoseconds) / 1e9}s`;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  throw new PlainValueError(value);
}

/** Unlike assignment, `fromEntries` creates an own member for the key `__proto__`. */
function objectOf(entries: readonly (readonly [string, CelValue])[]): unknown {
  return Object.fromEntries(entries.map(([key, value]) => [key, plainValue(value)]));
}

function keyText(key: CelValue): string {
  if (typeof key === "string" || typeof key === "boolean" || isInt(key)) return String(key);
  if (key instanceof CelUint) return String(key.value);
  throw new PlainValueError(key);
}
