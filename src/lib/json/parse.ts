/** JSON texts as Go reads them, at the speed of the engine's parser wherever it makes no difference. */
import { depthMax, type Exact, type Member, NumberLiteral, parseExact } from "./exact.ts";
import { quoteGo } from "./quote.ts";
import { survey } from "./survey.ts";
import { JsonSyntaxError } from "./syntax-error.ts";

export { JsonSyntaxError } from "./syntax-error.ts";

/** A parsed text, for a reader who finds repeated keys himself: he counts the members he sees. */
export interface Document {
  readonly bytes: Buffer;
  /** Owned by the reader. Numbers may be bigint or NumberLiteral. */
  readonly value: unknown;
  /** Members in the text; more than in `value` when a key is repeated. */
  readonly members: number;
  /** How deep it nests; not known of what was parsed exactly. */
  readonly depth?: number;
  /** Set once the text was parsed exactly: all members of the objects that repeat a key. */
  readonly repeated?: ReadonlyMap<object, readonly Member[]>;
}

/** @throws JsonSyntaxError with Go's message */
export function parseDocument(bytes: Buffer): Document {
  const { members, depth, needsExact } = survey(bytes);
  if (needsExact || depth > depthMax) return exactDocument(bytes);
  try {
    return { bytes, value: JSON.parse(bytes.toString("utf8")), members, depth };
  } catch (error) {
    if (error instanceof SyntaxError) return exactDocument(bytes); // For Go's words.
    throw error;
  }
}

/** Starts a number that a double may not hold, in a compact text. Strings that look so are found needlessly. */
const longInteger = /[:,[-][0-9]{16}/;

/**
 * Parses a compact text that this server has encoded: valid, and no key is repeated.
 * @throws JsonSyntaxError
 */
export function parseEncoded(bytes: Buffer): unknown {
  const text = bytes.toString("utf8");
  if (longInteger.test(text)) return parseJson(bytes).value;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return parseJson(bytes).value; // For Go's words.
    throw error;
  }
}

/** The same text, parsed so that repeated keys are told. */
export function exactDocument(bytes: Buffer): Document {
  const { value, repeated } = parseExact(bytes);
  return { bytes, value, members: 0, repeated };
}

export interface ParsedJson {
  /** Numbers with a fraction or an exponent are plain numbers; integers beyond 2^53 are bigint. */
  readonly value: unknown;
  /** `duplicate field "data.z"`: upstream's strict errors of a text without schema, in order, at most 100. */
  readonly duplicates: string[];
  /** Where there are any: all members of the objects that repeat a key. */
  readonly repeated?: ReadonlyMap<object, readonly Member[]>;
}

/** Parses any JSON text. @throws JsonSyntaxError with Go's message */
export function parseJson(bytes: Buffer): ParsedJson {
  return parsedJson(parseDocument(bytes));
}

/** The same, of a text that was read already. @param read used up @throws JsonSyntaxError with Go's message */
export function parsedJson(read: Document): ParsedJson {
  const isWhole = read.repeated !== undefined || countMembers(read.value) === read.members;
  const document = isWhole ? read : exactDocument(read.bytes);
  if (document.repeated === undefined) return { value: document.value, duplicates: [] };
  const duplicates = duplicateFields({ value: document.value, repeated: document.repeated });
  return { value: resolveLiterals(document.value), duplicates, repeated: document.repeated };
}

export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * What kind of object a body says it is; empty texts where it says nothing.
 * @throws TypeMetaError with upstream's message, for bodies that are no JSON too
 */
export function peekTypeMeta(bytes: Buffer): TypeMeta & { readonly document: Document } {
  let document: Document;
  try {
    document = parseDocument(bytes);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new TypeMetaError(error.message);
    throw error;
  }
  return { ...typeMetaOf(document.value), document };
}

export class TypeMetaError extends Error {
  constructor(why: string) {
    super(`couldn't get version/kind; json parse error: ${why}`);
    this.name = "TypeMetaError";
  }
}

/** The same by the very names alone, as upstream reads what it has no types for. @param read by {@link typeMetaOf} */
export function exactType(value: unknown, read: TypeMeta): TypeMeta {
  if (typeof value !== "object" || value === null) return read;
  const own = (name: string): string =>
    Object.hasOwn(value, name) ? ((Reflect.get(value, name) as string | null) ?? "") : "";
  return { apiVersion: own("apiVersion"), kind: own("kind") };
}

/** The same of a text that repeats keys: each of them is looked at. @throws TypeMetaError */
export function checkRepeatedTypeMeta(bytes: Buffer): void {
  const { value, repeated } = exactDocument(bytes);
  for (const [key, member] of repeated?.get(value as object) ?? []) typeMetaOf({ [key]: member });
}

/** Go's type that upstream reads the two fields into, as its message prints it. */
const typeMetaGoType = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;

/** Keys match in any case here, and only here; later ones win. @throws TypeMetaError */
export function typeMetaOf(value: unknown): TypeMeta {
  if (value === null) return { apiVersion: "", kind: "" };
  if (typeof value !== "object" || Array.isArray(value) || value instanceof NumberLiteral) {
    throw new TypeMetaError(`json: cannot unmarshal ${goKindOf(value)} into Go value of type ${typeMetaGoType}`);
  }
  const found = { apiVersion: "", kind: "" };
  for (const key in value) {
    const name = typeMetaField(key);
    if (name === undefined) continue;
    const text: unknown = (value as Record<string, unknown>)[key];
    if (text === null) continue;
    if (typeof text !== "string")
      throw new TypeMetaError(`json: cannot unmarshal ${goKindOf(text)} into Go struct field .${name} of type string`);
    found[name] = text;
  }
  return found;
}

function typeMetaField(key: string): "apiVersion" | "kind" | undefined {
  if (key.length === 4 && key.toLowerCase() === "kind") return "kind";
  return key.length === 10 && key.toLowerCase() === "apiversion" ? "apiVersion" : undefined;
}

/** What Go's messages call a JSON value. */
export function goKindOf(value: unknown): string {
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "number":
    case "bigint":
      return "number";
    default:
      if (value === null) return "null";
      if (value instanceof NumberLiteral) return "number";
      return Array.isArray(value) ? "array" : "object";
  }
}

/** Members of all objects in a tree. Without recursion: the tree may be as deep as the text was allowed to be. */
export function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let members = 0;
  const pending: object[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (Array.isArray(next)) {
      for (const item of next) if (typeof item === "object" && item !== null) pending.push(item);
      continue;
    }
    for (const key in next) {
      members++;
      const member = (next as Record<string, unknown>)[key];
      if (typeof member === "object" && member !== null) pending.push(member);
    }
  }
  return members;
}

/** Replaces, in place, the literals of an exactly parsed tree by numbers. @throws JsonSyntaxError for one that no double holds, in Go's words */
export function resolveLiterals(value: unknown): unknown {
  if (value instanceof NumberLiteral) return doubleOf(value);
  if (typeof value !== "object" || value === null) return value;
  const pending: object[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const holder = next as Record<string, unknown>;
    for (const key in holder) {
      const member = holder[key];
      if (member instanceof NumberLiteral) holder[key] = doubleOf(member);
      else if (typeof member === "object" && member !== null) pending.push(member);
    }
  }
  return value;
}

function doubleOf(literal: NumberLiteral): number {
  const value = Number(literal.text);
  if (!Number.isFinite(value))
    throw new JsonSyntaxError(`json: cannot unmarshal number ${literal.text} into Go value of type float64`);
  return value;
}

const problemsMax = 100;

/** In the order of the text, each path once. */
function duplicateFields({ value, repeated }: Exact): string[] {
  if (repeated.size === 0) return [];
  const found = new Set<string>();
  // Depth first, by a stack of what is still to be visited; paths are made on the way.
  const pending: { path: string; value: unknown; duplicate: boolean }[] = [{ path: "", value, duplicate: false }];
  for (let next = pending.pop(); next !== undefined && found.size < problemsMax; next = pending.pop()) {
    if (next.duplicate) found.add(`duplicate field ${quoteGo(next.path)}`);
    if (typeof next.value === "object" && next.value !== null)
      pending.push(...membersOf(next.path, next.value, repeated).reverse());
  }
  return [...found];
}

function membersOf(
  path: string,
  value: object,
  repeated: Exact["repeated"],
): { path: string; value: unknown; duplicate: boolean }[] {
  if (Array.isArray(value))
    return value.map((item, index) => ({ path: `${path}[${index}]`, value: item, duplicate: false }));
  const seen = new Set<string>();
  return (repeated.get(value) ?? Object.entries(value)).map(([key, member]) => {
    const duplicate = seen.has(key);
    seen.add(key);
    return { path: path === "" ? key : `${path}.${key}`, value: member, duplicate };
  });
}
