/** Parses JSONPath templates, with the special cases of k8s.io/client-go@v0.36.0/util/jsonpath. */
import { isPrintable } from "../json/quote.ts";
import { trimOf } from "../text/trim.ts";

/** One step of a path, which maps values to values. */
export type Step =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "slice"; readonly slice: Slice }
  | { readonly kind: "filter"; readonly left: Path; readonly operator: string; readonly right: Path }
  | { readonly kind: "union"; readonly paths: readonly Path[] }
  | { readonly kind: "wildcard" }
  | { readonly kind: "descent" }
  | { readonly kind: "literal"; readonly value: string | boolean | number; readonly isFloat: boolean }
  /** `range` or `end`; any other word is an error when it is evaluated. */
  | { readonly kind: "word"; readonly word: string };

/** The steps between a pair of braces. */
export type Path = readonly Step[];

/** `[from:to:step]`; negative numbers count from the end. */
export interface Slice {
  readonly from: number;
  /** Undefined means up to the end. */
  readonly to: number | undefined;
  /** Whether it is written `[from]`. */
  readonly isIndex: boolean;
  readonly step: number | undefined;
}

/** Text outside braces, or the path inside them. */
export type Part = { readonly text: string } | { readonly path: Path };

/** Formats a character like Go's `%#U`: the code point, and the character if it is printable. */
function codeOf(character: string): string {
  const code = `U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, "0")}`;
  return isPrintable(character) ? `${code} '${character}'` : code;
}

/** The template is invalid. */
export class JsonPathSyntaxError extends Error {}

/** Limits filters inside filters. */
const depthMax = 8;

/** Limits the parts of a template, the steps of a path and the paths of a union; upstream has no limit. */
const partsMax = 10_000;

const tooMany = (what: string): Error => new JsonPathSyntaxError(`more than ${partsMax} ${what}`);

/** Parses a template. @param text such as `{.items[0].name}` @throws JsonPathSyntaxError */
export function parseTemplate(text: string): readonly Part[] {
  return new Reader(text, 0).parts();
}

class Reader {
  readonly #text: string;
  readonly #depth: number;
  #at = 0;

  constructor(text: string, depth: number) {
    if (depth > depthMax) throw new JsonPathSyntaxError("nested too deep");
    this.#text = text;
    this.#depth = depth;
  }

  parts(): Part[] {
    const parts: Part[] = [];
    while (this.#at < this.#text.length) {
      const open = this.#text.indexOf("{", this.#at);
      const end = open < 0 ? this.#text.length : open;
      if (end > this.#at) parts.push({ text: this.#text.slice(this.#at, end) });
      this.#at = end + 1;
      if (open >= 0) parts.push({ path: this.#path() });
      if (parts.length > partsMax) throw tooMany("parts");
    }
    return parts;
  }

  /** Reads up to the closing brace. */
  #path(): Path {
    const steps: Step[] = [];
    for (;;) {
      if (this.#takes("}")) return steps;
      if (this.#takes("[?(")) steps.push(this.#filter());
      else if (this.#takes("..")) this.#descent(steps);
      else steps.push(...this.#step());
      if (steps.length > partsMax) throw tooMany("steps");
    }
  }

  #descent(steps: Step[]): void {
    if (steps.at(-1)?.kind === "descent") throw new JsonPathSyntaxError("invalid multiple recursive descent");
    steps.push({ kind: "descent" });
    if (wordStart.test(this.#peek())) steps.push(this.#field());
  }

  #step(): readonly Step[] {
    const character = this.#peek();
    this.#at += character.length;
    switch (character) {
      case "":
      case "\r":
      case "\n":
        throw new JsonPathSyntaxError("unclosed action");
      case " ":
      case "@":
      case "$":
        return [];
      case "[":
        return this.#brackets();
      case '"':
      case "'":
        return [this.#quoted(character)];
      case ".":
        return [this.#field()];
    }
    this.#at -= character.length;
    if (/[+\-\p{Nd}]/u.test(character)) return [this.#number()];
    if (wordStart.test(character)) return [this.#word()];
    throw new JsonPathSyntaxError(`unrecognized character in action: ${codeOf(character)}`);
  }

  #field(): Step {
    const name = this.#match(/(?:\\.|[^\\ \t\r\n.,[\]$@{}])*/suy);
    return name === "*" ? { kind: "wildcard" } : { kind: "field", name: name.replaceAll("\\", "") };
  }

  #word(): Step {
    const word = this.#match(/[^ \t\r\n.,[\]$@{}]+/suy);
    return word === "true" || word === "false" ? literal(word === "true") : { kind: "word", word };
  }

  #number(): Step {
    const text = this.#match(/[+-]?[.\p{Nd}]*/suy);
    if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(text)) throw new JsonPathSyntaxError(`cannot parse number ${text}`);
    return { kind: "literal", value: Number(text), isFloat: text.includes(".") || !Number.isSafeInteger(Number(text)) };
  }

  /** @param quote the opening quote, which has been read */
  #quoted(quote: string): Step {
    const start = this.#at;
    for (;;) {
      const character = this.#next("unterminated quoted string");
      if (character === quote && this.#text[this.#at - 2] !== "\\") break;
    }
    return literal(unquote(this.#text.slice(start, this.#at - 1), quote));
  }

  #brackets(): readonly Step[] {
    const start = this.#at;
    while (this.#next("unterminated array") !== "]");
    const text = this.#text.slice(start, this.#at - 1);
    if (text.includes(",")) return [{ kind: "union", paths: this.#union(text) }];
    return this.#item(text);
  }

  /** @param text a quoted key, an index or a slice */
  #item(text: string): Path {
    const key = /^'([^']*)'$/.exec(text)?.[1];
    if (key !== undefined) return this.#within(`.${key}`);
    return [{ kind: "slice", slice: sliceOf(text === "*" ? ":" : text) }];
  }

  #union(text: string): Path[] {
    const members = text.split(",", partsMax + 1);
    if (members.length > partsMax) throw tooMany("paths of a union");
    return members.map((member) => {
      const one = trimOf(member, " ");
      return one.startsWith("?(") ? this.#within(`[${one}]`) : this.#item(one);
    });
  }

  /** Reads a filter after `[?(`, up to the first `)` outside the first quotes. */
  #filter(): Step {
    const start = this.#at;
    let quote: string | undefined;
    let isClosed = true;
    for (;;) {
      const character = this.#next("unterminated filter");
      if (character === ")" && isClosed) break;
      if (character !== '"' && character !== "'") continue;
      if (quote === undefined) {
        quote = character;
        isClosed = false;
      } else if (character === quote && this.#text[this.#at - 2] !== "\\") isClosed = true;
    }
    const text = this.#text.slice(start, this.#at - 1);
    if (!this.#takes("]")) throw new JsonPathSyntaxError("unclosed array expect ]");
    const parts = comparisonOf(text);
    if (parts === undefined) return { kind: "filter", left: this.#within(text), operator: "exists", right: [] };
    return {
      kind: "filter",
      left: this.#within(parts.left),
      operator: parts.operator,
      right: this.#within(parts.right),
    };
  }

  /** Parses a text as the content of a pair of braces. */
  #within(text: string): Path {
    const [first] = new Reader(`{${text}}`, this.#depth + 1).parts();
    return first !== undefined && "path" in first ? first.path : [];
  }

  #takes(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  #peek(): string {
    const point = this.#text.codePointAt(this.#at);
    return point === undefined ? "" : String.fromCodePoint(point);
  }

  #next(atEnd: string): string {
    const character = this.#text[this.#at++];
    if (character === undefined || character === "\n") throw new JsonPathSyntaxError(atEnd);
    return character;
  }

  /** @param pattern sticky; it can match an empty text */
  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }
}

/**
 * Splits a comparison at its first operator, of which at least the last character is left to the
 * right side. Upstream's pattern is `^([^!<>=]+)([!<>=]+)(.+?)$`.
 */
function comparisonOf(text: string): { left: string; operator: string; right: string } | undefined {
  const start = text.search(/[!<>=]/);
  if (start <= 0) return undefined;
  let end = start + 1;
  while (end < text.length - 1 && "!<>=".includes(text[end] as string)) end++;
  if (end >= text.length) return undefined;
  return { left: text.slice(0, start), operator: text.slice(start, end), right: text.slice(end) };
}

const wordStart = /^[_\p{L}\p{Nd}]$/u;

function literal(value: string | boolean): Step {
  return { kind: "literal", value, isFloat: false };
}

function sliceOf(text: string): Slice {
  const [whole, from = "", to, step] = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text) ?? [];
  if (whole === undefined) throw new JsonPathSyntaxError(`invalid array index ${text}`);
  return {
    from: indexOf(from) ?? 0,
    to: indexOf(to?.slice(1) ?? ""),
    isIndex: to === undefined,
    step: indexOf(step?.slice(1) ?? ""),
  };
}

function indexOf(text: string): number | undefined {
  if (text === "") return undefined;
  const index = Number(text);
  if (!Number.isSafeInteger(index)) throw new JsonPathSyntaxError(`array index ${text} is not a number`);
  return index;
}

const escapes: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
};

/** Resolves the escapes of Go. */
function unquote(text: string, quote: string): string {
  return text.replace(/\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[0-7]{3}|.|$)/gsu, (_whole, code: string) => {
    if (code === quote) return quote;
    const plain = Object.hasOwn(escapes, code) ? escapes[code] : undefined;
    if (plain !== undefined) return plain;
    const point =
      code.length === 3 && code[0] !== "x"
        ? Number.parseInt(code, 8)
        : code.length > 1
          ? Number.parseInt(code.slice(1), 16)
          : -1;
    if (point < 0 || point > 0x10ffff) throw new JsonPathSyntaxError("unquote string: invalid syntax");
    return String.fromCodePoint(point);
  });
}
