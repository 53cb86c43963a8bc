/**
 * Finds the fields that differ between two states of an object. Both are walked once. Identical
 * references are skipped, and sets are built only where something differs.
 * Source: structured-merge-diff's compare; KEP-555.
 */

import { equalSerialized, serializedSide, type Written } from "./equal.ts";
import { fieldElement } from "./fields-v1.ts";
import { elementsOf, hasSameElements, itemsByElement } from "./items.ts";
import type { List, Struct, Type } from "./schema.ts";
import { emptySet, isEmpty, type PathNode, type PathSet, PathSetBuilder, recursiveDifference, union } from "./set.ts";
import {
  checkDepth,
  deduced,
  fieldOf,
  fieldType,
  granular,
  isEmptyMap,
  isMap,
  type MapLike,
  type PlainMap,
  serialized,
} from "./typed.ts";
import { isBlank, nodeOf, SharedNodes } from "./whole-value.ts";

/** The paths that differ between two objects; no path is in more than one of the sets. */
export interface Comparison {
  /** Only in the right object. */
  readonly added: PathSet;
  /** Only in the left object. */
  readonly removed: PathSet;
  /** In both, with different values. */
  readonly modified: PathSet;
}

type Change = keyof Comparison;

const unchanged: Comparison = { added: emptySet, removed: emptySet, modified: emptySet };

/**
 * Compares two whole objects. Fields that are absent count as Go's zero values.
 *
 * @param left the object before the change, as the schema decoder returns it
 * @param right the object after the change, likewise
 * @param written the side that holds the values exactly as a client wrote them, if any
 * @throws TypedError beyond `depthMax` levels
 */
export function compare(left: PlainMap, right: PlainMap, schema: Struct, written?: Written): Comparison {
  if (left === right) return unchanged;
  const root = new Place(undefined, "", { written, shared: new SharedNodes() });
  if (!schema.atomic) compareMaps(left, right, schema, root);
  else if (!equalSerialized(left, right, schema, written)) root.note("modified");
  return root.comparison();
}

/** Removes fields, and everything below them, from a comparison. */
export function withoutFields(comparison: Comparison, fields: PathSet): Comparison {
  if (isEmpty(fields) || isUnchanged(comparison)) return comparison;
  return {
    added: recursiveDifference(comparison.added, fields),
    removed: recursiveDifference(comparison.removed, fields),
    modified: recursiveDifference(comparison.modified, fields),
  };
}

/** Whether the compared objects are equal. */
export function isUnchanged({ added, removed, modified }: Comparison): boolean {
  return isEmpty(added) && isEmpty(removed) && isEmpty(modified);
}

/** The fields whose changes conflict with other owners: added and modified ones. */
export function changedFields({ added, modified }: Comparison): PathSet {
  return union(added, modified);
}

/** What is the same in the whole walk. */
interface Walk {
  /** The side that holds the values exactly as a client wrote them, if any. */
  readonly written: Written;
  /** Of structs that only one of the objects has. */
  readonly shared: SharedNodes;
}

/**
 * The position of the walk. Builders are created, from here up to the root, when a change is noted.
 */
class Place {
  readonly depth: number;
  readonly walk: Walk;
  readonly #parent: Place | undefined;
  readonly #element: string;
  readonly #builders: { [change in Change]?: PathSetBuilder } = {};

  constructor(parent: Place | undefined, element: string, walk: Walk) {
    this.depth = parent === undefined ? 0 : parent.depth + 1;
    this.walk = walk;
    checkDepth(this.depth);
    this.#parent = parent;
    this.#element = element;
  }

  get written(): Written {
    return this.walk.written;
  }

  note(change: Change): void {
    this.#builder(change).insert();
  }

  /** Notes a change of a value one element below, which needs no place of its own. */
  noteBelow(element: string, change: Change): void {
    this.#builder(change).insertBelow(element);
  }

  /** Notes that only one of the objects has an element, which has not been noted yet. */
  noteWhole(element: string, change: Change, node: PathNode): void {
    this.#builder(change).setBelow(element, node);
  }

  #builder(change: Change): PathSetBuilder {
    let builder = this.#builders[change];
    if (builder === undefined) {
      builder = this.#parent === undefined ? new PathSetBuilder() : this.#parent.#builder(change).child(this.#element);
      this.#builders[change] = builder;
    }
    return builder;
  }

  comparison(): Comparison {
    const { added, removed, modified } = this.#builders;
    return {
      added: added?.build() ?? emptySet,
      removed: removed?.build() ?? emptySet,
      modified: modified?.build() ?? emptySet,
    };
  }
}

/** At most one of `left` and `right` is undefined, which means absent. */
function walk(left: unknown, right: unknown, type: Type, parent: Place, element: string): void {
  if (left === right) return;
  if (left === undefined || right === undefined) return noteOneSide(left, right, type, parent, element);
  if (isScalar(left) && isScalar(right)) return compareLeaf(left, right, type, parent, element);
  if (type.kind === "any" && isMap(left) !== isMap(right))
    return compareDifferentForms(left, right, type, new Place(parent, element, parent.walk));
  const seen = granular(type, left ?? right) ?? granular(type, right);
  if (seen === undefined) return compareLeaf(left, right, type, parent, element);
  const isList = seen.form === "list";
  const before = isList ? listOf(left) : mapOf(left);
  const after = isList ? listOf(right) : mapOf(right);
  const { written } = parent;
  const isEmpty = isBlank(before, seen.type, written === "left") && isBlank(after, seen.type, written === "right");
  if (isEmpty) return compareLeaf(left, right, type, parent, element);
  const at = new Place(parent, element, parent.walk);
  if (isList) compareLists((before ?? []) as readonly unknown[], (after ?? []) as readonly unknown[], seen.type, at);
  else compareMaps(before as PlainMap | undefined, after as PlainMap | undefined, seen.type, at);
}

/** Exactly one of `left` and `right` is undefined. */
function noteOneSide(left: unknown, right: unknown, type: Type, parent: Place, element: string): void {
  const { written, shared } = parent.walk;
  const [change, value, side] =
    left === undefined ? (["added", right, "right"] as const) : (["removed", left, "left"] as const);
  const node = nodeOf(value, type, { isWritten: written === side, shared, depth: parent.depth + 1 });
  parent.noteWhole(element, change, node);
}

function isScalar(value: unknown): boolean {
  return value !== null && typeof value !== "object" && value !== undefined;
}

const mapOf = (value: unknown): PlainMap | undefined => (isMap(value) ? value : undefined);
const listOf = (value: unknown): readonly unknown[] | undefined => (Array.isArray(value) ? value : undefined);

/**
 * Compares a map with a value of another form, where no schema says which form is right. The value
 * itself is modified, and all fields of the map are added or removed.
 */
function compareDifferentForms(left: unknown, right: unknown, type: Type, at: Place): void {
  const before = granular(type, left) && mapOf(left);
  const after = granular(type, right) && mapOf(right);
  if (before !== undefined && !isEmptyMap(before)) compareMaps(before, undefined, undefined, at);
  if (after !== undefined && !isEmptyMap(after)) compareMaps(undefined, after, undefined, at);
  if (
    (before === undefined && left !== null) ||
    (after === undefined && right !== null) ||
    isBlank(before ?? after, undefined, true)
  )
    at.note("modified");
}

function compareLeaf(left: unknown, right: unknown, type: Type, parent: Place, element: string): void {
  const depth = parent.depth + 1;
  checkDepth(depth);
  if (!equalSerialized(left, right, type, parent.written, depth)) parent.noteBelow(element, "modified");
}

function compareMaps(left: PlainMap | undefined, right: PlainMap | undefined, type: MapLike, at: Place): void {
  if (type === undefined || type.kind === "map") return compareEntries(left, right, type, at);
  if (left === undefined || right === undefined) return compareWholeStruct(left, right, type, at);
  for (const name in right) {
    const after = right[name];
    const before = fieldOf(left, name);
    if (before === after) continue;
    const field = type.byName.get(name);
    if (field !== undefined)
      walk(
        serializedSide("left", field, before, at.written),
        serializedSide("right", field, after, at.written),
        field.type,
        at,
        fieldElement(name),
      );
    else if (type.preserveUnknown) walk(before, after, deduced, at, fieldElement(name));
  }
  for (const name in left) {
    if (Object.hasOwn(right, name) || left[name] === undefined) continue;
    const field = type.byName.get(name);
    if (field !== undefined)
      walk(
        serializedSide("left", field, left[name], at.written),
        serialized(field, undefined),
        field.type,
        at,
        fieldElement(name),
      );
    else if (type.preserveUnknown) walk(left[name], undefined, deduced, at, fieldElement(name));
  }
}

/** Adds or removes every field that Go serializes, or every field that was written. */
function compareWholeStruct(left: PlainMap | undefined, right: PlainMap | undefined, type: Struct, at: Place): void {
  const value = (left ?? right) as PlainMap;
  const isWritten = at.written === (left === undefined ? "right" : "left");
  for (const field of type.fields) {
    const fieldValue = fieldOf(value, field.name);
    const part = isWritten ? fieldValue : serialized(field, fieldValue);
    if (part !== undefined) walkOneSide(part, left !== undefined, field.type, at, field.name);
  }
  if (!type.preserveUnknown) return;
  for (const name in value) if (!type.byName.has(name)) walkOneSide(value[name], left !== undefined, deduced, at, name);
}

function walkOneSide(value: unknown, isLeft: boolean, type: Type, at: Place, name: string): void {
  walk(isLeft ? value : undefined, isLeft ? undefined : value, type, at, fieldElement(name));
}

function compareEntries(left: PlainMap | undefined, right: PlainMap | undefined, type: MapLike, at: Place): void {
  for (const name in right) {
    const before = left === undefined ? undefined : fieldOf(left, name);
    const after = right[name];
    if (before !== after) walk(before, after, fieldType(type, name), at, fieldElement(name));
  }
  for (const name in left) {
    if (right === undefined || !Object.hasOwn(right, name))
      walk(left[name], undefined, fieldType(type, name), at, fieldElement(name));
  }
}

function compareLists(left: readonly unknown[], right: readonly unknown[], type: List, at: Place): void {
  if (left === right) return;
  const leftElements = elementsOf(type, left, undefined, at.written === "left");
  const rightElements = elementsOf(type, right, leftElements, at.written === "right");
  if (hasSameElements(leftElements, rightElements)) {
    if (type.listType === "map")
      for (let index = 0; index < left.length; index++)
        walk(left[index], right[index], type.items, at, leftElements.elements[index] as string);
    return;
  }
  const before = itemsByElement(leftElements);
  const after = itemsByElement(rightElements);
  for (const [element, items] of after) compareItems(before.get(element) ?? [], items, type, at, element);
  for (const [element, items] of before) if (!after.has(element)) compareItems(items, [], type, at, element);
}

/** Compares the items of one path element: single items field by field, duplicates as a whole. */
function compareItems(
  left: readonly unknown[],
  right: readonly unknown[],
  type: List,
  parent: Place,
  element: string,
): void {
  if (left.length <= 1 && right.length <= 1) {
    if (type.listType === "map") walk(left[0], right[0], type.items, parent, element);
    else if (left.length !== right.length) parent.noteBelow(element, left.length === 0 ? "added" : "removed");
    return;
  }
  const at = new Place(parent, element, parent.walk);
  if (left.length > 1 && right.length > 1) {
    if (!equalSerialized(left, right, type, at.written, at.depth)) at.note("modified");
  } else if (left.length > 1) {
    if (right.length === 1) walk(undefined, right[0], type.items, parent, element);
    at.note("removed");
  } else {
    if (left.length === 1) walk(left[0], undefined, type.items, parent, element);
    at.note("added");
  }
}
