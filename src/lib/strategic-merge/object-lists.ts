/** Lists of objects that merge by a key. */
import { type JsonObject, patchDirective } from "./directives.ts";
import { keyOf, orderElements } from "./element-order.ts";
import { noMergeKey, StrategicMergeError, unknownDirective } from "./strategic-merge-error.ts";

export type MergeElement = (element: JsonObject, change: JsonObject) => JsonObject;

export interface ElementMerge {
  readonly mergeKey: string;
  readonly merge: MergeElement;
}

/** Merges by key and puts into the patch's order. @throws StrategicMergeError when an element lacks its key, or for a directive there is not */
export function mergeElements(
  original: readonly JsonObject[],
  patch: readonly JsonObject[],
  { mergeKey, merge }: ElementMerge,
): unknown[] {
  const { live, changes } = obeyDirectives(original, patch, mergeKey);
  const merged = [...live];
  const places = placesByKey(live, mergeKey);
  for (const change of changes) {
    if (!Object.hasOwn(change, mergeKey)) throw noMergeKey(change, mergeKey);
    const place = places.get(change[mergeKey]);
    if (place === undefined) places.set(change[mergeKey], merged.push(change) - 1);
    else merged[place] = merge(merged[place] as JsonObject, change);
  }
  return orderElements(merged, { wanted: changes, live, mergeKey });
}

interface DirectedLists {
  readonly live: readonly JsonObject[];
  readonly changes: readonly JsonObject[];
}

/** Takes the elements that carry `$patch` out of the patch: deletes what they name, or puts the patch in the list's place. */
function obeyDirectives(
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
 * The live list as `$setElementOrder` compares with it. Upstream deletes and appends in one array, so that the first new elements, as many as were
 * deleted, count as having stood last: `[a, b, d]` without `a` and with the new `c` is `[b, d, c]`.
 */
export function placesTaken(live: readonly unknown[], patch: readonly unknown[], mergeKey: string): readonly unknown[] {
  if (
    mergeKey === "" ||
    live.length === 0 ||
    !patch.some((element) => Object.hasOwn(element as JsonObject, patchDirective))
  )
    return live;
  const { live: kept, changes } = obeyDirectives(live as JsonObject[], patch as JsonObject[], mergeKey);
  const known = placesByKey(kept, mergeKey);
  const added = changes.filter((change) => !known.has(change[mergeKey]));
  return [...kept, ...added.slice(0, live.length - kept.length)];
}
