/**
 * Parses field paths of validation rules and selectable fields, such as `.spec.ports` and
 * `.labels['a.b']`.
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/cel/validation.go,
 * ValidFieldPath
 */

/** Text that is not a field path. The message is upstream's. */
export class FieldPathError extends Error {}

/** The characters that may follow a backslash in a quoted name. */
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

/**
 * A delimiter, a quoted name (up to a quote without a backslash before it), or the text up to the
 * next delimiter.
 */
const token = /[.[\]]|'(?:[\s\S]*?[^\\])??'|'[\s\S]*|[^.[\]]+/gy;

/**
 * Yields the names on a path, lazily, so that callers find an error of a step before a syntax error
 * after it.
 * @param options.arrayNotation whether `['name']` is allowed
 * @throws FieldPathError
 */
export function* fieldPathSteps(
  text: string,
  { arrayNotation }: { readonly arrayNotation: boolean },
): Generator<string, void, void> {
  const tokens = text.match(token) ?? [];
  let index = 0;
  const next = (): string => {
    const found = tokens[index++];
    if (found === undefined) throw new FieldPathError("unexpected end of JSON path");
    return found;
  };
  while (index < tokens.length) {
    const start = next();
    if (start === ".") {
      yield next();
      continue;
    }
    if (start !== "[") throw new FieldPathError(`expected [ or . but got: ${start}`);
    if (!arrayNotation) throw new FieldPathError("array notation is not allowed");
    yield unquote(next());
    const end = next();
    if (end !== "]") throw new FieldPathError(`expected ] but got ${end}`);
  }
}

function unquote(text: string): string {
  if (text.length < 2 || !text.startsWith("'") || !text.endsWith("'"))
    throw new FieldPathError(`expected single quoted string but got ${text}`);
  return text.slice(1, -1).replace(/\\(.)/g, (whole, escaped: string) => {
    const character = escapes.get(escaped);
    if (character === undefined) throw new FieldPathError(`invalid string literal: invalid escape char ${whole}`);
    return character;
  });
}
