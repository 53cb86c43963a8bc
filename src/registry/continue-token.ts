/**
 * The position of the next chunk of a list. Encoded as upstream does, so that either server reads
 * the other's tokens.
 */
import { type ApiError, badRequest } from "../apimachinery/errors.ts";
import { JsonSyntaxError, parseJson } from "../lib/json/parse.ts";

export interface ContinueToken {
  /** Of all chunks; -1 where the remaining objects are listed at the newest revision. */
  readonly revision: number;
  /** The last key of the previous chunk, without the prefix of the list. */
  readonly after: string;
}

const apiVersion = "meta.k8s.io/v1";

/** @param lead before the key: a slash in the tokens of upstream's cache, nothing in those of its store */
export function formatContinue({ revision, after }: ContinueToken, lead: "" | "/" = ""): string {
  return Buffer.from(JSON.stringify({ v: apiVersion, rv: revision, start: `${lead}${after}\0` })).toString("base64url");
}

/**
 * Parses a token, also one that kube-apiserver wrote.
 * @throws ApiError 400 with upstream's text for everything that no server writes
 */
export function parseContinue(text: string): ContinueToken {
  const { v, rv, start } = decodeFields(text);
  if (v !== apiVersion) throw invalidToken(`: server does not recognize this encoded version ${v}`);
  if (rv === 0) throw invalidToken(`: incorrect encoded start resourceVersion (version ${apiVersion})`);
  if (start === "") throw invalidToken(`: encoded start key empty (version ${apiVersion})`);
  const key = start.startsWith("/") ? start.slice(1) : start;
  // A key outside this list, such as `../secrets/a`, must not let the client read other objects.
  if (key.split("/").some((part) => part === "" || part === "." || part === "..")) throw invalidToken(`: ${start}`);
  // Tokens of every server end so: the next chunk begins after the last key.
  if (!key.endsWith("\0")) throw invalidToken(`: ${start}`);
  return { revision: Math.max(rv, -1), after: key.slice(0, -1) };
}

interface Fields {
  v: string;
  rv: number;
  start: string;
}

function decodeFields(text: string): Fields {
  const bad = /[^A-Za-z0-9_-]/.exec(text);
  const length = bad?.index ?? (text.length % 4 === 1 ? text.length - 1 : -1);
  if (length >= 0) throw invalidToken(`: illegal base64 data at input byte ${length}`);
  const value = decodeJson(text);
  const fields: Fields = { v: "", rv: 0, start: "" };
  if (value === null) return fields;
  if (typeof value !== "object" || Array.isArray(value))
    throw invalidToken(`: json: cannot unmarshal ${goKind(value)} into Go value of type storage.continueToken`);
  for (const [name, field] of Object.entries(value)) {
    if (name === "rv") fields.rv = integer(field);
    if (name === "v" || name === "start") fields[name] = string(name, field);
  }
  return fields;
}

function decodeJson(text: string): unknown {
  try {
    return parseJson(Buffer.from(text, "base64url")).value;
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw invalidToken(`: ${error.message}`);
    throw error;
  }
}

/** Null counts as absent. */
function string(name: string, value: unknown): string {
  if (value === null) return "";
  if (typeof value !== "string") throw wrongField(name, "string", value);
  return value;
}

function integer(value: unknown): number {
  if (value === null) return 0;
  if (typeof value === "bigint") return Number(value);
  if (!Number.isInteger(value)) throw wrongField("rv", "int64", value);
  return value as number;
}

function wrongField(name: string, type: string, value: unknown): ApiError {
  const kind = name === "rv" && typeof value === "number" ? `number ${value}` : goKind(value);
  return invalidToken(`: json: cannot unmarshal ${kind} into Go struct field continueToken.${name} of type ${type}`);
}

/** The JSON kind as Go's decoder names it. */
function goKind(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value === "bigint" ? "number" : typeof value;
}

function invalidToken(why: string): ApiError {
  return badRequest(`invalid continue token: continue key is not valid${why}`);
}
