/**
 * Who owns what after an update or an apply.
 * Source: resource-api §4.11; KEP-555; structured-merge-diff's merge package.
 */
import type { Struct } from "../schema/schema.ts";
import { type Comparison, changedFields, compare, isUnchanged, withoutFields } from "./compare.ts";
import { equalShown } from "./equal.ts";
import { fieldSetOf } from "./field-set.ts";
import { merge } from "./merge.ts";
import { named } from "./named.ts";
import { reconcile } from "./reconcile.ts";
import { removeItems } from "./remove.ts";
import { difference, emptySet, intersection, isEmpty, type PathSet, recursiveDifference, union } from "./set.ts";
import { asShown, type PlainMap, TypedError } from "./typed.ts";

export interface ManagedSet {
  readonly set: PathSet;
  /** API version the paths are written in. */
  readonly version: string;
  readonly applied: boolean;
}

/** By manager identifier. */
export type Managers = ReadonlyMap<string, ManagedSet>;

export interface Versioned {
  readonly object: PlainMap;
  readonly version: string;
}

/** What the merge must know of the kind. */
export interface MergeContext {
  /** @returns undefined when the version is no longer known; its managers then lose their claims. What it throws ends the write. */
  schemaOf(version: string): Struct | undefined;
  /** The object at another version. @throws TypedError when it cannot be said who owns what of it */
  convert(object: PlainMap, from: string, to: string): PlainMap;
  /** Fields that nobody may own at that version (status in the main resource, and the like). */
  ignored(version: string): PathSet;
}

export interface ManagerConflict {
  readonly manager: string;
  readonly set: PathSet;
}

/** An apply met fields of others. */
export class ApplyConflict extends Error {
  readonly conflicts: readonly ManagerConflict[];
  constructor(conflicts: readonly ManagerConflict[]) {
    super("apply conflict");
    this.conflicts = conflicts;
  }
}

/**
 * An update, or any patch but apply: never conflicts.
 * @param live empty for a create
 * @returns the managers after it: what changed is this manager's alone, who has nothing left is gone. When nothing changed, and no set is
 *   outdated, every entry is the same object as before.
 * @throws TypedError beyond `depthMax` levels, and where an object cannot be converted
 */
export function updateManagers(
  context: MergeContext,
  live: Versioned,
  next: Versioned,
  managers: Managers,
  manager: string,
): Managers {
  const known = reconciled(context, live, managers);
  const { managers: rest, comparison } = takeOver(context, live, next, known, manager, { force: true, isApply: false });
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
 * A server-side apply.
 * @param live empty for a create
 * @returns the merged object, at the intent's version, and who owns what then. The object is the live one itself when the apply changes nothing of
 *   it; else it shares parts with the live object and the intent, so that whoever wants to change it copies it first.
 * @throws ApplyConflict unless forced · TypedError when the intent has duplicates or items without keys, and beyond `depthMax` levels
 */
export function applyIntent(
  context: MergeContext,
  live: Versioned,
  intent: Versioned,
  managers: Managers,
  manager: string,
  options: { readonly force: boolean },
): { object: PlainMap; managers: Managers } {
  const schema = context.schemaOf(intent.version) as Struct;
  const known = reconciled(context, live, managers);
  const last = known.get(manager);
  const owned = recursiveDifference(fieldSetOf(intent.object, schema), context.ignored(intent.version));
  const result = new Map(known);
  result.set(manager, { set: owned, version: intent.version, applied: true });
  const whole = context.convert(live.object, live.version, intent.version);
  const merged = merge(whole, intent.object, schema);
  const pruned = about("failed to prune fields", () =>
    prune(context, { object: merged, version: intent.version }, result, last),
  );
  const object = pruned !== whole && equalShown(whole, pruned, schema, "right") ? whole : pruned;
  const taken = takeOver(context, live, { object, version: intent.version }, result, manager, {
    force: options.force,
    isApply: true,
  });
  return { object, managers: taken.managers };
}

/** Sets that were written under another schema of the same version, as this one has them. Versions that are no more lose their managers. */
function reconciled(context: MergeContext, live: Versioned, managers: Managers): Managers {
  let result: Map<string, ManagedSet> | undefined;
  const tried = new Set([live.version]);
  for (const [manager, owned] of managers) {
    const schema = context.schemaOf(owned.version);
    if (schema !== undefined && !tried.has(owned.version)) {
      tried.add(owned.version);
      context.convert(live.object, live.version, owned.version); // Before anything else is looked at: what it throws is told as it is.
    }
    const set = schema && reconcile(owned.set, schema);
    if (set === owned.set) continue;
    result ??= new Map(managers);
    if (set === undefined) result.delete(manager);
    else result.set(manager, { ...owned, set });
  }
  return result ?? managers;
}

/** Takes what changed from its owners. */
function takeOver(
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
  /** What an owner of it hears of. */
  readonly changed: PathSet;
}

/**
 * Compares at a version, once. Changes of what nobody may own are none: they will be put back.
 * @param isApply whether the next object has what an intent says as it was written
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
      const after = about("failed to convert new object", () =>
        isApply ? atVersion(context, next, version) : context.convert(next.object, next.version, version),
      );
      const written = isApply && version === next.version ? "right" : undefined;
      const whole = withoutFields(
        compare(before, after, context.schemaOf(version) as Struct, written),
        context.ignored(version),
      );
      changes = { whole, changed: changedFields(whole) };
      byVersion.set(version, changes);
    }
    return changes;
  };
}

/** Says what was being done when a value did not fit. */
function about<T>(what: string, run: () => T): T {
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
 * Removes what this manager applied before and now does not, where no one else owns it.
 * @param managers as they are with the new intent, which is the manager's set there
 */
function prune(context: MergeContext, merged: Versioned, managers: Managers, last: ManagedSet | undefined): PlainMap {
  if (last === undefined || isOwned(last, managers)) return merged.object;
  const { version } = last;
  const schema = context.schemaOf(version) as Struct;
  const converting = "failed to convert merged object to last applied version";
  const whole: Versioned = { object: about(converting, () => atVersion(context, merged, version)), version };
  const lastNamed = named(last.set, schema);
  const bare: Versioned = { object: removeItems(whole.object, lastNamed, schema), version };
  const withOwned = addBackOwned(context, whole, bare, managers);
  const pruned = addBackDangling(context, whole, withOwned, lastNamed);
  // Even when nothing goes, the way there and back may fill something in.
  return pruned === whole.object && version === merged.version
    ? merged.object
    : atVersion(context, { object: pruned, version }, merged.version);
}

/** Converted, an object has all that Go shows of it, so that a field which was taken away may be there again, empty; and nothing a client wrote that says nothing. */
function atVersion(context: MergeContext, { object, version }: Versioned, to: string): PlainMap {
  if (version === to) return object;
  return decoded(context.convert(decoded(object, context.schemaOf(version)), version, to), context.schemaOf(to));
}

/** Custom resources are shown as they were written, nulls too. */
function decoded(object: PlainMap, schema: Struct | undefined): PlainMap {
  return schema === undefined || schema.custom !== undefined ? object : (asShown(object, schema) as PlainMap);
}

/** Whether nothing can have lost its last owner, so that there is no need to look. With more than one version, converting may change something. */
function isOwned(last: ManagedSet, managers: Managers): boolean {
  let rest = last.set;
  for (const { set, version } of managers.values()) {
    if (version !== last.version) return false;
    rest = difference(rest, set);
  }
  return isEmpty(rest);
}

/** What any manager owns comes back, at every version that managers have, the one that was pruned first: conversions may need its fields. */
function addBackOwned(context: MergeContext, merged: Versioned, bare: Versioned, managers: Managers): Versioned {
  const owned = new Map<string, PathSet>();
  for (const { set, version } of managers.values()) owned.set(version, union(owned.get(version) ?? emptySet, set));
  const versions = [...owned.keys()].sort((a, b) => Number(b === merged.version) - Number(a === merged.version));
  let result = bare;
  for (const version of versions) {
    const schema = context.schemaOf(version) as Struct;
    const convert = (what: string, object: Versioned): PlainMap =>
      about(`failed add back owned items: failed to convert ${what} object at version ${version}`, () =>
        atVersion(context, object, version),
      );
    const whole = convert("merged", merged);
    const rest = convert("pruned", result);
    const gone = difference(
      difference(present(whole, schema), present(rest, schema)),
      named(owned.get(version) as PathSet, schema),
    );
    result = { object: removeItems(whole, gone, schema), version };
  }
  return result;
}

/** What was removed along with a parent, and was not this manager's, comes back. */
function addBackDangling(context: MergeContext, merged: Versioned, pruned: Versioned, lastNamed: PathSet): PlainMap {
  const schema = context.schemaOf(merged.version) as Struct;
  const converting = "failed add back dangling items: failed to convert pruned object to last applied version";
  const rest = about(converting, () => atVersion(context, pruned, merged.version));
  const gone = intersection(difference(present(merged.object, schema), present(rest, schema)), lastNamed);
  return removeItems(merged.object, gone, schema);
}

/** Duplicates that are stored already are tolerated, so this is not the intent's strict set. */
function present(object: PlainMap, schema: Struct): PathSet {
  return named(fieldSetOf(object, schema, { duplicates: "tolerate" }), schema);
}
