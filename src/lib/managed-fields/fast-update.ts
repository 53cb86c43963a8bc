/**
 * Computes managed fields after an update that changes no fields of other managers, as most do:
 * compares entries in their encoded form and decodes at most the writer's. The result equals that
 * of `takeOver`, which handles all other updates. Source: the updater of
 * sigs.k8s.io/structured-merge-diff/v6.
 */
import { isObject } from "../json/values.ts";
import { type Comparison, changedFields } from "../structured-merge/compare.ts";
import { decodeFieldsV1, encodeFieldsV1, encodeWithout, isCanonicalElement } from "../structured-merge/fields-v1.ts";
import { typeBelow } from "../structured-merge/reconcile.ts";
import type { Struct, Type } from "../structured-merge/schema.ts";
import {
  difference,
  emptySet,
  isEmpty,
  type PathNode,
  type PathSet,
  sortElements,
  union,
} from "../structured-merge/set.ts";
import { isWhole } from "../structured-merge/typed.ts";
import { updateManagersMax } from "./cap.ts";
import { inWrittenOrder, type ManagedFieldsEntry, type ManagerInfo } from "./entries.ts";
import { unmanaged } from "./unmanaged.ts";

/**
 * Computes the entries after an update.
 * @param entries the entries before
 * @param writer an update manager
 * @param changes at the writer's version, without fields that cannot be owned
 * @param now RFC 3339
 * @returns undefined when another manager loses fields, or an entry has another version or schema,
 *   occurs twice, or is encoded unlike ours
 */
export function fastUpdate(
  entries: readonly ManagedFieldsEntry[],
  writer: ManagerInfo,
  changes: Comparison,
  schema: Struct,
  now: string,
): ManagedFieldsEntry[] | undefined {
  const changed = changedFields(changes);
  let own: ManagedFieldsEntry | undefined;
  let lost = emptySet;
  const rest: ManagedFieldsEntry[] = [];
  for (const entry of entries) {
    if (entry.apiVersion !== writer.apiVersion || entry.fieldsType !== "FieldsV1" || !isPlainSet(entry.fieldsV1))
      return undefined;
    if (isOf(entry, writer)) {
      if (own !== undefined || !isDisjoint(entry.fieldsV1, schema, undefined, undefined)) return undefined;
      own = entry;
      // A client mostly omits unmanaged fields, such as uid and creationTimestamp.
      if (!isDisjoint(entry.fieldsV1, schema, changes.removed, undefined)) lost = changes.removed;
    } else {
      if (entry.operation !== "Update" && entry.operation !== "Apply") return undefined;
      if (rest.some((other) => isOf(other, entry)) || !isDisjoint(entry.fieldsV1, schema, changed, changes.removed))
        return undefined;
      rest.push(entry);
    }
  }
  const after =
    own === undefined
      ? newEntry(writer, encodeWithout(changed, unmanaged), now)
      : ownEntry(own, difference(changed, unmanaged), lost, now);
  if (after !== undefined) rest.push(after);
  if (rest.length > updateManagersMax) return undefined; // The oldest may have to be merged.
  return rest.length === 1 ? rest : rest.sort(inWrittenOrder);
}

/** Whether the set has fields, but not the root, which cannot be owned. */
function isPlainSet(written: unknown): boolean {
  return isObject(written) && hasKeys(written) && !Object.hasOwn(written, ".");
}

function isOf(
  entry: ManagedFieldsEntry,
  { manager, operation, subresource = "" }: Partial<Pick<ManagedFieldsEntry, keyof ManagerInfo>>,
): boolean {
  return entry.manager === manager && entry.operation === operation && (entry.subresource ?? "") === subresource;
}

/** @returns undefined without fields */
function newEntry(
  { manager, operation, apiVersion, subresource }: ManagerInfo,
  fieldsV1: Record<string, unknown> | undefined,
  time: string,
): ManagedFieldsEntry | undefined {
  if (fieldsV1 === undefined) return undefined;
  const where = subresource === "" ? undefined : { subresource };
  return { manager, operation, apiVersion, time, fieldsType: "FieldsV1", fieldsV1, ...where };
}

/** @returns undefined when the writer manages no fields */
function ownEntry(own: ManagedFieldsEntry, mine: PathSet, lost: PathSet, now: string): ManagedFieldsEntry | undefined {
  const written = own.fieldsV1 as Record<string, unknown>;
  const after: ManagedFieldsEntry = isEmpty(mine) ? own : { ...own, time: now };
  if (isEmpty(lost)) return holds(written, mine) ? after : { ...after, fieldsV1: withPaths(written, mine) };
  const before = decodeFieldsV1(written);
  const set = union(difference(before, lost), mine);
  if (isEmpty(set)) return undefined;
  return set === before ? after : { ...after, fieldsV1: encodeFieldsV1(set) };
}

/** The encoded set with the paths added; unchanged parts are shared. */
function withPaths(written: Record<string, unknown>, paths: PathNode): Record<string, unknown> {
  const elements = Object.keys(written).filter((key) => key !== ".");
  for (const element of paths.children.keys()) if (!Object.hasOwn(written, element)) elements.push(element);
  const result: Record<string, unknown> = {};
  if (elements.length > 0 && (paths.member || isMember(written))) result["."] = {};
  for (const element of sortElements(elements)) {
    const part = written[element] as Record<string, unknown> | undefined;
    const node = paths.children.get(element);
    if (node === undefined) result[element] = part;
    else result[element] = part === undefined ? encodeFieldsV1(node) : withPaths(part, node);
  }
  return result;
}

/** Whether the encoded set contains all of the paths. */
function holds(written: Record<string, unknown>, paths: PathNode): boolean {
  for (const [element, node] of paths.children) {
    if (!Object.hasOwn(written, element)) return false;
    const part = written[element] as Record<string, unknown>;
    if (node.member && !isMember(part)) return false;
    if (!holds(part, node)) return false;
  }
  return true;
}

/** A part without children is a member itself. */
function isMember(part: Record<string, unknown>): boolean {
  return Object.hasOwn(part, ".") || !hasKeys(part);
}

function hasKeys(part: object): boolean {
  for (const _ in part) return true;
  return false;
}

/**
 * Whether the encoded paths are encoded as ours, fit the current schema, and are in neither set.
 * @param type undefined where there is no schema
 */
function isDisjoint(
  written: unknown,
  type: Type | undefined,
  one: PathNode | undefined,
  other: PathNode | undefined,
): boolean {
  if (!isObject(written)) return false;
  for (const key in written) {
    if (key === ".") {
      if (one?.member || other?.member) return false;
      continue;
    }
    if (!isCanonicalElement(key)) return false;
    const part = written[key];
    const [oneBelow, otherBelow] = [one?.children.get(key), other?.children.get(key)];
    if (isObject(part) && !hasKeys(part)) {
      if (oneBelow?.member || otherBelow?.member) return false;
      continue;
    }
    const below = type === undefined ? undefined : typeBelow(type, key);
    if (below !== undefined && isWhole(below)) return false;
    if (!isDisjoint(part, below, oneBelow, otherBelow)) return false;
  }
  return true;
}
