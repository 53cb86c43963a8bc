/**
 * Who owns what after an update or an apply.
 * Source: resource-api §4.11; KEP-555; structured-merge-diff's merge package.
 */
import type { Struct } from "../schema/schema.ts";
import { type Comparison, compare } from "./compare.ts";
import { fieldSetOf } from "./field-set.ts";
import { merge } from "./merge.ts";
import { named } from "./named.ts";
import { removeItems } from "./remove.ts";
import { difference, emptySet, intersection, isEmpty, type PathSet, recursiveDifference, union } from "./set.ts";
import type { PlainMap } from "./typed.ts";

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
  /** @returns undefined when the version is no longer known; its managers then lose their claims */
  schemaOf(version: string): Struct | undefined;
  /** The object at another version. */
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

/** An update, or any patch but apply: never conflicts. */
export function updateManagers(context: MergeContext, live: Versioned, next: Versioned, managers: Managers, manager: string): Managers {
  const { managers: rest, comparison } = takeOver(context, live, next, managers, manager, true);
  const mine = rest.get(manager)?.set ?? emptySet;
  const owned = union(union(difference(mine, comparison.removed), comparison.modified), comparison.added);
  const result = new Map(rest);
  if (isEmpty(owned)) result.delete(manager);
  else result.set(manager, { set: owned, version: next.version, applied: false });
  return result;
}

/**
 * A server-side apply.
 * @returns the merged object (at the intent's version) and who owns what then
 * @throws ApplyConflict unless forced · TypedError when the intent has duplicates
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
  const last = managers.get(manager);
  const owned = recursiveDifference(fieldSetOf(intent.object, schema), context.ignored(intent.version));
  const result = new Map(managers);
  result.set(manager, { set: owned, version: intent.version, applied: true });
  const merged = merge(live.object, intent.object, schema);
  const pruned = prune(context, { object: merged, version: intent.version }, result, last);
  const taken = takeOver(context, live, { object: pruned, version: intent.version }, result, manager, options.force);
  return { object: pruned, managers: taken.managers };
}

/** Takes what changed from its owners. */
function takeOver(
  context: MergeContext,
  live: Versioned,
  next: Versioned,
  managers: Managers,
  manager: string,
  force: boolean,
): { managers: Managers; comparison: Comparison } {
  const byVersion = new Map<string, Comparison | undefined>();
  const compareAt = (version: string): Comparison | undefined => {
    if (!byVersion.has(version)) {
      const schema = context.schemaOf(version);
      const whole =
        schema && compare(context.convert(live.object, live.version, version), context.convert(next.object, next.version, version), schema);
      byVersion.set(version, whole && without(whole, context.ignored(version)));
    }
    return byVersion.get(version);
  };
  const comparison = compareAt(next.version) as Comparison;
  const conflicts: ManagerConflict[] = [];
  const result = new Map(managers);
  for (const [other, owned] of managers) {
    if (other === manager) continue;
    const changes = compareAt(owned.version);
    if (changes === undefined) {
      result.delete(other);
      continue;
    }
    const taken = intersection(owned.set, union(changes.modified, changes.added));
    if (!isEmpty(taken)) conflicts.push({ manager: other, set: taken });
    const left = difference(difference(owned.set, taken), changes.removed);
    if (isEmpty(left)) result.delete(other);
    else if (left !== owned.set) result.set(other, { ...owned, set: left });
  }
  if (!force && conflicts.length > 0) throw new ApplyConflict(conflicts);
  return { managers: result, comparison };
}

/** Changes of what nobody may own are none: they will be put back. */
function without({ added, removed, modified }: Comparison, ignored: PathSet): Comparison {
  if (isEmpty(ignored)) return { added, removed, modified };
  const rest = (set: PathSet): PathSet => recursiveDifference(set, ignored);
  return { added: rest(added), removed: rest(removed), modified: rest(modified) };
}

/** Removes what this manager applied before and now does not, where no one else owns it. */
function prune(context: MergeContext, merged: Versioned, managers: Managers, last: ManagedSet | undefined): PlainMap {
  if (last === undefined || isEmpty(last.set)) return merged.object;
  const schema = context.schemaOf(last.version);
  if (schema === undefined) return merged.object;
  const whole = context.convert(merged.object, merged.version, last.version);
  const lastNamed = named(last.set, schema);
  let pruned: Versioned = { object: removeItems(whole, lastNamed, schema), version: last.version };
  pruned = addBackOwned(context, { object: whole, version: last.version }, pruned, managers);
  pruned = addBackDangling(context, { object: whole, version: last.version }, pruned, lastNamed, last.version);
  return context.convert(pruned.object, pruned.version, merged.version);
}

function addBackOwned(context: MergeContext, merged: Versioned, pruned: Versioned, managers: Managers): Versioned {
  const owned = new Map<string, PathSet>();
  for (const { set, version } of managers.values()) owned.set(version, union(owned.get(version) ?? emptySet, set));
  const versions = [...owned.keys()].sort((a, b) => Number(b === merged.version) - Number(a === merged.version));
  let result = pruned;
  for (const version of versions) {
    const schema = context.schemaOf(version);
    if (schema === undefined) continue;
    const whole = context.convert(merged.object, merged.version, version);
    const rest = context.convert(result.object, result.version, version);
    const gone = difference(difference(present(whole, schema), present(rest, schema)), named(owned.get(version) as PathSet, schema));
    result = { object: removeItems(whole, gone, schema), version };
  }
  return result;
}

/** What was removed along with a parent, and was not this manager's, comes back. */
function addBackDangling(context: MergeContext, merged: Versioned, pruned: Versioned, lastNamed: PathSet, version: string): Versioned {
  const schema = context.schemaOf(version) as Struct;
  const rest = context.convert(pruned.object, pruned.version, version);
  const gone = intersection(difference(present(merged.object, schema), present(rest, schema)), lastNamed);
  return { object: removeItems(merged.object, gone, schema), version };
}

/** Duplicates that are stored already are tolerated, so this is not the intent's strict set. */
function present(object: PlainMap, schema: Struct): PathSet {
  return named(fieldSetOf(object, schema, { duplicates: "tolerate" }), schema);
}
