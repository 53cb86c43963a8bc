/** Items of associative lists, and the path elements that name them. */
import type { List } from "../schema/schema.ts";
import { indexElement, keyElement, valueElement } from "./fields-v1.ts";
import { fieldOf, isMap, shown, TypedError } from "./typed.ts";

/** What naming an item takes, made once for each type. */
interface KeyPlan {
  /** In order of their names. */
  readonly keys: readonly Key[];
}

interface Key {
  readonly name: string;
  /** The declared default, or what Go shows in the field when nothing is set; undefined when it shows nothing then. */
  readonly absent: unknown;
  /** Of the element, when this is its first, and when it is a later key. */
  readonly first: string;
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
    absent: field === undefined ? undefined : (field.default ?? shown(field, undefined) ?? undefined),
    first: `k:{${JSON.stringify(name)}:`,
    later: `,${JSON.stringify(name)}:`,
  };
}

/**
 * The path element of an item of an intent. Keys that are not given have their declared defaults, or Go's zero values
 * where it would show them: upstream's OpenAPI declares these as defaults.
 * @throws TypedError when the item has none of its keys
 */
export function itemElement(type: List, item: unknown, index: number): string {
  const element = type.listType === "set" ? valueElement(item) : keysElement(type, item);
  if (element !== undefined) return element;
  const names = type.mapKeys.map((name) => JSON.stringify(name)).join(" ");
  throw new TypedError(
    `element ${index}: associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
  );
}

/**
 * The path element of an item of a whole object, where Go's zero values count as given. What has no key still gets a name, its place in the list:
 * validation refuses it later, or has let it pass long ago.
 */
export function storedElement(type: List, item: unknown, index: number): string {
  if (type.listType === "set") return valueElement(item);
  return keysElement(type, item) ?? indexElement(index);
}

function keysElement(type: List, item: unknown): string | undefined {
  const { keys } = planOf(type);
  const known = isMap(item) ? item : {};
  let text = "";
  for (const key of keys) {
    const given = fieldOf(known, key.name); // Null is a key, too.
    const value = given === undefined ? key.absent : given;
    if (value !== undefined) text += (text === "" ? key.first : key.later) + scalar(value);
  }
  return text === "" ? undefined : `${text}}`;
}

function scalar(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
    case "boolean":
    case "bigint":
      return String(value);
    default:
      return keyElement({ "": value }).slice(`k:{"":`.length, -1);
  }
}

/** How an element of a list is found: by the rules for intents, or for whole objects. */
export type ItemNaming = typeof itemElement;

/** Items of a list by path element; an element that occurs more than once keeps all its items, in order. */
export function itemsByElement(type: List, items: readonly unknown[], naming: ItemNaming): Map<string, unknown[]> {
  const result = new Map<string, unknown[]>();
  for (const [index, item] of items.entries()) {
    const element = naming(type, item, index);
    const same = result.get(element);
    if (same === undefined) result.set(element, [item]);
    else same.push(item);
  }
  return result;
}
