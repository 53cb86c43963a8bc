/**
 * Finds the part of an old object that corresponds to a part of the new one, and whether it
 * changed. Source: k8s.io/apiserver@v0.36.0/pkg/cel/common/equality.go and maplist.go
 */
import { type JsonSchema, valuesOf } from "../lib/cel/schema-types/index.ts";
import { identical, isObject } from "../lib/json/values.ts";
import { memberOf } from "../lib/structural-schema/json-object.ts";

/**
 * Returns a function that finds the item with the same keys as an element.
 *
 * @returns undefined if the list is not of type map
 */
export function itemsByKey(schema: JsonSchema, items: readonly unknown[]): ((element: unknown) => unknown) | undefined {
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (schema["x-kubernetes-list-type"] !== "map" || keys.length === 0) return undefined;
  let byKey: Map<string, unknown> | undefined;
  return (element) => {
    byKey ??= indexOf(keys, items);
    const key = keyOf(keys, element);
    return key === undefined ? undefined : byKey.get(key);
  };
}

/** Of items with the same keys, the first one is used. */
function indexOf(keys: readonly string[], items: readonly unknown[]): Map<string, unknown> {
  const index = new Map<string, unknown>();
  for (const item of items) {
    const key = keyOf(keys, item);
    if (key !== undefined && !index.has(key)) index.set(key, item);
  }
  return index;
}

/** @returns undefined if a key is missing or not a scalar */
function keyOf(keys: readonly string[], element: unknown): string | undefined {
  if (!isObject(element)) return undefined;
  const parts: string[] = [];
  for (const key of keys) {
    const value = memberOf(element, key);
    if (typeof value === "string") parts.push(JSON.stringify(value));
    else if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean")
      parts.push(String(value));
    else return undefined;
  }
  return parts.join("\n");
}

/** A part of the new object and the corresponding part of the old one. Caches its own parts. */
export class Correlation {
  readonly #schema: JsonSchema;
  readonly #value: unknown;
  readonly #old: unknown;
  readonly #parts = new Map<string | number, Correlation>();
  #isUnchanged: boolean | undefined;
  #itemByKey: ((element: unknown) => unknown) | undefined;

  constructor(schema: JsonSchema, value: unknown, old: unknown) {
    this.#schema = schema;
    this.#value = value;
    this.#old = old;
  }

  /**
   * Ignores the order of lists of type map. An object with members without a schema counts as
   * changed.
   */
  get isUnchanged(): boolean {
    this.#isUnchanged ??= this.#compare();
    return this.#isUnchanged;
  }

  #compare(): boolean {
    const [value, old] = [this.#value, this.#old];
    if (Array.isArray(value) && Array.isArray(old)) {
      if (value.length !== old.length) return false;
      if (itemsByKey(this.#schema, old) === undefined || value.length === 0) return identical(value, old);
      return value.every((_, index) => this.item(index)?.isUnchanged === true);
    }
    if (!isObject(value) || !isObject(old)) return identical(value, old);
    const keys = Object.keys(value);
    return keys.length === Object.keys(old).length && keys.every((key) => this.member(key)?.isUnchanged === true);
  }

  /** @returns undefined if the member is new or has no schema */
  member(key: string): Correlation | undefined {
    const [value, old] = [this.#value, this.#old];
    if (!isObject(value) || !isObject(old) || !Object.hasOwn(value, key) || !Object.hasOwn(old, key)) return undefined;
    const { properties } = this.#schema;
    const schema =
      properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : valuesOf(this.#schema);
    return schema === undefined ? undefined : this.#part(key, schema, value[key], old[key]);
  }

  /** @returns undefined if the item is new or the list is not of type map */
  item(index: number): Correlation | undefined {
    if (!Array.isArray(this.#value) || !Array.isArray(this.#old) || this.#schema.items === undefined) return undefined;
    this.#itemByKey ??= itemsByKey(this.#schema, this.#old);
    const old = this.#itemByKey?.(this.#value[index]);
    return old === undefined ? undefined : this.#part(index, this.#schema.items, this.#value[index], old);
  }

  #part(at: string | number, schema: JsonSchema, value: unknown, old: unknown): Correlation {
    const part = this.#parts.get(at) ?? new Correlation(schema, value, old);
    this.#parts.set(at, part);
    return part;
  }
}
