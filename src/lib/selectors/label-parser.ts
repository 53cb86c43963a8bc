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

/** Longer texts are rejected. */
const textMax = 1 << 20;

/** Parses a selector. @throws SelectorError with the message of kube-apiserver */
export function parseLabelSelector(text: string): LabelSelector {
  if (text === "") return everything;
  if (text.length > textMax) throw new SelectorError("selector is too long");
  return { requirements: byKey(new Parser(tokensOf(text)).parse()) };
}

/** A word is the text between blanks and special characters. The end is an empty symbol. */
interface Token {
  readonly text: string;
  readonly isWord: boolean;
}

const blanks = " \t\r\n";
const specials = "()!=<>,";
const pairs = ["==", "!="];
const endsWord: ReadonlySet<number> = new Set(
  [...`\0${blanks}${specials}`].map((character) => character.charCodeAt(0)),
);
const end: Token = { text: "", isWord: false };

/** Upstream's lexer takes a NUL for the end: it skips one that follows a token, and stops at another one. */
function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; ) {
    const start = at;
    while (at < text.length && !endsWord.has(text.charCodeAt(at))) at++;
    const isWord = at > start;
    if (!isWord) {
      const character = text.charAt(at++);
      if (character === "\0") break;
      if (blanks.includes(character)) continue;
      if (pairs.includes(character + text.charAt(at))) at++;
    }
    tokens.push({ text: text.slice(start, at), isWord });
    if (text.charAt(at) === "\0") at++;
  }
  return tokens;
}

const operators: ReadonlyMap<string, LabelOperator> = new Map([
  ["=", "="],
  ["==", "=="],
  ["!=", "!="],
  [">", "gt"],
  ["<", "lt"],
]);

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    while (this.#next !== end) {
      if (!this.#startsRequirement()) throw this.#unexpected("!, identifier, or 'end of string'");
      requirements.push(this.#requirement());
      if (this.#next === end) break;
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
    if (this.#next === end || this.#isSymbol(",")) return labelRequirement(key, "exists", []);
    const operator = this.#operator();
    return labelRequirement(
      key,
      operator,
      operator === "in" || operator === "notin" ? this.#values() : [this.#exactValue()],
    );
  }

  #key(): string {
    if (!this.#next.isWord) throw this.#unexpected("identifier");
    const { text } = this.#take();
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
    if (this.#next === end || this.#isSymbol(",")) return "";
    if (!this.#next.isWord) throw this.#unexpected("identifier");
    return this.#take().text;
  }

  /** Parses the values in parentheses and sorts them; a missing value counts as empty. */
  #values(): string[] {
    if (!this.#takes("(")) throw new SelectorError(`found '${this.#next.text}' expected: '('`);
    if (this.#takes(")")) return [""];
    if (!this.#next.isWord && !this.#isSymbol(",")) throw this.#unexpected("',', ')' or identifier");
    const values = this.#list();
    this.#take(); // The list ends before the parenthesis.
    return [...values].sort();
  }

  #list(): Set<string> {
    const values = new Set<string>();
    for (;;) {
      if (this.#next.isWord) {
        values.add(this.#take().text);
        if (this.#isSymbol(")")) return values;
        if (!this.#isSymbol(",")) throw this.#unexpected("',' or ')'");
      } else if (this.#takes(",")) {
        if (values.size === 0) values.add("");
        if (this.#isSymbol(")")) return values.add("");
        if (this.#takes(",")) values.add("");
      } else throw this.#unexpected("',', or identifier");
    }
  }

  get #next(): Token {
    return this.#tokens[this.#at] ?? end;
  }

  #isSymbol(text: string): boolean {
    return !this.#next.isWord && this.#next.text === text;
  }

  #take(): Token {
    const token = this.#next;
    this.#at++;
    return token;
  }

  #takes(symbol: string): boolean {
    const isNext = this.#isSymbol(symbol);
    if (isNext) this.#at++;
    return isNext;
  }

  #unexpected(expected: string): SelectorError {
    return new SelectorError(`found '${this.#next.text}', expected: ${expected}`);
  }
}
