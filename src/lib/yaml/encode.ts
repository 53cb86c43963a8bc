/**
 * Encodes JSON as YAML, exactly as upstream does: sorted keys, lines of about 80 characters.
 * Source: sigs.k8s.io/yaml and go-yaml v2's emitter.
 */
import { NumberLiteral } from "../json/number-literal.ts";
import { parseDocument } from "../json/parse.ts";
import { isBreak } from "./cursor.ts";
import { formatFloat } from "./go-format.ts";
import { sortKeys } from "./key-order.ts";
import { needsEscape, styleOf } from "./scalar-style.ts";

/**
 * Encodes JSON as a YAML document that ends with a newline.
 * @param json valid JSON with at most the levels that the decoder allows
 */
export function yamlOfJson(json: Buffer): string {
  return [...yamlPiecesOfJson(json, Number.POSITIVE_INFINITY)].join("");
}

/**
 * As {@link yamlOfJson}, in pieces, of which the first is empty: it takes the time of parsing.
 * @param length about the length of a piece
 */
export function* yamlPiecesOfJson(json: Buffer, length: number): Generator<string, void> {
  const writer = new Writer(length);
  const { value } = parseDocument(json);
  yield "";
  yield* writer.node(value, -1);
  yield writer.end();
}

/**
 * Encodes JSON as an item of a list at the left margin, in pieces.
 * @param length about the length of a piece
 */
export function* yamlItemPiecesOfJson(json: Buffer, length: number): Generator<string, void> {
  const writer = new Writer(length);
  yield* writer.entry(parseDocument(json).value, 0);
  yield writer.end();
}

/** The column after which a line is broken at the next space. */
const width = 80;
/** The length up to which a key is written without `?`. */
const simpleKeyBytesMax = 128;

/** The range of numbers that go-yaml decodes as integers. */
const integerMin = -(2n ** 63n);
const integerMax = 2n ** 64n - 1n;

class Writer {
  #text = "";
  #column = 0;
  readonly #pieceLength: number;

  constructor(pieceLength: number) {
    this.#pieceLength = pieceLength;
  }

  /** The last piece. */
  end(): string {
    return this.#column === 0 ? this.#text : `${this.#text}\n`;
  }

  /**
   * Writes a value at the current position.
   * @param indent the indentation of the mapping or list that contains it, -1 at the top
   */
  *node(value: unknown, indent: number): Generator<string, void> {
    if (!isCollection(value)) return this.#leaf(value, indent);
    const inner = indent + (indent < 0 ? 1 : 2);
    if (Array.isArray(value)) {
      for (const item of value) yield* this.entry(item, inner);
      return;
    }
    for (const key of sortKeys(Object.keys(value))) {
      const member = (value as Record<string, unknown>)[key];
      const isSimple = isBreakless(key) && Buffer.byteLength(key) <= simpleKeyBytesMax;
      this.#key(key, inner, isSimple);
      if (!isCollection(member)) {
        if (isSimple) this.#put(" ");
        this.#leaf(member, inner);
      } else if (isSimple) yield* this.#memberValue(member, inner);
      else yield* this.node(member, inner);
      if (this.#text.length >= this.#pieceLength) yield this.#take();
    }
  }

  /** Writes an item of a list. */
  *entry(item: unknown, indent: number): Generator<string, void> {
    this.#indentTo(indent);
    this.#put("- ");
    if (isCollection(item)) yield* this.node(item, indent);
    else this.#leaf(item, indent);
    if (this.#text.length >= this.#pieceLength) yield this.#take();
  }

  #take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }

  /** Writes a key and what separates it from its value. */
  #key(key: string, indent: number, isSimple: boolean): void {
    this.#indentTo(indent);
    if (isSimple) {
      this.#string(key, indent, true);
      return this.#put(":");
    }
    this.#put("? ");
    this.#string(key, indent, false);
    this.#indentTo(indent);
    this.#put(": ");
  }

  /** Writes a collection as the value of a member; a list has the indentation of its key. */
  *#memberValue(value: object, indent: number): Generator<string, void> {
    this.#break();
    if (!Array.isArray(value)) return yield* this.node(value, indent);
    for (const item of value) yield* this.entry(item, indent);
  }

  /** Writes a value that contains no others. */
  #leaf(value: unknown, indent: number): void {
    if (typeof value !== "object" || value === null) return this.#scalar(value, indent);
    if (value instanceof NumberLiteral) return this.#put(formatFloat(Number(value.text), 64));
    this.#put(Array.isArray(value) ? "[]" : "{}");
  }

  /** Begins a new line, unless the current one has no content yet. */
  #indentTo(indent: number): void {
    if (this.#column > indent) this.#break();
    this.#put(" ".repeat(indent - this.#column));
  }

  #break(): void {
    this.#text += "\n";
    this.#column = 0;
  }

  #put(text: string): void {
    this.#text += text;
    this.#column += text.length;
  }

  #scalar(value: unknown, indent: number): void {
    switch (typeof value) {
      case "string":
        return this.#string(value, indent, false);
      case "bigint":
        return this.#put(value < integerMin || value > integerMax ? formatFloat(Number(value), 64) : String(value));
      case "number":
        return this.#put(Number.isSafeInteger(value) ? String(value) : formatFloat(value, 64));
      default:
        return this.#put(String(value));
    }
  }

  #string(text: string, indent: number, isKey: boolean): void {
    const inner = indent + 2 + (indent < 0 ? 1 : 0);
    switch (styleOf(text, isKey)) {
      case "plain":
        return isKey || this.#column + text.length <= width ? this.#put(text) : this.#folded(text, inner, 0);
      case "single":
        this.#put("'");
        this.#folded(text.replaceAll("'", "''"), inner, isKey ? Number.POSITIVE_INFINITY : 1);
        return this.#put("'");
      case "double":
        return this.#quoted(text, inner, isKey);
      case "literal":
        return this.#literal(text, inner);
    }
  }

  /**
   * Writes text and breaks lines at single spaces.
   * @param from the first offset at which a line may be broken
   */
  #folded(text: string, indent: number, from: number): void {
    let wasSpace = false;
    let wasBreak = false;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === 0x20) {
        const foldable =
          at >= from &&
          !wasSpace &&
          this.#column > width &&
          (from === 0 || at < text.length - 1) &&
          text.charCodeAt(at + 1) !== 0x20;
        if (foldable) this.#newLine(indent);
        else this.#put(" ");
        wasSpace = true;
      } else if (isBreak(code)) {
        this.#text += text.charAt(at);
        this.#column = 0;
        wasBreak = true;
        continue;
      } else {
        if (wasBreak) this.#put(" ".repeat(indent));
        const start = at;
        while (at + 1 < text.length && text.charCodeAt(at + 1) !== 0x20 && !isBreak(text.charCodeAt(at + 1))) at++;
        this.#put(text.slice(start, at + 1));
        wasSpace = false;
      }
      wasBreak = false;
    }
  }

  #newLine(indent: number): void {
    this.#break();
    this.#put(" ".repeat(indent));
  }

  #quoted(text: string, indent: number, isKey: boolean): void {
    this.#put('"');
    let wasSpace = false;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (needsEscape(code)) {
        const point = text.codePointAt(at) as number;
        this.#put(escapeOf(point));
        if (point > 0xffff) at++;
        wasSpace = false;
      } else if (code !== 0x20) {
        this.#put(text.charAt(at));
        wasSpace = false;
      } else {
        if (!isKey && !wasSpace && this.#column > width && at > 0 && at < text.length - 1) {
          this.#newLine(indent);
          if (text.charCodeAt(at + 1) === 0x20) this.#put("\\");
        } else this.#put(" ");
        wasSpace = true;
      }
    }
    this.#put('"');
  }

  #literal(text: string, indent: number): void {
    const first = text.charCodeAt(0);
    this.#put(`|${first === 0x20 || isBreak(first) ? "2" : ""}${chompingOf(text)}`);
    this.#break();
    for (const [line] of text.matchAll(/[^\n\u2028\u2029]+|[\n\u2028\u2029]/g)) {
      if (isBreak(line.charCodeAt(0))) {
        this.#text += line;
        this.#column = 0;
      } else {
        if (this.#column === 0) this.#put(" ".repeat(indent));
        this.#put(line);
      }
    }
  }
}

/** Whether a value contains others. */
function isCollection(value: unknown): value is object {
  if (typeof value !== "object" || value === null || value instanceof NumberLiteral) return false;
  if (Array.isArray(value)) return value.length > 0;
  for (const _ in value) return true;
  return false;
}

function isBreakless(text: string): boolean {
  return !/[\n\r\u0085\u2028\u2029]/.test(text);
}

/** The chomping indicator for the line breaks at the end of a text. */
function chompingOf(text: string): string {
  if (!isBreak(text.charCodeAt(text.length - 1))) return "-";
  return text.length === 1 || isBreak(text.charCodeAt(text.length - 2)) ? "+" : "";
}

const escapes: ReadonlyMap<number, string> = new Map([
  [0x00, "\\0"],
  [0x07, "\\a"],
  [0x08, "\\b"],
  [0x09, "\\t"],
  [0x0a, "\\n"],
  [0x0b, "\\v"],
  [0x0c, "\\f"],
  [0x0d, "\\r"],
  [0x1b, "\\e"],
  [0x22, '\\"'],
  [0x5c, "\\\\"],
  [0x85, "\\N"],
  [0xa0, "\\_"],
  [0x2028, "\\L"],
  [0x2029, "\\P"],
]);

function escapeOf(point: number): string {
  const short = escapes.get(point);
  if (short !== undefined) return short;
  const [letter, length]: [string, number] = point <= 0xff ? ["x", 2] : point <= 0xffff ? ["u", 4] : ["U", 8];
  return `\\${letter}${point.toString(16).toUpperCase().padStart(length, "0")}`;
}
