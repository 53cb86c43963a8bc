/** Parses label selectors: `a=1,b in (x,y),!c`. Source: k8s.io/apimachinery@v0.36.0/pkg/labels */
import {
  byKey,
  everything,
  invalid,
  type LabelOperator,
  type LabelRequirement,
  type LabelSelector,
  labelRequirement,
} from "./label-requirement.ts";
import { keyProblems } from "./label-syntax.ts";
import { SelectorError } from "./selector-error.ts";
import { sortedTexts } from "./sorted-texts.ts";

/** Longer texts are rejected. */
const textMax = 1 << 20;

/** Parses a selector. @throws SelectorError with the message of kube-apiserver */
export function parseLabelSelector(text: string): LabelSelector {
  if (text === "") return everything;
  if (text.length > textMax) throw new SelectorError("selector is too long");
  return { requirements: byKey(new Parser(new Lexer(text)).parse()) };
}

const blanks = " \t\r\n";
const specials = "()!=<>,";
const pairs = ["==", "!="];
const endsWord: ReadonlySet<number> = new Set(
  [...`\0${blanks}${specials}`].map((character) => character.charCodeAt(0)),
);

/**
 * Reads tokens, of which the next one is known. A word is the text between blanks and special characters; the end is an
 * empty symbol.
 */
class Lexer {
  /** The next token. */
  text = "";
  isWord = false;
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
    this.advance();
  }

  get isAtEnd(): boolean {
    return this.text === "" && !this.isWord;
  }

  /** Reads the token after the next one. Upstream's lexer takes a NUL for the end: it skips one that follows a token, and stops at another one. */
  advance(): void {
    const source = this.#source;
    for (let at = this.#at; at < source.length; ) {
      const start = at;
      while (at < source.length && !endsWord.has(source.charCodeAt(at))) at++;
      this.isWord = at > start;
      if (!this.isWord) {
        const character = source.charAt(at++);
        if (character === "\0") break;
        if (blanks.includes(character)) continue;
        if (pairs.includes(character + source.charAt(at))) at++;
      }
      this.text = source.slice(start, at);
      this.#at = source.charAt(at) === "\0" ? at + 1 : at;
      return;
    }
    this.text = "";
    this.isWord = false;
    this.#at = source.length;
  }
}

const operators: ReadonlyMap<string, LabelOperator> = new Map([
  ["=", "="],
  ["==", "=="],
  ["!=", "!="],
  [">", "gt"],
  ["<", "lt"],
]);

class Parser {
  readonly #next: Lexer;

  constructor(lexer: Lexer) {
    this.#next = lexer;
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    while (!this.#next.isAtEnd) {
      if (!this.#startsRequirement()) throw this.#unexpected("!, identifier, or 'end of string'");
      requirements.push(this.#requirement());
      if (this.#next.isAtEnd) break;
      if (!this.#takes(",")) throw this.#unexpected("',' or 'end of string'");
      if (!this.#startsRequirement()) throw this.#unexpected("identifier after ','");
    }
    return requirements;
  }

  #startsRequirement(): boolean {
    return this.#next.isWord || this.#isSymbol("!");
  }

  #requirement(): LabelRequirement {
    try {
      return this.#readRequirement();
    } catch (error) {
      if (error instanceof SelectorError) throw new SelectorError(`unable to parse requirement: ${error.message}`);
      throw error;
    }
  }

  #readRequirement(): LabelRequirement {
    const isNegated = this.#takes("!");
    const key = this.#key();
    if (isNegated) return labelRequirement(key, "!", []);
    if (this.#next.isAtEnd || this.#isSymbol(",")) return labelRequirement(key, "exists", []);
    const operator = this.#operator();
    return labelRequirement(
      key,
      operator,
      operator === "in" || operator === "notin" ? this.#values() : [this.#exactValue()],
    );
  }

  #key(): string {
    if (!this.#next.isWord) throw this.#unexpected("identifier");
    const text = this.#take();
    const problem = invalid("<nil>", text, keyProblems(text));
    if (problem !== undefined) throw new SelectorError(problem);
    return text;
  }

  #operator(): LabelOperator {
    const { text, isWord } = this.#next;
    const operator = isWord && (text === "in" || text === "notin") ? text : isWord ? undefined : operators.get(text);
    if (operator === undefined) throw this.#unexpected("in, notin, =, ==, !=, gt, lt");
    this.#take();
    return operator;
  }

  #exactValue(): string {
    if (this.#next.isAtEnd || this.#isSymbol(",")) return "";
    if (!this.#next.isWord) throw this.#unexpected("identifier");
    return this.#take();
  }

  /** Parses the values in parentheses and sorts them; a missing value counts as empty. */
  #values(): readonly string[] {
    if (!this.#takes("(")) throw new SelectorError(`found '${this.#next.text}' expected: '('`);
    if (this.#takes(")")) return [""];
    if (!this.#next.isWord && !this.#isSymbol(",")) throw this.#unexpected("',', ')' or identifier");
    const values = this.#list();
    this.#take(); // The list ends before the parenthesis.
    return sortedTexts(values);
  }

  /** The values as they are written; some can be equal. */
  #list(): string[] {
    const values: string[] = [];
    for (;;) {
      if (this.#next.isWord) {
        values.push(this.#take());
        if (this.#isSymbol(")")) return values;
        if (!this.#isSymbol(",")) throw this.#unexpected("',' or ')'");
      } else if (this.#takes(",")) {
        if (values.length === 0) values.push("");
        if (this.#isSymbol(")")) return [...values, ""];
        if (this.#takes(",")) values.push("");
      } else throw this.#unexpected("',', or identifier");
    }
  }

  #isSymbol(text: string): boolean {
    return !this.#next.isWord && this.#next.text === text;
  }

  #take(): string {
    const { text } = this.#next;
    this.#next.advance();
    return text;
  }

  #takes(symbol: string): boolean {
    const isNext = this.#isSymbol(symbol);
    if (isNext) this.#next.advance();
    return isNext;
  }

  #unexpected(expected: string): SelectorError {
    return new SelectorError(`found '${this.#next.text}', expected: ${expected}`);
  }
}
