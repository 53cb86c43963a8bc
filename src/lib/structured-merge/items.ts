/**
 * Items of associative lists, and the path elements that identify them. Source:
 * https://github.com/kubernetes-sigs/structured-merge-diff.
 */

import { valueElement } from "./fields-v1.ts";
import { keyNameText, scalarText } from "./scalar-text.ts";
import type { Field, List } from "./schema.ts";
import { fieldOf, isMap, serialized, TypedError } from "./typed.ts";

/** How to build the path elements of a list's items; computed once per type. */
interface KeyPlan {
  /** Sorted by name. */
  readonly keys: readonly Key[];
}

interface Key {
  readonly name: string;
  /**
   * The declared default, or the zero value that Go serializes; undefined when Go omits the field.
   */
  readonly absent: unknown;
  /** Undefined where no schema describes the key. */
  readonly field: Field | undefined;
  /** The text before the value when this is the first key of the element. */
  readonly first: string;
  /** The text before the value when another key precedes it. */
  readonly later: string;
}

const plans = new WeakMap<List, KeyPlan>();

function planOf(type: List): KeyPlan {
  let plan = plans.get(type);
  if (plan === undefined) {
    plan = { keys: [...type.mapKeys].sort().map((name) => keyOf(type, name)) };
    plans.set(type, plan);
  }
  return plan;
}

function keyOf(type: List, name: string): Key {
  const field = type.items.kind === "struct" ? type.items.byName.get(name) : undefined;
  return {
    name,
    field,
    absent: field === undefined ? undefined : (field.default ?? serialized(field, undefined) ?? undefined),
    first: `k:{${keyNameText(name)}:`,
    later: `,${keyNameText(name)}:`,
  };
}

/**
 * The path element of an item. Absent keys have their declared defaults, or the zero
 * values that Go serializes, because upstream's OpenAPI declares these as defaults.
 * @param isWritten whether the item is exactly as a client wrote it; otherwise, empty keys that Go omits are absent
 * @throws TypedError when the item has none of its keys
 */
export function itemElement(type: List, item: unknown, index: number, isWritten = true): string {
  const element = type.listType === "set" ? valueElement(item) : keysElement(type, item, isWritten);
  if (element !== undefined) return element;
  const names = type.mapKeys.map((name) => JSON.stringify(name)).join(" ");
  throw new TypedError(
    `element ${index}: associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
  );
}

function keysElement(type: List, item: unknown, isWritten: boolean): string | undefined {
  const { keys } = planOf(type);
  const fields = isMap(item) ? item : {};
  let text = "";
  for (const key of keys) {
    const written = fieldOf(fields, key.name); // Null is a key, too.
    const sent = isWritten || key.field === undefined ? written : serialized(key.field, written);
    const value = sent === undefined ? key.absent : sent;
    if (value !== undefined) text += (text === "" ? key.first : key.later) + scalarText(value);
  }
  return text === "" ? undefined : `${text}}`;
}

/** A list and the path elements of its items. */
export interface ListElements {
  readonly items: readonly unknown[];
  readonly elements: readonly string[];
}

/** Lists whose path elements several steps of one apply read. They must not change meanwhile. */
export class KnownElements {
  readonly #known = new Map<readonly unknown[], ListElements & { readonly type: List }>();

  /** @param elements of all items of the list */
  set(type: List, items: readonly unknown[], elements: readonly string[]): void {
    this.#known.set(items, { type, items, elements });
  }

  /** @throws TypedError when an item has none of its keys */
  of(type: List, items: readonly unknown[]): ListElements {
    const known = this.#known.get(items);
    return known?.type === type ? known : elementsOf(type, items);
  }
}

/**
 * The path elements of the items, in order.
 * @param like another state of the list, with which most items may be shared
 * @param isWritten see {@link itemElement}
 * @throws TypedError when an item has none of its keys
 */
export function elementsOf(type: List, items: readonly unknown[], like?: ListElements, isWritten = true): ListElements {
  const elements = items.map((item, index) =>
    like !== undefined && index < like.items.length && item === like.items[index]
      ? (like.elements[index] as string)
      : itemElement(type, item, index, isWritten),
  );
  return { items, elements };
}

/** So many elements are searched for one after another, which is faster than a set of all. */
const searchedMax = 4;

/**
 * Whether two states of a list have the same path elements in the same order, so that items belong together in pairs.
 * False where the element of a pair that differs occurs again.
 */
export function hasSameElements(a: ListElements, b: ListElements): boolean {
  const { length } = a.elements;
  if (length !== b.elements.length) return false;
  const changed: string[] = [];
  for (let index = 0; index < length; index++) {
    const element = a.elements[index] as string;
    if (element !== b.elements[index]) return false;
    if (a.items[index] !== b.items[index]) changed.push(element);
  }
  if (changed.length > searchedMax) return new Set(a.elements).size === length;
  return changed.every((element) => a.elements.indexOf(element) === a.elements.lastIndexOf(element));
}

/** Items of a list by path element; an element that occurs more than once keeps all its items, in order. */
export function itemsByElement({ items, elements }: ListElements): Map<string, unknown[]> {
  const result = new Map<string, unknown[]>();
  for (const [index, item] of items.entries()) {
    const element = elements[index] as string;
    const same = result.get(element);
    if (same === undefined) result.set(element, [item]);
    else same.push(item);
  }
  return result;
}
