/**
 * FieldsV1: the JSON form of a path set in metadata.managedFields.
 * Source: KEP-555; structured-merge-diff's fieldpath/serialize.go.
 */
import { sortedKeys } from "../json/encode-any.ts";
import { formatGoFloat } from "../json/go-value.ts";
import { quoteGo } from "../json/quote.ts";
import { survey } from "../json/survey.ts";
import { keyNameText, scalarText } from "./scalar-text.ts";
import { emptySet, isEmpty, leaf, type PathNode, type PathSet, sortedElements } from "./set.ts";

/** Levels of nesting that are decoded, also inside the text of a key; managed fields of real objects have fewer than fifty. */
const depthMax = 1000;

/**
 * Encodes a set as the plain object of a `fieldsV1` field, with keys in upstream's order. Parts that
 * are equal may be one object, so that they must not be changed.
 */
export function encodeFieldsV1(set: PathSet): Record<string, unknown> {
  return encodeNode(set, new Map());
}

/**
 * Encodes the paths of a set that are not in another one.
 * @returns undefined when there are none
 */
export function encodeWithout(set: PathSet, without: PathSet): Record<string, unknown> | undefined {
  const result: Record<string, unknown> = {};
  const member = set.member && !without.member;
  let size = 0;
  for (const element of sortedElements(set)) {
    const child = set.children.get(element) as PathNode;
    const excluded = without.children.get(element);
    const part = excluded === undefined ? encodeFieldsV1(child) : encodeWithout(child, excluded);
    if (part === undefined) continue;
    if (size++ === 0 && member) result["."] = noFields;
    result[element] = part;
  }
  return size > 0 || member ? result : undefined;
}

/** @param encoded the objects of nodes, because many items of a list share their node */
function encodeNode(set: PathNode, encoded: Map<PathNode, Record<string, unknown>>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  if (set.member && set.children.size > 0) result["."] = noFields;
  for (const element of sortedElements(set)) {
    const child = set.children.get(element) as PathNode;
    let part = child.children.size === 0 ? noFields : encoded.get(child);
    if (part === undefined) {
      part = encodeNode(child, encoded);
      encoded.set(child, part);
    }
    // `element` is never `__proto__`: it begins with a letter and a colon.
    result[element] = part;
  }
  return result;
}

const noFields: Record<string, unknown> = Object.freeze({});

/**
 * Decodes the plain object of a `fieldsV1` field. Path elements of unknown kinds are skipped, as
 * upstream does.
 *
 * @throws FieldsV1Error when the value is not a field set
 *
 * @example
 * ```ts
 * import { decodeFieldsV1, formatPath, paths } from "coxswain/structured-merge";
 *
 * const set = decodeFieldsV1({ "f:spec": { "f:containers": { 'k:{"name":"a"}': { "f:image": {} } } } });
 * for (const path of paths(set)) console.log(formatPath(path)); // .spec.containers[name="a"].image
 * ```
 */
export function decodeFieldsV1(value: unknown): PathSet {
  const root = decodeNode(value, 0, { depth: -1, keys: [], node: leaf });
  // The root itself is never owned.
  return root.member ? { member: false, children: root.children } : root;
}

/** A value that is not a valid field set. */
export class FieldsV1Error extends Error {
  override readonly name = "FieldsV1Error";
}

/** The last node that has only leaves: those with the same keys share it. */
interface LastNode {
  depth: number;
  keys: readonly string[];
  node: PathNode;
}

function decodeNode(value: unknown, depth: number, last: LastNode): PathNode {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new FieldsV1Error("expected an object");
  if (depth > depthMax) throw new FieldsV1Error("exceeded max depth");
  const keys = Object.keys(value);
  if (keys.length === 0) return emptySet;
  if (depth === last.depth && isSame(keys, last.keys) && hasOnlyEmpty(value)) return last.node;
  let children: Map<string, PathNode> | undefined;
  let member = false;
  let hasOnlyLeaves = true;
  for (const key of keys) {
    if (key === ".") {
      member = true;
      continue;
    }
    const part = (value as Record<string, unknown>)[key];
    const element = canonicalElement(key);
    if (element === undefined) continue;
    const child = decodeNode(part, depth + 1, last);
    // An element with nothing below it is itself a member.
    children ??= new Map();
    children.set(element, isEmpty(child) ? leaf : child);
    hasOnlyLeaves &&= isEmpty(child);
  }
  if (children === undefined) return member ? leaf : emptySet;
  const node = { member, children };
  if (hasOnlyLeaves) Object.assign(last, { depth, keys, node });
  return node;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, index) => key === b[index]);
}

/** Whether all members are empty objects. */
function hasOnlyEmpty(value: object): boolean {
  for (const part of Object.values(value)) {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return false;
    for (const _key in part) return false;
  }
  return true;
}

/**
 * Whether a key is a path element in the form that `encodeFieldsV1` writes. May return false for
 * rare ones.
 */
export function isCanonicalElement(key: string): boolean {
  switch (key.slice(0, 2)) {
    case "f:":
      return true;
    case "k:":
      return isPlainKey(key);
    case "v:":
      return plainValue.test(key);
    default:
      return false;
  }
}

function canonicalElement(key: string): string | undefined {
  const text = key.slice(2);
  if (key[1] !== ":") throw new FieldsV1Error(`missing colon: ${quoteGo(key)}`);
  switch (key[0]) {
    case "f":
      return key;
    case "i":
      return indexElement(indexOf(text));
    case "k":
      return isPlainKey(key) ? key : keysOf(parse(text), text);
    case "v":
      return plainValue.test(key) ? key : valueElement(parse(text));
    default:
      return undefined;
  }
}

/** @throws FieldsV1Error for text that is not an integer of 64 bits */
function indexOf(text: string): bigint {
  const index = /^[+-]?\d{1,30}$/.test(text) ? BigInt(text.replace("+", "")) : undefined;
  if (index === undefined || BigInt.asIntN(64, index) !== index) throw new FieldsV1Error(`bad index: ${quoteGo(text)}`);
  return index;
}

/** One or two keys, sorted, with nothing to escape: already in canonical form. */
const plainKey =
  /^k:\{"([\w.-]+)":(?:"[\w./: -]*"|0|[1-9]\d{0,14})(?:,"([\w.-]+)":(?:"[\w./: -]*"|0|[1-9]\d{0,14}))?\}$/;

function isPlainKey(key: string): boolean {
  const match = plainKey.exec(key);
  return match !== null && (match[2] === undefined || (match[1] as string) < match[2]);
}

const plainValue = /^v:"[\w./: -]*"$/;

function keysOf(keys: unknown, text: string): string {
  if (typeof keys !== "object" || keys === null || Array.isArray(keys)) throw new FieldsV1Error(`bad element: ${text}`);
  return keyElement(keys as Record<string, unknown>);
}

function parse(text: string): unknown {
  if (survey(Buffer.from(text)).depth > depthMax) throw new FieldsV1Error("exceeded max depth");
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new FieldsV1Error(`bad element: ${text}`);
    throw error;
  }
}

/** The path element of a field of a struct or map. */
export function fieldElement(name: string): string {
  return `f:${name}`;
}

/** The path element of a list item that is identified by keys. */
export function keyElement(keys: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(keys).sort();
  return `k:{${names.map((name) => `${keyNameText(name)}:${scalarText(keys[name])}`).join(",")}}`;
}

/** The path element of an item of a set. */
export function valueElement(value: unknown): string {
  return `v:${scalarText(value)}`;
}

/** The path element of a list item that is identified by its index. */
export function indexElement(index: number | bigint): string {
  return `i:${index}`;
}

/** Formats a path as conflict messages print it: `.spec.containers[name="a"].image`. */
export function formatPath(path: readonly string[]): string {
  return path.map(formatElement).join("");
}

function formatElement(element: string): string {
  const text = element.slice(2);
  switch (element[0]) {
    case "f":
      return `.${text}`;
    case "k":
      return `[${membersOf(JSON.parse(text) as Record<string, unknown>).join(",")}]`;
    case "v":
      return `[=${formatValue(JSON.parse(text))}]`;
    default:
      return `[${text}]`;
  }
}

/** Lists and objects, which no valid key has, are formatted as upstream formats them. */
function formatValue(value: unknown): string {
  if (typeof value === "string") return quoteGo(value);
  if (typeof value === "number") return formatGoFloat(value); // Upstream decodes all numbers of path elements as floats.
  if (Array.isArray(value)) return `[${value.map(formatValue).join(",")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  return membersOf(value as Record<string, unknown>).join("");
}

const membersOf = (value: Record<string, unknown>): string[] =>
  sortedKeys(value).map((name) => `${name}=${formatValue(value[name])}`);
