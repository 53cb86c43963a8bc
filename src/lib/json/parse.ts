/** Parses JSON like Go, with `JSON.parse` where the result is the same. Source: https://pkg.go.dev/encoding/json. */
import { depthMax, type Exact, type Member, parseExact } from "./exact.ts";
import { NumberLiteral, resolveLiterals } from "./number-literal.ts";
import { quoteGo } from "./quote.ts";
import { survey } from "./survey.ts";
import { JsonSyntaxError } from "./syntax-error.ts";

export { JsonSyntaxError } from "./syntax-error.ts";

/** A parsed text. Callers find repeated keys by counting the members of `value`. */
export interface Document {
  readonly bytes: Buffer;
  /** The caller can modify it. Numbers can be bigint or NumberLiteral. */
  readonly value: unknown;
  /** The number of members in the text; more than in `value` if a key is repeated. */
  readonly members: number;
  /** Nesting depth; not set by `exactDocument`. */
  readonly depth?: number;
  /** Set by `exactDocument`: all members of the objects with repeated keys. */
  readonly repeated?: ReadonlyMap<object, readonly Member[]>;
}

/** Parses any text. @throws JsonSyntaxError with Go's message */
export function parseDocument(bytes: Buffer): Document {
  const { members, depth, needsExact } = survey(bytes);
  if (needsExact || depth > depthMax) return exactDocument(bytes);
  try {
    return { bytes, value: JSON.parse(bytes.toString("utf8")), members, depth };
  } catch (error) {
    if (error instanceof SyntaxError) return exactDocument(bytes); // For Go's error message.
    throw error;
  }
}

/**
 * Matches before integers that a double can lose, in compact JSON. It can match inside strings too.
 */
export const longInteger = /[:,[-][0-9]{16}/;

/**
 * Parses compact JSON that this server encoded, which has no repeated keys.
 *
 * @param convert is applied to a value that can contain a bigint
 * @throws JsonSyntaxError for damaged JSON
 */
export function parseEncoded(bytes: Buffer, convert = (value: unknown): unknown => value): unknown {
  const text = bytes.toString("utf8");
  if (longInteger.test(text)) return convert(parseJson(bytes).value);
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return parseJson(bytes).value; // For Go's error message.
    throw error;
  }
}

/** Parses a valid text again, without losses, to find repeated keys. */
export function exactDocument(bytes: Buffer): Document {
  const { value, repeated } = parseExact(bytes);
  return { bytes, value, members: 0, repeated };
}

/** A parsed text and its repeated keys. */
export interface ParsedJson {
  readonly value: unknown;
  /** kube-apiserver's strict errors such as `duplicate field "data.z"`, in order, at most 100. */
  readonly duplicates: string[];
  /** All members of the objects with repeated keys, if there are any. */
  readonly repeated?: ReadonlyMap<object, readonly Member[]>;
}

/** Parses any JSON text. @throws JsonSyntaxError with Go's message */
export function parseJson(bytes: Buffer): ParsedJson {
  return parsedJson(parseDocument(bytes));
}

/**
 * Finds the repeated keys of a parsed text. Numbers with a fraction or an exponent become numbers;
 * unsafe integers are bigint.
 *
 * @param parsed is modified and must not be used afterwards
 * @throws JsonSyntaxError with Go's message
 */
export function parsedJson(parsed: Document): ParsedJson {
  const json = exactJson(parsed);
  return json.repeated === undefined ? json : { ...json, value: resolveLiterals(json.value) };
}

/**
 * Finds the repeated keys of a parsed text. If there is a NumberLiteral, `repeated` is set.
 *
 * @param parsed is modified and must not be used afterwards
 */
export function exactJson(parsed: Document): ParsedJson {
  const isComplete = parsed.repeated !== undefined || countMembers(parsed.value) === parsed.members;
  const { value, repeated } = isComplete ? parsed : exactDocument(parsed.bytes);
  return repeated === undefined
    ? { value, duplicates: [] }
    : { value, duplicates: duplicateFields({ value, repeated }), repeated };
}

/** The version and kind of an object; empty if missing. */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * Reads `apiVersion` and `kind` of a request body.
 *
 * @throws TypeMetaError with the message of kube-apiserver, also for invalid JSON
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

/** `apiVersion` and `kind` cannot be read. */
export class TypeMetaError extends Error {
  constructor(why: string) {
    super(`couldn't get version/kind; json parse error: ${why}`);
    this.name = "TypeMetaError";
  }
}

/**
 * Reads `apiVersion` and `kind` by their exact names, as kube-apiserver does for unstructured
 * objects.
 *
 * @param typeMeta the result of {@link typeMetaOf}, for a value that is not an object
 */
export function exactType(value: unknown, typeMeta: TypeMeta): TypeMeta {
  if (typeof value !== "object" || value === null) return typeMeta;
  const own = (name: string): string =>
    Object.hasOwn(value, name) ? ((Reflect.get(value, name) as string | null) ?? "") : "";
  return { apiVersion: own("apiVersion"), kind: own("kind") };
}

/** Checks each `apiVersion` and `kind` of a text with repeated keys. @throws TypeMetaError */
export function checkRepeatedTypeMeta(bytes: Buffer): void {
  const { value, repeated } = exactDocument(bytes);
  for (const [key, member] of repeated?.get(value as object) ?? []) typeMetaOf({ [key]: member });
}

/** The Go type of the two fields in kube-apiserver's message. */
const typeMetaGoType = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;

/**
 * Reads the two fields. Only here, keys match in any case; the last one applies.
 *
 * @throws TypeMetaError
 */
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

/** Returns the name of the JSON type in Go's messages. */
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

/** Counts the members of all objects in a tree. Iterative, because the tree can be very deep. */
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

const problemsMax = 100;

/** Returns the errors in the order of the text, each path once. */
function duplicateFields({ value, repeated }: Exact): string[] {
  if (repeated.size === 0) return [];
  const found = new Set<string>();
  // Depth first, with a stack of pending values.
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
