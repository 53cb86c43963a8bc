import { identical, isObject } from "../json/values.ts";
import { type JsonObject, memberOf } from "./json-object.ts";
import { fieldSchema, type StructuralSchema } from "./structural-schema.ts";

/**
 * A part of a new object and the corresponding part of the old one. Fields correspond by name,
 * items of lists of type map by their keys; items of other lists have no counterpart (KEP-4008).
 * Source: k8s.io/apiserver@v0.36.0/pkg/cel/common/equality.go and maplist.go
 */
export class Correlation {
  readonly value: unknown;
  readonly old: unknown;
  readonly schema: StructuralSchema;
  #isUnchanged: boolean | undefined;
  #oldByKey: ReadonlyMap<string, unknown> | undefined;

  constructor(value: unknown, old: unknown, schema: StructuralSchema) {
    this.value = value;
    this.old = old;
    this.schema = schema;
  }

  /**
   * Whether the parts are equal; compared once. As upstream, values that the schema does not
   * describe and items of map lists in another order count as changed.
   */
  get isUnchanged(): boolean {
    this.#isUnchanged ??= this.#compare();
    return this.#isUnchanged;
  }

  #compare(): boolean {
    const { value, old } = this;
    if (Array.isArray(value)) return Array.isArray(old) && value.length === old.length && this.#sameItems(value, old);
    if (!isObject(value)) return identical(value, old);
    if (!isObject(old)) return false;
    const names = Object.keys(value);
    return names.length === Object.keys(old).length && names.every((name) => this.field(name)?.isUnchanged === true);
  }

  #sameItems(value: readonly unknown[], old: readonly unknown[]): boolean {
    if (this.schema.listType !== "map" || this.schema.items === undefined) return identical(value, old);
    return value.every((_item, index) => this.item(index)?.isUnchanged === true);
  }

  /** The correlation of a field; undefined when it is new, removed, or not in the schema. */
  field(name: string): Correlation | undefined {
    const { value, old } = this;
    if (!isObject(value) || !isObject(old) || !Object.hasOwn(value, name) || !Object.hasOwn(old, name))
      return undefined;
    const schema = fieldSchema(this.schema, name);
    return schema && new Correlation(value[name], old[name], schema);
  }

  /**
   * The correlation of a list item; undefined when the list is not of type map, or the item is new.
   */
  item(index: number): Correlation | undefined {
    const { items, listType, listMapKeys } = this.schema;
    if (items === undefined || listType !== "map" || !Array.isArray(this.value) || !Array.isArray(this.old))
      return undefined;
    const key = keyOf(this.value[index], listMapKeys);
    if (key === undefined) return undefined;
    this.#oldByKey ??= byKey(this.old, listMapKeys);
    const old = this.#oldByKey.get(key);
    return old === undefined ? undefined : new Correlation(this.value[index], old, items);
  }
}

/** The items by key; of items with the same key, the first one. */
function byKey(list: readonly unknown[], keys: readonly string[]): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  for (const item of list) {
    const key = keyOf(item, keys);
    if (key !== undefined && !found.has(key)) found.set(key, item);
  }
  return found;
}

/** Returns undefined when a key is missing or is not a scalar. */
function keyOf(item: unknown, keys: readonly string[]): string | undefined {
  if (!isObject(item)) return undefined;
  const parts = keys.map((key) => scalarText(item, key));
  return parts.includes(undefined) ? undefined : parts.join("\u0000");
}

function scalarText(item: JsonObject, key: string): string | undefined {
  const value = memberOf(item, key);
  if (typeof value === "string") return JSON.stringify(value);
  return typeof value === "number" || typeof value === "bigint" || typeof value === "boolean"
    ? String(value)
    : undefined;
}
