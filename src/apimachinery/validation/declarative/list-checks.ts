/**
 * Rules for the items of lists and the keys and values of maps. Source:
 * k8s.io/apimachinery@v0.36.0/pkg/api/validate/each.go and item.go.
 */
import { GoPrinted } from "../../../lib/json/go-value.ts";
import { encodeValue } from "../../../lib/schema/encode.ts";
import { equalValues } from "../../../lib/schema/equal.ts";
import type { List, MapType, Type } from "../../../lib/schema/schema.ts";
import type { RuleLevel } from "../../field-errors.ts";
import { type Check, isUnset, member, presentValue, type Target } from "./contract.ts";
import type { MarkerArgument } from "./marker.ts";

/** The values of the markers `listType`, `unique` and `listMapKey` of a list. */
export interface ListRules {
  semantic: "atomic" | "set" | "map";
  readonly keys: string[];
  /** Hand-written validation finds duplicates. */
  custom: boolean;
  level: RuleLevel;
}

type KeyOf = (item: unknown) => unknown;

/**
 * How the items of a list are identified.
 *
 * @returns undefined for an atomic list
 * @throws Error for a map without keys, or a key that is not a field
 */
export function keyOf({ items }: List, { semantic, keys }: ListRules): KeyOf | undefined {
  if (semantic === "atomic") return undefined;
  if (semantic === "set") return items.kind === "struct" ? (item) => encodeValue(item, items) : (item) => item;
  const targets = keys.map((name) => ({ name, target: targetOf(items, name) }));
  const [only] = targets;
  if (only === undefined) throw new Error("a list is a map without keys");
  if (targets.length === 1) return (item) => presentValue(member(item, only.name), only.target);
  return (item) => JSON.stringify(targets.map(({ name, target }) => String(presentValue(member(item, name), target))));
}

/**
 * Finds a field of a struct.
 *
 * @throws Error if there is no such field
 */
export function targetOf(type: Type, name: string): Target {
  const field = type.kind === "struct" ? type.byName.get(name) : undefined;
  if (field === undefined) throw new Error(`no field ${name}`);
  return { type: field.type, pointer: field.pointer, ...("default" in field && { default: field.default }) };
}

/** Reports every item with the key of an earlier one. */
export function uniqueCheck({ items }: List, key: KeyOf, level: RuleLevel): Check {
  const mark = { origin: "", level };
  const shown = (item: unknown): unknown => (typeof item === "object" ? new GoPrinted(encodeValue(item, items)) : item);
  return ({ errors }, path, value) => {
    const seen = new Set<unknown>();
    let fails = false;
    for (const [index, item] of listOf(value).entries()) {
      const id = key(item);
      if (seen.has(id)) {
        errors.marked(mark).duplicate(`${path}[${index}]`, shown(item));
        fails = true;
      }
      seen.add(id);
    }
    return fails;
  };
}

/**
 * Checks each item; on updates only new and changed items.
 *
 * @param key if undefined, no new item corresponds to an old one
 */
export function eachItem({ items }: List, key: KeyOf | undefined, check: Check): Check {
  return (operation, path, value, oldValue) => {
    const old = key === undefined ? undefined : byKey(listOf(oldValue), key);
    let fails = false;
    const list = listOf(value);
    for (let index = 0; index < list.length; index++) {
      const item = list[index];
      const before = old?.get(key?.(item));
      if (operation.update && before !== undefined && equalValues(item, before, items)) continue;
      if (check(operation, `${path}[${index}]`, item, before)) fails = true;
    }
    return fails;
  };
}

/** @returns the first item of each key */
function byKey(list: readonly unknown[], key: KeyOf): Map<unknown, unknown> | undefined {
  if (list.length === 0) return undefined;
  const map = new Map<unknown, unknown>();
  for (const item of list) if (!map.has(key(item))) map.set(key(item), item);
  return map;
}

/** Checks each value; on updates only new and changed values. */
export function eachMapValue({ values }: MapType, check: Check): Check {
  return (operation, path, value, old) => {
    let fails = false;
    for (const [key, one] of entriesOf(value)) {
      const before = !isUnset(old) && Object.hasOwn(old, key) ? member(old, key) : undefined;
      if (operation.update && before !== undefined && equalValues(one, before, values)) continue;
      if (check(operation, `${path}[${key}]`, one, before)) fails = true;
    }
    return fails;
  };
}

/** Checks each key; on updates only new keys. Errors have the path of the map. */
export function eachMapKey(check: Check): Check {
  return (operation, path, value, old) => {
    let fails = false;
    for (const [key] of entriesOf(value)) {
      if (operation.update && !isUnset(old) && Object.hasOwn(old, key)) continue;
      if (check(operation, path, key, undefined)) fails = true;
    }
    return fails;
  };
}

/** The values of key fields that select an item, by field name. */
export type Selector = ReadonlyMap<string, MarkerArgument>;

/** @returns whether an item has all values of the selector */
export function matches({ items }: List, selector: Selector): (item: unknown) => boolean {
  const expected = [...selector].map(([name, value]) => ({ name, value, target: targetOf(items, name) }));
  return (item) => expected.every(({ name, value, target }) => presentValue(member(item, name), target) === value);
}

/** @returns the selector as paths contain it: `{"type": "Approved"}` */
export function selectorText(selector: Selector): string {
  return `{${[...selector].map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`).join(", ")}}`;
}

/** Checks the first matching item; on updates only if it is new or changed. */
export function itemCheck(list: List, selector: Selector, check: Check): Check {
  const isSelected = matches(list, selector);
  return (operation, path, value, oldValue) => {
    const index = listOf(value).findIndex(isSelected);
    if (index < 0) return false;
    const item = listOf(value)[index];
    const before = listOf(oldValue).find(isSelected);
    if (operation.update && before !== undefined && equalValues(item, before, list.items)) return false;
    return check(operation, `${path}[${index}]`, item, before);
  };
}

/** @returns the items of a list; none for an absent list */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function entriesOf(value: unknown): [string, unknown][] {
  return isUnset(value) ? [] : Object.entries(value);
}
