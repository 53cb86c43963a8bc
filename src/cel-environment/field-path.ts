/** Paths that rules and selectable fields name, such as `.spec.ports` and `.labels['a.b']`. Source: k8s.io/apiextensions-apiserver, ValidFieldPath */
import { type JsonSchema, propertiesOf, valuesOf } from "../lib/cel/schema-types/index.ts";

export interface FieldPath {
  /** As field errors write it, such as `spec.labels[a.b]`. */
  readonly path: string;
  /** What stands there. */
  readonly schema: JsonSchema;
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
const token = /[.[\]]|'(?:[\s\S]*?[^\\])??'|[^.[\]]+/gy;

/**
 * @param options.arrayNotation whether `['name']` is allowed
 * @returns where the path leads, undefined when it leads nowhere or is none
 */
export function parseFieldPath(
  text: string,
  schema: JsonSchema,
  options: { readonly arrayNotation: boolean } = { arrayNotation: true },
): FieldPath | undefined {
  const tokens = text.match(token) ?? [];
  if (tokens.join("") !== text) return undefined;
  let path = "";
  let at = schema;
  for (let index = 0; index < tokens.length; ) {
    const isBracket = tokens[index] === "[";
    if (!isBracket && tokens[index] !== ".") return undefined;
    if (isBracket && (!options.arrayNotation || tokens[index + 2] !== "]")) return undefined;
    const written = tokens[index + 1];
    const name = written === undefined ? undefined : isBracket ? unquote(written) : written;
    if (name === undefined) return undefined;
    const properties = propertiesOf(at);
    const next = properties === undefined ? valuesOf(at) : properties.get(name);
    if (next === undefined) return undefined;
    path += properties === undefined ? `[${name}]` : path === "" ? name : `.${name}`;
    at = next;
    index += isBracket ? 3 : 2;
  }
  return { path, schema: at };
}

function unquote(text: string): string | undefined {
  if (text.length < 2 || !text.startsWith("'") || !text.endsWith("'")) return undefined;
  let valid = true;
  const name = text.slice(1, -1).replace(/\\(.)/g, (_, escaped: string) => {
    const meant = escapes.get(escaped);
    if (meant === undefined) valid = false;
    return meant ?? "";
  });
  return valid ? name : undefined;
}
