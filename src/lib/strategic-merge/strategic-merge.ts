/**
 * Strategic merge patch: a merge patch whose lists merge as the schema declares.
 * Source: k8s.io/apimachinery@v0.36.0/pkg/util/strategicpatch/patch.go
 */
import { formatGoValue, goListType, goMapType, goTypeOf } from "../json/go-value.ts";
import { isObject } from "../json/values.ts";
import type { Struct, Type } from "../schema/schema.ts";
import {
  deletionPrefix,
  discardNulls,
  fieldOfDirective,
  type JsonObject,
  orderPrefix,
  patchDirective,
  retainKeysDirective,
  withoutDirectives,
} from "./directives.ts";
import { checkOrder, orderElements } from "./element-order.ts";
import { goKind, type MergeRule, ruleOfList, ruleOfObject } from "./merge-rules.ts";
import { liveOrder, type MergeElement, mergeElements } from "./object-lists.ts";
import { badFormat, badType, StrategicMergeError, unknownDirective } from "./strategic-merge-error.ts";

export { StrategicMergeError } from "./strategic-merge-error.ts";

/**
 * Applies a strategic merge patch.
 *
 * @param original an object that conforms to `schema`; not changed
 * @param patch an object of at most `retainedDepthMax` levels. It is changed: applied directives
 *   and meaningless nulls are removed, as upstream's error messages show it.
 * @returns the patched object, not yet checked against the schema; it shares parts with `original`
 *   and `patch`
 * @throws StrategicMergeError
 */
export function applyStrategicMergePatch(
  original: object,
  patch: Record<string, unknown>,
  schema: Struct,
): Record<string, unknown> {
  return mergeObjects(original as JsonObject, patch, schema);
}

/**
 * The members of an object during the merge. A map, so that `__proto__` is a name like any other.
 */
type Members = Map<string, unknown>;

function mergeObjects(original: JsonObject, patch: JsonObject, type: Type): JsonObject {
  const members: Members = new Map(Object.entries(patch));
  if (members.has(patchDirective)) return applyDirective(members.get(patchDirective), patch);
  const merged: Members = new Map(Object.entries(original));
  retainKeys(merged, members);
  mergeOrderedLists(merged, members, type);
  for (const key of Object.keys(patch)) if (!members.has(key)) delete patch[key];
  for (const [key, value] of members) mergeMember(merged, key, value, type);
  return Object.fromEntries(merged);
}

function applyDirective(directive: unknown, patch: JsonObject): JsonObject {
  if (directive === "delete") return {};
  if (directive !== "replace") throw unknownDirective(directive, patch);
  delete patch[patchDirective];
  return patch;
}

/**
 * Applies `$retainKeys`: removes all members that it does not list. The patch may set no others.
 */
function retainKeys(merged: Members, patch: Members): void {
  if (!patch.has(retainKeysDirective)) return;
  const list = patch.get(retainKeysDirective);
  patch.delete(retainKeysDirective);
  if (!Array.isArray(list)) throw badFormat("retainKeys");
  const retained = new Set<unknown>(list);
  for (const [key, value] of patch) {
    const isSet = value !== null && !key.startsWith(deletionPrefix) && !key.startsWith(orderPrefix);
    if (isSet && !retained.has(key)) throw badFormat("retainKeys");
  }
  for (const key of merged.keys()) if (!retained.has(key)) merged.delete(key);
}

/** Applies `$setElementOrder/<field>` together with the field, and removes both from the patch. */
function mergeOrderedLists(merged: Members, patch: Members, type: Type): void {
  for (const [key, order] of [...patch]) {
    if (!key.startsWith(orderPrefix)) continue;
    patch.delete(key);
    if (!Array.isArray(order)) throw badType(goListType, order);
    const name = fieldOfDirective(key, orderPrefix);
    const live = findList(merged, name);
    const changes = findList(patch, name);
    const rule = ruleOfList(type, name);
    checkOrder(changes ?? [], order, rule.mergeKey);
    if (live === undefined && changes === undefined) continue;
    merged.set(name, mergeInOrder({ live, changes, order, rule, merged: mergeIfBoth(live, changes, rule) }));
    patch.delete(name);
  }
}

/** @throws StrategicMergeError when the member is not a list */
function findList(members: Members, name: string): readonly unknown[] | undefined {
  const value = members.get(name);
  if (Array.isArray(value) || !members.has(name)) return value as readonly unknown[] | undefined;
  throw badType(goListType, value);
}

interface OrderedMerge {
  readonly live: readonly unknown[] | undefined;
  readonly changes: readonly unknown[] | undefined;
  readonly order: readonly unknown[];
  readonly rule: MergeRule;
  /** The elements of both lists, in any order. */
  readonly merged: readonly unknown[];
}

function mergeInOrder({ live = [], changes = [], order, rule: { mergeKey }, merged }: OrderedMerge): unknown[] {
  const isOfObjects = checkElementTypes(live, changes) === goMapType;
  return orderElements(merged, {
    requested: order,
    live: isOfObjects ? liveOrder(live, changes, mergeKey) : live,
    mergeKey,
  });
}

function mergeIfBoth(
  live: readonly unknown[] | undefined,
  changes: readonly unknown[] | undefined,
  rule: MergeRule,
): readonly unknown[] {
  if (changes === undefined) return live ?? [];
  if (live === undefined) return withoutDirectives(changes) as unknown[];
  return mergeListsByRule(live, changes, rule);
}

function mergeMember(merged: Members, key: string, value: unknown, type: Type): void {
  if (key.startsWith(deletionPrefix)) {
    deleteElements(merged, fieldOfDirective(key, deletionPrefix), value, type);
    return;
  }
  const current = merged.get(key);
  if (value === null) merged.delete(key);
  else if (isObject(current) && isObject(value))
    merged.set(key, mergeObjectsByRule(current, value, ruleOfObject(type, key)));
  else if (Array.isArray(current) && Array.isArray(value))
    merged.set(key, mergeListsByRule(current, value, ruleOfList(type, key)));
  else setWithoutMerge(merged, key, value);
}

/** Sets a member that the original does not have, or has with another type. */
function setWithoutMerge(merged: Members, key: string, value: unknown): void {
  discardNulls(value);
  const kept = withoutDirectives(value);
  if (kept === undefined) merged.delete(key);
  else merged.set(key, kept);
}

function mergeObjectsByRule(original: JsonObject, patch: JsonObject, { type, strategy }: MergeRule): JsonObject {
  return strategy === "replace" ? patch : mergeObjects(original, patch, type);
}

function mergeListsByRule(
  original: readonly unknown[],
  patch: readonly unknown[],
  rule: MergeRule,
): readonly unknown[] {
  if (rule.strategy !== "merge" || (original.length === 0 && patch.length === 0)) return patch;
  if (checkElementTypes(original, patch) === goMapType) return mergeObjectLists(original, patch, rule);
  const union = [...new Set([...original, ...patch])];
  return orderElements(union, { requested: patch, live: original, mergeKey: rule.mergeKey });
}

/**
 * Applies `$deleteFromPrimitiveList/<field>`, for any strategy. As in upstream, lists of objects
 * are merged instead.
 */
function deleteElements(merged: Members, name: string, value: unknown, type: Type): void {
  const current = merged.get(name);
  if (value === null) merged.delete(name);
  if (!Array.isArray(current) || !Array.isArray(value)) return;
  const rule = ruleOfList(type, name);
  if (current.length === 0 && value.length === 0) return;
  if (checkElementTypes(current, value) === goMapType) {
    merged.set(name, mergeObjectLists(current, value, rule));
    return;
  }
  const deleted = new Set<unknown>(value);
  merged.set(
    name,
    current.filter((element) => !deleted.has(element)),
  );
}

function mergeObjectLists(
  original: readonly unknown[],
  patch: readonly unknown[],
  { type, mergeKey }: MergeRule,
): unknown[] {
  if (mergeKey === "") throw new StrategicMergeError(`cannot merge lists without merge key for ${goKind(type)}`);
  const merge: MergeElement = (element, change) => mergeObjects(element, change, type);
  return mergeElements(original as JsonObject[], patch as JsonObject[], { mergeKey, merge });
}

/**
 * The common type of the elements of both lists.
 * @throws StrategicMergeError when the types differ or are lists, and when both lists are empty
 */
function checkElementTypes(original: readonly unknown[], patch: readonly unknown[]): string {
  const types = new Set([...original, ...patch].map(goTypeOf));
  const [type] = types;
  if (type === undefined) throw new StrategicMergeError("no elements in any of the given slices");
  if (type === goListType) throw new StrategicMergeError("lists of lists are not supported", "unprocessable");
  if (types.size > 1)
    throw new StrategicMergeError(`list element types are not identical: ${formatGoValue([original, patch])}`);
  return type;
}
