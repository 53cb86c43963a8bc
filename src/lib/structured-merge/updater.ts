/**
 * Computes field ownership after an update or an apply.
 * Source: KEP-555; structured-merge-diff's merge package.
 */

import { type Comparison, changedFields, compare, isUnchanged, withoutFields } from "./compare.ts";
import { equalSerialized } from "./equal.ts";
import { fieldSetOf, fieldsOf } from "./field-set.ts";
import { KnownElements } from "./items.ts";
import { mergeKnown } from "./merge.ts";
import { reconcile } from "./reconcile.ts";
import { removeItems } from "./remove.ts";
import type { Struct } from "./schema.ts";
import { difference, emptySet, intersection, isEmpty, type PathSet, recursiveDifference, union } from "./set.ts";
import { asSerialized, type PlainMap, TypedError } from "./typed.ts";
import { withParentFields } from "./with-parent-fields.ts";

/** The fields of one manager. */
export interface ManagedSet {
  /** The fields that the manager owns. */
  readonly set: PathSet;
  /** The API version that the paths belong to. */
  readonly version: string;
  /** Whether the manager applies; other managers update. */
  readonly applied: boolean;
}

/** Managed fields by manager identifier. */
export type Managers = ReadonlyMap<string, ManagedSet>;

/** An object in the form of one API version. */
export interface Versioned {
  readonly object: PlainMap;
  /** Such as `apps/v1`. */
  readonly version: string;
}

/**
 * The kind-specific functions that the merge calls. Errors that they throw end the write.
 *
 * @example
 * ```ts
 * import { emptySet, type MergeContext, type Struct, updateManagers } from "coxswain/structured-merge";
 *
 * const field = { name: "a", type: { kind: "string" }, pointer: true, omitEmpty: true, omitZero: false } as const;
 * const schema: Struct = {
 *   kind: "struct",
 *   fields: [field],
 *   byName: new Map([["a", field]]),
 *   atomic: false,
 *   preserveUnknown: false,
 * };
 * // One version, and every field can be owned.
 * const context: MergeContext = { schemaOf: () => schema, convert: (object) => object, ignored: () => emptySet };
 * const live = { object: {}, version: "v1" };
 * const managers = updateManagers(context, live, { object: { a: "x" }, version: "v1" }, new Map(), "me");
 * console.log([...managers.keys()]); // [ 'me' ]
 * ```
 */
export interface MergeContext {
  /**
   * @returns undefined when the version no longer exists; its managers then lose their fields
   * @throws TypedError when the version has no schema
   */
  schemaOf(version: string): Struct | undefined;
  /**
   * Converts an object to another version.
   * @throws TypedError when the object cannot be converted
   */
  convert(object: PlainMap, from: string, to: string): PlainMap;
  /** The fields that no manager may own at a version, such as status in the main resource. */
  ignored(version: string): PathSet;
}

/** A manager that owns fields which an apply wants to change. */
export interface ManagerConflict {
  /** Its identifier in `Managers`. */
  readonly manager: string;
  /** The fields in conflict. */
  readonly set: PathSet;
}

/** An apply without `force` would change fields that other managers own. */
export class ApplyConflict extends Error {
  readonly conflicts: readonly ManagerConflict[];
  constructor(conflicts: readonly ManagerConflict[]) {
    super("apply conflict");
    this.name = "ApplyConflict";
    this.conflicts = conflicts;
  }
}

/**
 * Computes the managers after an update, or after any patch except apply. Never conflicts.
 *
 * @param live empty for a create
 * @returns the managers after the update. The manager of the update is the only owner of the
 *   changed fields; managers without fields are removed. When nothing changed and no set is
 *   outdated, every entry is the same object as before.
 * @throws TypedError beyond `depthMax` levels, and when an object cannot be converted
 */
export function updateManagers(
  context: MergeContext,
  live: Versioned,
  next: Versioned,
  managers: Managers,
  manager: string,
): Managers {
  const current = reconciled(context, live, managers);
  const { managers: rest, comparison } = takeOwnership(context, live, next, current, manager, {
    force: true,
    isApply: false,
  });
  const before = rest.get(manager);
  const mine = difference(before?.set ?? emptySet, comparison.removed);
  const owned = recursiveDifference(union(mine, changedFields(comparison)), context.ignored(next.version));
  if (
    before !== undefined &&
    owned === before.set &&
    before.version === next.version &&
    !before.applied &&
    !isEmpty(owned)
  )
    return rest;
  if (before === undefined && isEmpty(owned)) return rest;
  const result = new Map(rest);
  if (isEmpty(owned)) result.delete(manager);
  else result.set(manager, { set: owned, version: next.version, applied: false });
  return result;
}

/**
 * Applies an intent to the live object (server-side apply).
 *
 * @param live empty for a create
 * @returns the merged object, at the intent's version, and its managers. The object is the live
 *   one itself when the apply does not change it. Otherwise it shares parts with the live object
 *   and the intent, so callers must copy it before they change it.
 * @throws ApplyConflict unless forced
 * @throws TypedError when the intent has duplicate items or items without keys, and beyond
 *   `depthMax` levels
 *
 * @example
 * ```ts
 * import { applyIntent, emptySet, encodeFieldsV1, type Struct } from "coxswain/structured-merge";
 *
 * const field = { name: "a", type: { kind: "string" }, pointer: true, omitEmpty: true, omitZero: false } as const;
 * const schema: Struct = {
 *   kind: "struct",
 *   fields: [field],
 *   byName: new Map([["a", field]]),
 *   atomic: false,
 *   preserveUnknown: false,
 * };
 * const context = { schemaOf: () => schema, convert: <T>(object: T) => object, ignored: () => emptySet };
 * const live = { object: {}, version: "v1" };
 * const intent = { object: { a: "x" }, version: "v1" };
 * const { object, managers } = applyIntent(context, live, intent, new Map(), "me", { force: false });
 * console.log(object); // { a: 'x' }
 * console.log(encodeFieldsV1(managers.get("me")?.set ?? emptySet)); // { 'f:a': {} }
 * ```
 */
export function applyIntent(
  context: MergeContext,
  live: Versioned,
  intent: Versioned,
  managers: Managers,
  manager: string,
  options: { readonly force: boolean },
): { object: PlainMap; managers: Managers } {
  return applyKnown(context, live, intent, managers, manager, { ...options, known: new KnownElements() });
}

/** As {@link applyIntent}. @param options `known`: the path elements of lists of the intent */
export function applyKnown(
  context: MergeContext,
  live: Versioned,
  intent: Versioned,
  managers: Managers,
  manager: string,
  options: { readonly force: boolean; readonly known: KnownElements },
): { object: PlainMap; managers: Managers } {
  const { known } = options;
  const schema = context.schemaOf(intent.version) as Struct;
  const current = reconciled(context, live, managers);
  const last = current.get(manager);
  const owned = recursiveDifference(
    fieldsOf(intent.object, schema, { isStrict: true, known }),
    context.ignored(intent.version),
  );
  const result = new Map(current);
  result.set(manager, { set: owned, version: intent.version, applied: true });
  const whole = context.convert(live.object, live.version, intent.version);
  const merged = mergeKnown(whole, intent.object, schema, known);
  const pruned = withContext("failed to prune fields", () =>
    prune(context, { object: merged, version: intent.version }, result, last),
  );
  const object = pruned !== whole && equalSerialized(whole, pruned, schema, "right") ? whole : pruned;
  const taken = takeOwnership(context, live, { object, version: intent.version }, result, manager, {
    force: options.force,
    isApply: true,
  });
  return { object, managers: taken.managers };
}

/**
 * Adapts sets that were written under an older schema of the same version to the current schema.
 * Removes the managers of versions that no longer exist.
 */
function reconciled(context: MergeContext, live: Versioned, managers: Managers): Managers {
  let result: Map<string, ManagedSet> | undefined;
  const tried = new Set([live.version]);
  for (const [manager, owned] of managers) {
    const schema = context.schemaOf(owned.version);
    if (schema !== undefined && !tried.has(owned.version)) {
      tried.add(owned.version);
      // Convert first, so that its error reaches the client without a prefix.
      context.convert(live.object, live.version, owned.version);
    }
    const set = schema && reconcile(owned.set, schema);
    if (set === owned.set) continue;
    result ??= new Map(managers);
    if (set === undefined) result.delete(manager);
    else result.set(manager, { ...owned, set });
  }
  return result ?? managers;
}

/** Removes the changed fields from the sets of their other owners. */
function takeOwnership(
  context: MergeContext,
  live: Versioned,
  next: Versioned,
  managers: Managers,
  manager: string,
  { force, isApply }: { readonly force: boolean; readonly isApply: boolean },
): { managers: Managers; comparison: Comparison } {
  const compareAt = comparer(context, live, next, isApply);
  const conflicts: ManagerConflict[] = [];
  let result: Map<string, ManagedSet> | undefined;
  for (const [other, owned] of managers) {
    if (other === manager) continue;
    const { taken, left } = afterChanges(owned.set, compareAt(owned.version));
    if (!isEmpty(taken)) conflicts.push({ manager: other, set: taken });
    if (left === owned.set && !isEmpty(left)) continue;
    result ??= new Map(managers);
    if (isEmpty(left)) result.delete(other);
    else result.set(other, { ...owned, set: left });
  }
  if (!force && conflicts.length > 0) throw new ApplyConflict(conflicts);
  if (managers.has(manager) && isEmpty((managers.get(manager) as ManagedSet).set)) {
    result ??= new Map(managers);
    result.delete(manager);
  }
  return { managers: result ?? managers, comparison: compareAt(next.version).whole };
}

interface Changes {
  readonly whole: Comparison;
  /** The added and modified fields. */
  readonly changed: PathSet;
}

/**
 * Returns a function that compares live and next object at a version, once per version. Ignored
 * fields are left out, because their changes are reverted later.
 * @param isApply whether the next object contains the values of an intent as they were written
 */
function comparer(
  context: MergeContext,
  live: Versioned,
  next: Versioned,
  isApply: boolean,
): (version: string) => Changes {
  const byVersion = new Map<string, Changes>();
  return (version) => {
    let changes = byVersion.get(version);
    if (changes === undefined) {
      const before = context.convert(live.object, live.version, version);
      const after = withContext("failed to convert new object", () =>
        isApply ? atVersion(context, next, version) : context.convert(next.object, next.version, version),
      );
      const schema = context.schemaOf(version) as Struct;
      // At other versions, only custom resources keep the form in which they were written.
      const written = isApply && (version === next.version || schema.custom !== undefined) ? "right" : undefined;
      const whole = withoutFields(compare(before, after, schema, written), context.ignored(version));
      changes = { whole, changed: changedFields(whole) };
      byVersion.set(version, changes);
    }
    return changes;
  };
}

/** Adds to the message of a TypedError what was being done. */
function withContext<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof TypedError) throw new TypedError(`${what}: ${error.message}`);
    throw error;
  }
}

function afterChanges(set: PathSet, { whole, changed }: Changes): { taken: PathSet; left: PathSet } {
  if (isUnchanged(whole)) return { taken: emptySet, left: set };
  const taken = intersection(set, changed);
  return { taken, left: difference(difference(set, taken), whole.removed) };
}

/**
 * Removes the fields that this manager applied before, does not apply now, and no other manager
 * owns.
 * @param managers the managers, with the new intent's fields as this manager's set
 */
function prune(context: MergeContext, merged: Versioned, managers: Managers, last: ManagedSet | undefined): PlainMap {
  if (last === undefined || isStillOwned(last, managers)) return merged.object;
  const { version } = last;
  const schema = context.schemaOf(version) as Struct;
  const converting = "failed to convert merged object to last applied version";
  const whole: Versioned = { object: withContext(converting, () => atVersion(context, merged, version)), version };
  const lastFields = withParentFields(last.set, schema);
  const bare: Versioned = { object: removeItems(whole.object, lastFields, schema), version };
  const withOwned = addBackOwned(context, whole, bare, managers);
  const pruned = addBackDangling(context, whole, withOwned, lastFields);
  // Even when nothing is removed, the conversions in both directions may fill in fields.
  return pruned === whole.object && version === merged.version
    ? merged.object
    : atVersion(context, { object: pruned, version }, merged.version);
}

/**
 * Converts an object as upstream does: through Go's types. The result has every field that Go
 * serializes, so a removed field may return with its zero value; empty fields that Go omits are
 * gone.
 */
function atVersion(context: MergeContext, { object, version }: Versioned, to: string): PlainMap {
  if (version === to) return object;
  return decoded(context.convert(decoded(object, context.schemaOf(version)), version, to), context.schemaOf(to));
}

/** Custom resources keep the form in which they were written, including nulls. */
function decoded(object: PlainMap, schema: Struct | undefined): PlainMap {
  return schema === undefined || schema.custom !== undefined ? object : (asSerialized(object, schema) as PlainMap);
}

/**
 * Whether every field of the last set still has an owner, so that nothing needs pruning. With more
 * than one version the answer is no, because a conversion may change fields.
 */
function isStillOwned(last: ManagedSet, managers: Managers): boolean {
  let rest = last.set;
  for (const { set, version } of managers.values()) {
    if (version !== last.version) return false;
    rest = difference(rest, set);
  }
  return isEmpty(rest);
}

/**
 * Restores the fields that any manager owns, at every version that managers use. The version of
 * the pruned object is first, because conversions may need its fields.
 */
function addBackOwned(context: MergeContext, merged: Versioned, bare: Versioned, managers: Managers): Versioned {
  const owned = new Map<string, PathSet>();
  for (const { set, version } of managers.values()) owned.set(version, union(owned.get(version) ?? emptySet, set));
  const versions = [...owned.keys()].sort((a, b) => Number(b === merged.version) - Number(a === merged.version));
  let result = bare;
  for (const version of versions) {
    const schema = context.schemaOf(version) as Struct;
    const convert = (what: string, object: Versioned): PlainMap =>
      withContext(`failed add back owned items: failed to convert ${what} object at version ${version}`, () =>
        atVersion(context, object, version),
      );
    const whole = convert("merged", merged);
    const rest = convert("pruned", result);
    const gone = difference(
      difference(presentFields(whole, schema), presentFields(rest, schema)),
      withParentFields(owned.get(version) as PathSet, schema),
    );
    result = { object: removeItems(whole, gone, schema), version };
  }
  return result;
}

/** Restores the fields that were removed with a parent but did not belong to this manager. */
function addBackDangling(context: MergeContext, merged: Versioned, pruned: Versioned, lastFields: PathSet): PlainMap {
  const schema = context.schemaOf(merged.version) as Struct;
  const converting = "failed add back dangling items: failed to convert pruned object to last applied version";
  const rest = withContext(converting, () => atVersion(context, pruned, merged.version));
  const gone = intersection(difference(presentFields(merged.object, schema), presentFields(rest, schema)), lastFields);
  return removeItems(merged.object, gone, schema);
}

/** The fields of an object. Duplicates are tolerated, because stored objects may have them. */
function presentFields(object: PlainMap, schema: Struct): PathSet {
  return withParentFields(fieldSetOf(object, schema, { duplicates: "tolerate" }), schema);
}
