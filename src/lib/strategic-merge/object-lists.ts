/** Merges lists of objects by a key. Source: k8s.io/apimachinery@v0.36.0/pkg/util/strategicpatch/patch.go. */
import { type JsonObject, patchDirective } from "./directives.ts";
import { keyOf, orderElements } from "./element-order.ts";
import { noMergeKey, StrategicMergeError, unknownDirective } from "./strategic-merge-error.ts";

export type MergeElement = (element: JsonObject, change: JsonObject) => JsonObject;

interface ElementMerge {
  readonly mergeKey: string;
  readonly merge: MergeElement;
}

/**
 * Merges lists by key and orders the result.
 * @throws StrategicMergeError when an element lacks its key, and for unknown directives
 */
export function mergeElements(
  original: readonly JsonObject[],
  patch: readonly JsonObject[],
  { mergeKey, merge }: ElementMerge,
): unknown[] {
  const { live, changes } = applyDirectives(original, patch, mergeKey);
  const merged = [...live];
  const places = placesByKey(live, mergeKey);
  for (const change of changes) {
    if (!Object.hasOwn(change, mergeKey)) throw noMergeKey(change, mergeKey);
    const place = places.get(change[mergeKey]);
    if (place === undefined) places.set(change[mergeKey], merged.push(change) - 1);
    else merged[place] = merge(merged[place] as JsonObject, change);
  }
  return orderElements(merged, { requested: changes, live, mergeKey });
}

interface DirectedLists {
  readonly live: readonly JsonObject[];
  readonly changes: readonly JsonObject[];
}

/**
 * Removes elements with `$patch` from the patch, and deletes their targets or replaces the list.
 */
function applyDirectives(
  original: readonly JsonObject[],
  patch: readonly JsonObject[],
  mergeKey: string,
): DirectedLists {
  const changes = patch.filter((element) => !Object.hasOwn(element, patchDirective));
  const deleted = new Set<unknown>();
  let isReplaced = false;
  for (const element of patch) {
    if (!Object.hasOwn(element, patchDirective)) continue;
    const directive = element[patchDirective];
    if (directive === "delete") deleted.add(keyOf(element, mergeKey));
    else if (directive === "replace") isReplaced = true;
    else if (directive === "merge") throw new StrategicMergeError("merging lists cannot yet be specified in the patch");
    else throw unknownDirective(directive, element);
  }
  if (isReplaced) return { live: changes, changes: [] };
  return {
    live: original.filter((element) => !(Object.hasOwn(element, mergeKey) && deleted.has(element[mergeKey]))),
    changes,
  };
}

function placesByKey(list: readonly JsonObject[], mergeKey: string): Map<unknown, number> {
  const places = new Map<unknown, number>();
  for (const [index, element] of list.entries()) {
    if (Object.hasOwn(element, mergeKey) && !places.has(element[mergeKey])) places.set(element[mergeKey], index);
  }
  return places;
}

/**
 * The live list with which `$setElementOrder` compares. Upstream deletes and appends in one array,
 * so that for each deleted element a new one counts as an existing last element: `[a, b, d]`
 * without `a` and with the new `c` is `[b, d, c]`.
 */
export function liveOrder(live: readonly unknown[], patch: readonly unknown[], mergeKey: string): readonly unknown[] {
  if (
    mergeKey === "" ||
    live.length === 0 ||
    !patch.some((element) => Object.hasOwn(element as JsonObject, patchDirective))
  )
    return live;
  const { live: kept, changes } = applyDirectives(live as JsonObject[], patch as JsonObject[], mergeKey);
  const existing = placesByKey(kept, mergeKey);
  const added = changes.filter((change) => !existing.has(change[mergeKey]));
  return [...kept, ...added.slice(0, live.length - kept.length)];
}
