/** Values as plain JSON, for what policies make: patches and parts of objects. */
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
import { WrittenObject } from "./mutation-types.ts";

/** A value that JSON has no form for, such as a type. */
export class NoPlainValue extends Error {
  constructor(value: CelValue) {
    super(`unable to convert ${typeNameOf(value)} to JSON`);
    this.name = "NoPlainValue";
  }
}

/** Integers stay exact, as bigint beyond the safe ones; times and durations are text, bytes base64. @throws NoPlainValue */
export function plainValue(value: CelValue): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean" || isInt(value)) return value;
  if (value instanceof CelDouble) return value.value;
  if (value instanceof CelUint) return intOf(value.value) ?? value.value;
  if (value instanceof CelList) return Array.from({ length: value.size }, (_, at) => plainValue(value.at(at)));
  if (value instanceof CelMap) return objectOf(value.keys().map((key) => [keyText(key), value.find(key) as CelValue]));
  if (value instanceof WrittenObject) return objectOf([...value.fields]);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return `${Number(value.nanoseconds) / 1e9}s`;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  throw new NoPlainValue(value);
}

/** `__proto__` is a key like others. */
function objectOf(entries: readonly (readonly [string, CelValue])[]): unknown {
  return Object.fromEntries(entries.map(([key, value]) => [key, plainValue(value)]));
}

function keyText(key: CelValue): string {
  if (typeof key === "string" || typeof key === "boolean" || isInt(key)) return String(key);
  if (key instanceof CelUint) return String(key.value);
  throw new NoPlainValue(key);
}
