/**
 * The order of a merged list: elements of the patch have the patch's order, and elements that are
 * only in the live list keep their places between them as far as possible.
 * Source: k8s.io/apimachinery@v0.36.0/pkg/util/strategicpatch/patch.go.
 */
import { formatGoValue, goMapType } from "../json/go-value.ts";
import { isObject } from "../json/values.ts";
import { directiveOf, orderPrefix } from "./directives.ts";
import { badFormat, badType, noMergeKey, StrategicMergeError } from "./strategic-merge-error.ts";

interface OrderOptions {
  /** The elements, or for objects at least their merge keys, in the requested order. */
  readonly requested: readonly unknown[];
  /** The list before the patch. */
  readonly live: readonly unknown[];
  /** Empty for scalars. */
  readonly mergeKey: string;
}

/**
 * Orders the elements of a merged list.
 * @throws StrategicMergeError when an element lacks its merge key
 */
export function orderElements(merged: readonly unknown[], { requested, live, mergeKey }: OrderOptions): unknown[] {
  if (mergeKey !== "" && isObject(merged[0])) checkObjects(requested);
  if (mergeKey === "" && merged.length === 0 && isObject(live[0])) throw noMergeKey(live[0], mergeKey);
  const requestedPlaces = placesOf(requested, mergeKey);
  const livePlaces = placesOf(live, mergeKey);
  const elements = merged.map((value): Element => ({ value, key: keyOf(value, mergeKey) }));
  const named = elements.filter(({ key }) => requestedPlaces.has(key));
  const others = elements.filter(({ key }) => !requestedPlaces.has(key));
  return interleave(sortByPlace(others, livePlaces), sortByPlace(named, requestedPlaces), livePlaces);
}

function checkObjects(list: readonly unknown[]): void {
  const index = list.findIndex((element) => !isObject(element));
  if (index >= 0) throw new StrategicMergeError(`value for key ${index} is not a map`);
}

interface Element {
  readonly value: unknown;
  readonly key: unknown;
}

/** The index of the first element with each key. */
type Places = ReadonlyMap<unknown, number>;

/**
 * The identity of an element: the value of its merge key, or the element itself.
 * @throws StrategicMergeError when the element does not fit the key
 */
export function keyOf(element: unknown, mergeKey: string): unknown {
  if (mergeKey === "") {
    if (isObject(element)) throw badFormat("setElementOrder list"); // Upstream panics.
    return element;
  }
  if (!isObject(element)) throw badType(goMapType, element);
  if (!Object.hasOwn(element, mergeKey)) throw noMergeKey(element, mergeKey);
  return element[mergeKey];
}

function placesOf(list: readonly unknown[], mergeKey: string): Places {
  const places = new Map<unknown, number>();
  for (const [index, element] of list.entries()) {
    const key = keyOf(element, mergeKey);
    if (!places.has(key)) places.set(key, index);
  }
  return places;
}

function sortByPlace(elements: readonly Element[], places: Places): Element[] {
  const placeOf = ({ key }: Element): number => places.get(key) ?? places.size;
  return elements.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/**
 * Puts each of `others` before the first of `named` that followed it in the live list, or else at
 * the end.
 */
function interleave(others: readonly Element[], named: readonly Element[], livePlaces: Places): unknown[] {
  const ordered: unknown[] = [];
  let next = 0;
  for (const { value, key } of named) {
    const namedPlace = livePlaces.get(key) ?? -1;
    for (
      let other = others[next];
      other !== undefined && (livePlaces.get(other.key) ?? namedPlace) < namedPlace;
      other = others[++next]
    ) {
      ordered.push(other.value);
    }
    ordered.push(value);
  }
  return ordered.concat(others.slice(next).map(({ value }) => value));
}

/**
 * Checks that a patch with `$setElementOrder` has its elements in that order, and that the order
 * has all of them. Deletions do not count; as in upstream, other directives count only after the
 * last element.
 * @throws StrategicMergeError
 */
export function checkOrder(patch: readonly unknown[], order: readonly unknown[], mergeKey: string): void {
  if (patch.length === 0 || order.length === 0) return;
  const key = mergeKey === "" ? (element: unknown) => element : (element: unknown) => keyOf(element, mergeKey);
  let place = 0;
  for (const element of mergeKey === "" ? patch : patch.filter((item) => !isDeletion(item))) {
    if (place < order.length && directiveOf(element) !== undefined) continue;
    while (place < order.length && key(element) !== key(order[place])) place++;
    if (place++ >= order.length) throw wrongOrder(patch, order);
  }
}

function isDeletion(element: unknown): boolean {
  if (!isObject(element)) throw badType(goMapType, element);
  return directiveOf(element) === "delete";
}

function wrongOrder(patch: readonly unknown[], order: readonly unknown[]): StrategicMergeError {
  return new StrategicMergeError(
    `The order in patch list:\n${formatGoValue(patch)}\n doesn't match ${orderPrefix} list:\n${formatGoValue(order)}\n`,
  );
}
