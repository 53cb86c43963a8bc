/**
 * A part of a new object, and the part of the old one that it was. Fields are found by their names, items of map lists by their keys; items of
 * other lists were nothing. Source: k8s.io/apiserver pkg/cel/common/equality.go and maplist.go
 */
import { identical } from "../json/values.ts";
import { isJsonObject, type JsonObject, memberOf } from "./json-object.ts";
import { fieldSchema, type StructuralSchema } from "./structural-schema.ts";

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

  /** Compared once. As upstream has it, what the schema does not know counts as changed, and so do items of map lists in another order. */
  get isUnchanged(): boolean {
    this.#isUnchanged ??= this.#compare();
    return this.#isUnchanged;
  }

  #compare(): boolean {
    const { value, old } = this;
    if (Array.isArray(value)) return Array.isArray(old) && value.length === old.length && this.#sameItems(value, old);
    if (!isJsonObject(value)) return identical(value, old);
    if (!isJsonObject(old)) return false;
    const names = Object.keys(value);
    return names.length === Object.keys(old).length && names.every((name) => this.field(name)?.isUnchanged === true);
  }

  #sameItems(value: readonly unknown[], old: readonly unknown[]): boolean {
    if (this.schema.listType !== "map" || this.schema.items === undefined) return identical(value, old);
    return value.every((_item, index) => this.item(index)?.isUnchanged === true);
  }

  /** Undefined where the field is new, gone, or not in the schema. */
  field(name: string): Correlation | undefined {
    const { value, old } = this;
    if (!isJsonObject(value) || !isJsonObject(old) || !Object.hasOwn(value, name) || !Object.hasOwn(old, name))
      return undefined;
    const schema = fieldSchema(this.schema, name);
    return schema && new Correlation(value[name], old[name], schema);
  }

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

/** Of items with the same key the first counts. */
function byKey(list: readonly unknown[], keys: readonly string[]): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  for (const item of list) {
    const key = keyOf(item, keys);
    if (key !== undefined && !found.has(key)) found.set(key, item);
  }
  return found;
}

/** Undefined where a key is missing, or is no scalar. */
function keyOf(item: unknown, keys: readonly string[]): string | undefined {
  if (!isJsonObject(item)) return undefined;
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
