/**
 * Paths of fields as rules and selectable fields name them, such as `.spec.ports` and `.labels['a.b']`.
 * Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema/cel, ValidFieldPath
 */
import { childPath, keyPath, type StructuralSchema } from "./structural-schema.ts";

export interface FoundField {
  /** As field errors write it: `spec.labels[a.b]`. */
  readonly path: string;
  /** Its first step. */
  readonly root: string;
  /** What stands there; undefined where nothing is said of it. */
  readonly schema: StructuralSchema | undefined;
  readonly error?: undefined;
}

/** What a quoted name may have after a backslash. */
const escapes = new Map([
  ["a", "\x07"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
  ["'", "'"],
  ["\\", "\\"],
]);

/** A delimiter, a quoted name (up to a quote without a backslash before it), or what stands up to the next delimiter. */
const token = /[.[\]]|'(?:[\s\S]*?[^\\])??'|'[\s\S]*|[^.[\]]+/gy;

class PathError extends Error {}

/** @returns where the path leads, or upstream's words for why it leads nowhere */
export function findField(
  text: string,
  schema: StructuralSchema,
  { arrayNotation }: { arrayNotation: boolean },
): FoundField | { readonly error: string } {
  try {
    return walk(text.match(token) ?? [], schema, arrayNotation);
  } catch (error) {
    if (error instanceof PathError) return { error: error.message };
    throw error;
  }
}

function walk(tokens: readonly string[], schema: StructuralSchema, arrayNotation: boolean): FoundField {
  let found: FoundField = { path: "", root: "", schema };
  let index = 0;
  const next = (): string => {
    const text = tokens[index++];
    if (text === undefined) throw new PathError("unexpected end of JSON path");
    return text;
  };
  while (index < tokens.length) {
    const start = next();
    if (start === ".") {
      found = step(found, next());
      continue;
    }
    if (start !== "[") throw new PathError(`expected [ or . but got: ${start}`);
    if (!arrayNotation) throw new PathError("array notation is not allowed");
    found = step(found, unquote(next()));
    const end = next();
    if (end !== "]") throw new PathError(`expected ] but got ${end}`);
  }
  return found;
}

function step({ path, root, schema }: FoundField, name: string): FoundField {
  const values = schema?.additionalProperties;
  const isNamed = schema !== undefined && schema.properties.size > 0;
  const property = schema?.properties.get(name);
  if (schema === undefined || (isNamed ? property === undefined : values === undefined)) throw new PathError("does not refer to a valid field");
  const at = isNamed ? childPath(path, name) : keyPath(path, name);
  return { path: at, root: path === "" ? name : root, schema: isNamed ? property : typeof values === "object" ? values : undefined };
}

function unquote(text: string): string {
  if (text.length < 2 || !text.startsWith("'") || !text.endsWith("'")) throw new PathError(`expected single quoted string but got ${text}`);
  return text.slice(1, -1).replace(/\\(.)/g, (whole, escaped: string) => {
    const meant = escapes.get(escaped);
    if (meant === undefined) throw new PathError(`invalid string literal: invalid escape char ${whole}`);
    return meant;
  });
}
