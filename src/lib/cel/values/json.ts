/**
 * Plain JSON as values, without copying: only the parts that an expression uses are converted.
 * Source: k8s.io/apiserver@v0.36.0/pkg/cel/common.
 */
import { NumberLiteral } from "../../json/number-literal.ts";
import { intOf } from "./int.ts";
import { PlainMap } from "./plain-map.ts";
import { CelDouble, CelList, type CelValue } from "./value.ts";

/**
 * Parsed JSON, with unsafe integers as bigint; doubles can be a NumberLiteral. Keys such as
 * `__proto__` are data.
 */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | NumberLiteral
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** Wraps JSON as a value. Whole numbers are ints, other numbers doubles. */
export function jsonValue(value: JsonValue): CelValue {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? (value === 0 ? 0 : value) : new CelDouble(value);
  if (typeof value === "bigint") return intOf(value) ?? new CelDouble(Number(value));
  if (value instanceof NumberLiteral) return new CelDouble(value.value);
  return Array.isArray(value) ? new JsonList(value) : new JsonMap(value as { readonly [key: string]: JsonValue });
}

/** A list over a JSON array. */
export class JsonList extends CelList {
  readonly #items: readonly JsonValue[];
  constructor(items: readonly JsonValue[]) {
    super();
    this.#items = items;
  }
  get size(): number {
    return this.#items.length;
  }
  at(index: number): CelValue {
    return this.read(this.#items[index] as JsonValue);
  }
  /** Converts an item to a value. */
  protected read(item: JsonValue): CelValue {
    return jsonValue(item);
  }
}

class JsonMap extends PlainMap {
  readonly #object: { readonly [key: string]: JsonValue };
  constructor(object: { readonly [key: string]: JsonValue }) {
    super();
    this.#object = object;
  }
  protected read(key: string): CelValue | undefined {
    const value = this.#member(key);
    return value === undefined ? undefined : jsonValue(value);
  }
  override has(key: CelValue): boolean {
    return this.#member(key) !== undefined;
  }
  /** Inherited properties are functions, except `__proto__`; both are excluded. */
  #member(key: CelValue): JsonValue | undefined {
    if (typeof key !== "string") return undefined;
    const value = this.#object[key];
    if (value === undefined || typeof value === "function") return undefined;
    return key === "__proto__" && !Object.hasOwn(this.#object, key) ? undefined : value;
  }
  protected listKeys(): readonly string[] {
    return Object.keys(this.#object);
  }
}
