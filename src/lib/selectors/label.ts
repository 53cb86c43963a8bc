/** Label selectors: `a=1,b in (x,y),!c`. Source: apimachinery's labels package. */
import { keyProblems, valueProblems } from "./label-syntax.ts";
import { SelectorError } from "./selector-error.ts";

export type LabelOperator = "=" | "==" | "!=" | "in" | "notin" | "exists" | "!" | "gt" | "lt";

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** One for `=`, `==`, `!=`, `gt`, `lt`; none for `exists` and `!`. */
  readonly values: readonly string[];
}

/** All requirements must hold; none means everything matches. */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
}

export const everything: LabelSelector = { requirements: [] };

/** Texts longer than this are refused before they are read. */
const textMax = 1 << 20;

/** @throws SelectorError with upstream's text */
export function parseLabelSelector(text: string): LabelSelector {
  if (text.trim() === "") return everything;
  if (text.length > textMax) throw new SelectorError("selector is too long");
  const parser = new Parser(text);
  const requirements = parser.parse();
  // Upstream keeps them by key, so that formatting does not depend on how they were written.
  return { requirements: requirements.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)) };
}

export function matchesLabels({ requirements }: LabelSelector, labels: ReadonlyMap<string, string>): boolean {
  for (const requirement of requirements) if (!holds(requirement, labels)) return false;
  return true;
}

function holds({ key, operator, values }: LabelRequirement, labels: ReadonlyMap<string, string>): boolean {
  const value = labels.get(key);
  switch (operator) {
    case "=":
    case "==":
    case "in":
      return value !== undefined && values.includes(value);
    case "!=":
    case "notin":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    default: {
      if (value === undefined || !isInteger(value)) return false;
      const [bound] = values as [string];
      return operator === "gt" ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound);
    }
  }
}

/** The selector as upstream prints it. */
export function formatLabelSelector({ requirements }: LabelSelector): string {
  return requirements.map(formatRequirement).join(",");
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case "exists":
      return key;
    case "!":
      return `!${key}`;
    case "in":
    case "notin":
      return `${key} ${operator} (${[...values].sort().join(",")})`;
    case "gt":
      return `${key}>${values[0]}`;
    case "lt":
      return `${key}<${values[0]}`;
    default:
      return `${key}${operator}${values[0]}`;
  }
}

interface ObjectRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

const objectOperators: Readonly<Record<string, LabelOperator>> = { In: "in", NotIn: "notin", Exists: "exists", DoesNotExist: "!" };

/** The `LabelSelector` of an object's spec; absent selects nothing, empty selects everything. @throws SelectorError for an unknown operator */
export function labelSelectorFromObject(selector: {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly ObjectRequirement[];
}): LabelSelector {
  const labels = Object.entries(selector.matchLabels ?? {}).map(([key, value]): LabelRequirement => ({ key, operator: "=", values: [value] }));
  const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values = [] }): LabelRequirement => {
    const known = objectOperators[operator];
    if (known === undefined) throw new SelectorError(`"${operator}" is not a valid label selector operator`);
    return { key, operator: known, values };
  });
  return { requirements: [...labels, ...expressions].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)) };
}

function isInteger(text: string): boolean {
  if (!/^[+-]?\d+$/.test(text)) return false;
  const value = BigInt(text);
  return value >= -(2n ** 63n) && value < 2n ** 63n;
}

const specials = new Set(["(", ")", ",", "!", "=", ">", "<"]);
const symbols = new Set(["=", "==", "!=", ">", "<", "(", ")", ",", "!"]);

/** A token, and whether it is a word; the end is an empty symbol. */
interface Token {
  readonly text: string;
  readonly word: boolean;
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokens(text);
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const token = this.#peek();
      if (token.text === "" && !token.word) return requirements;
      if (!token.word && token.text !== "!") throw new SelectorError(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      requirements.push(this.#requirement());
      const next = this.#take();
      if (next.text === "" && !next.word) return requirements;
      if (next.word || next.text !== ",") throw new SelectorError(`found '${next.text}', expected: ',' or 'end of string'`);
      const after = this.#peek();
      if (!after.word && after.text !== "!") throw new SelectorError(`found '${after.text}', expected: identifier after ','`);
    }
  }

  #requirement(): LabelRequirement {
    const negated = this.#peek().text === "!" && !this.#peek().word;
    if (negated) this.#take();
    const key = this.#take();
    if (!key.word) throw new SelectorError(`unable to parse requirement: found '${key.text}', expected: identifier`);
    check(keyProblems(key.text), "key", key.text);
    const next = this.#peek();
    if (negated) return { key: key.text, operator: "!", values: [] };
    if ((next.text === "" && !next.word) || (next.text === "," && !next.word)) return { key: key.text, operator: "exists", values: [] };
    const operator = this.#operator();
    const values = operator === "in" || operator === "notin" ? this.#values() : [this.#exactValue()];
    return checkedRequirement(key.text, operator, values);
  }

  #operator(): LabelOperator {
    const { text, word } = this.#take();
    if (word && (text === "in" || text === "notin")) return text;
    if (!word && (text === "=" || text === "==" || text === "!=")) return text;
    if (!word && text === ">") return "gt";
    if (!word && text === "<") return "lt";
    throw new SelectorError(`unable to parse requirement: found '${text}', expected: in, notin, =, ==, !=, gt, lt`);
  }

  #values(): string[] {
    const open = this.#take();
    if (open.word || open.text !== "(") throw new SelectorError(`unable to parse requirement: found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (!first.word && first.text === ")") {
      this.#take();
      return [""];
    }
    const values = new Set<string>();
    for (;;) {
      const token = this.#take();
      if (token.word) {
        values.add(token.text);
        const after = this.#take();
        if (!after.word && after.text === ")") return [...values];
        if (after.word || after.text !== ",") throw new SelectorError(`unable to parse requirement: found '${after.text}', expected: ',' or ')'`);
        const next = this.#peek();
        if (!next.word && next.text === ")") {
          this.#take();
          values.add("");
          return [...values];
        }
      } else if (token.text === ",") {
        values.add(""); // An empty value between two commas, or before the first.
        const next = this.#peek();
        if (!next.word && next.text === ")") {
          this.#take();
          return [...values];
        }
      } else {
        throw new SelectorError(`unable to parse requirement: found '${token.text}', expected: ',', ')' or identifier`);
      }
    }
  }

  #exactValue(): string {
    const token = this.#peek();
    if (!token.word && (token.text === "" || token.text === ",")) return "";
    if (!token.word) throw new SelectorError(`unable to parse requirement: found '${token.text}', expected: identifier`);
    return this.#take().text;
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? { text: "", word: false };
  }

  #take(): Token {
    const token = this.#peek();
    this.#at++;
    return token;
  }
}

function checkedRequirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  values.forEach((value, index) => {
    if ((operator === "gt" || operator === "lt") && !isInteger(value)) {
      throw new SelectorError(
        `unable to parse requirement: values[${index}]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
      );
    }
    check(valueProblems(value), `values[${index}][${key}]`, value);
  });
  return { key, operator, values };
}

function check(problems: readonly string[], path: string, value: string): void {
  if (problems.length > 0)
    throw new SelectorError(`unable to parse requirement: ${path}: Invalid value: ${JSON.stringify(value)}: ${problems.join("; ")}`);
}

/** Words are everything between blanks and special characters. */
function tokens(text: string): Token[] {
  const result: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text[at] as string;
    if (/\s/.test(character)) {
      at++;
    } else if (specials.has(character)) {
      const two = text.slice(at, at + 2);
      const symbol = symbols.has(two) ? two : character;
      result.push({ text: symbol, word: false });
      at += symbol.length;
    } else {
      const start = at;
      while (at < text.length && !specials.has(text[at] as string) && !/\s/.test(text[at] as string)) at++;
      result.push({ text: text.slice(start, at), word: true });
    }
  }
  return result;
}
