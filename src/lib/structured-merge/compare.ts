/** What changed between two states of an object. */
import { identical } from "../json/values.ts";
import type { List, MapType, Struct, Type } from "../schema/schema.ts";
import { fieldElement } from "./fields-v1.ts";
import { type PathSet, PathSetBuilder } from "./set.ts";
import { entriesOf, fieldType, type Granular, granular, isMap, itemsByElement, type PlainMap } from "./typed.ts";

export interface Comparison {
  readonly added: PathSet;
  readonly removed: PathSet;
  readonly modified: PathSet;
}

interface Builders {
  readonly added: PathSetBuilder;
  readonly removed: PathSetBuilder;
  readonly modified: PathSetBuilder;
}

/** @param left before @param right after, both as decoded by the schema */
export function compare(left: PlainMap, right: PlainMap, schema: Struct): Comparison {
  const builders: Builders = { added: new PathSetBuilder(), removed: new PathSetBuilder(), modified: new PathSetBuilder() };
  compareMaps(left, right, schema, builders);
  return { added: builders.added.build(), removed: builders.removed.build(), modified: builders.modified.build() };
}

/** @param left undefined when absent; so is right, and not both are */
function walk(left: unknown, right: unknown, type: Type, at: Builders): void {
  const seen = granularBoth(left, right, type);
  if (seen === undefined) return compareLeaf(left, right, at);
  if (seen.form === "map") {
    if (size(left) === 0 && size(right) === 0) return compareLeaf(left, right, at);
    compareMaps(left as PlainMap | undefined, right as PlainMap | undefined, seen.type, at);
  } else {
    if (size(left) === 0 && size(right) === 0) return compareLeaf(left, right, at);
    compareLists((left ?? []) as unknown[], (right ?? []) as unknown[], seen.type, at);
  }
  if (left === undefined) at.added.insert();
  else if (right === undefined) at.removed.insert();
}

/** Both sides must look alike to be looked into. */
function granularBoth(left: unknown, right: unknown, type: Type): Granular | undefined {
  const a = left === undefined ? undefined : granular(type, left);
  const b = right === undefined ? undefined : granular(type, right);
  if (left === undefined) return b;
  if (right === undefined) return a;
  return a === undefined || b === undefined ? undefined : b;
}

function size(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return isMap(value) ? Object.keys(value).length : 0;
}

function compareLeaf(left: unknown, right: unknown, at: Builders): void {
  if (left === undefined) at.added.insert();
  else if (right === undefined) at.removed.insert();
  else if (!identical(left, right)) at.modified.insert();
}

const child = (at: Builders, element: string): Builders => ({
  added: at.added.child(element),
  removed: at.removed.child(element),
  modified: at.modified.child(element),
});

function compareMaps(left: PlainMap | undefined, right: PlainMap | undefined, type: Struct | MapType | undefined, at: Builders): void {
  const before = new Map(left === undefined ? [] : entriesOf(type, left));
  const after = new Map(right === undefined ? [] : entriesOf(type, right));
  for (const [name, value] of after) {
    const old = before.get(name);
    if (old !== value) walk(old ?? undefined, value ?? undefined, fieldType(type, name), child(at, fieldElement(name)));
  }
  for (const [name, value] of before) {
    if (!after.has(name)) walk(value, undefined, fieldType(type, name), child(at, fieldElement(name)));
  }
}

function compareLists(left: readonly unknown[], right: readonly unknown[], type: List, at: Builders): void {
  const before = itemsByElement(type, left);
  const after = itemsByElement(type, right);
  for (const [element, items] of after) compareItems(before.get(element) ?? [], items, type, child(at, element));
  for (const [element, items] of before) if (!after.has(element)) compareItems(items, [], type, child(at, element));
}

/** Items of one element: one on each side are looked into, duplicates count as a whole. */
function compareItems(left: readonly unknown[], right: readonly unknown[], type: List, at: Builders): void {
  if (left.length <= 1 && right.length <= 1) {
    if (type.listType === "set") compareLeaf(left[0], right[0], at);
    else walk(left[0], right[0], type.items, at);
  } else if (left.length === 0) at.added.insert();
  else if (right.length === 0) at.removed.insert();
  else if (!identical(left, right)) at.modified.insert();
}
