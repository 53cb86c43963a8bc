/** Plain JSON values, read where they lie: nothing is copied, and nothing is looked at that an expression does not look at. */
import { intOf } from "./int.ts";
import { CelDouble, CelList, CelMap, type CelValue } from "./value.ts";

/** What `JSON.parse` gives, integers beyond the safe ones as bigint. Keys such as `__proto__` are data. */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** Whole numbers are ints, others doubles. */
export function jsonValue(value: JsonValue): CelValue {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? (value === 0 ? 0 : value) : new CelDouble(value);
  if (typeof value === "bigint") return intOf(value) ?? new CelDouble(Number(value));
  return Array.isArray(value) ? new JsonList(value) : new JsonMap(value as { readonly [key: string]: JsonValue });
}

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
  /** What an item is to an expression. */
  protected read(item: JsonValue): CelValue {
    return jsonValue(item);
  }
}

class JsonMap extends CelMap {
  readonly #object: { readonly [key: string]: JsonValue };
  constructor(object: { readonly [key: string]: JsonValue }) {
    super();
    this.#object = object;
  }
  get size(): number {
    return Object.keys(this.#object).length;
  }
  find(key: CelValue): CelValue | undefined {
    const value = this.#member(key);
    return value === undefined ? undefined : jsonValue(value);
  }
  override has(key: CelValue): boolean {
    return this.#member(key) !== undefined;
  }
  /** What objects inherit are functions, but for one. */
  #member(key: CelValue): JsonValue | undefined {
    if (typeof key !== "string") return undefined;
    const value = this.#object[key];
    if (value === undefined || typeof value === "function") return undefined;
    return key === "__proto__" && !Object.hasOwn(this.#object, key) ? undefined : value;
  }
  keys(): readonly CelValue[] {
    return Object.keys(this.#object);
  }
}
