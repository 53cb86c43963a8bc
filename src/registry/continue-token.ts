/** Where the next chunk of a list begins. Source: resource-api §4.8; the form is upstream's, so that either server reads the other's tokens. */
import { badRequest } from "../api/errors.ts";
import { JsonSyntaxError, parseJson } from "../lib/json/parse.ts";

export interface ContinueToken {
  /** Of all chunks; -1 where the rest is read at the newest revision. */
  readonly revision: number;
  /** The last key of the chunk before, without the prefix of the list. */
  readonly after: string;
}

const apiVersion = "meta.k8s.io/v1";

export function formatContinue({ revision, after }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: apiVersion, rv: revision, start: `${after}\0` })).toString("base64url");
}

/** @throws ApiError 400 for everything that no server wrote */
export function parseContinue(text: string): ContinueToken {
  const { v, rv, start } = decodeFields(text);
  if (v !== apiVersion) throw invalidToken(`: server does not recognize this encoded version ${v}`);
  if (typeof rv !== "number" || !Number.isSafeInteger(rv) || rv === 0 || rv < -1)
    throw invalidToken(`: incorrect encoded start resourceVersion (version ${apiVersion})`);
  if (typeof start !== "string" || start === "") throw invalidToken(`: encoded start key empty (version ${apiVersion})`);
  const after = start.slice(0, -1);
  // A key that is not one of this list's, such as `../secrets/a`, must not move the reader elsewhere.
  if (!start.endsWith("\0") || after.split("/").some((part) => part === "" || part === "." || part === "..")) throw invalidToken(`: ${start}`);
  return { revision: rv, after };
}

function decodeFields(text: string): Record<string, unknown> {
  const bad = /[^A-Za-z0-9_-]/.exec(text);
  const length = bad?.index ?? (text.length % 4 === 1 ? text.length - 1 : -1);
  if (length >= 0) throw invalidToken(`: illegal base64 data at input byte ${length}`);
  try {
    const { value } = parseJson(Buffer.from(text, "base64url"));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw invalidToken(`: ${error.message}`);
    throw error;
  }
  throw invalidToken(": json: cannot unmarshal into Go value of type storage.continueToken");
}

function invalidToken(why: string): Error {
  return badRequest(`invalid continue token: continue key is not valid${why}`);
}
