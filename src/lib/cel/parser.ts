/**
 * Text to expressions, by recursive descent. Complaints have the words of ANTLR's, which upstream prints; after the first that leaves
 * it unclear how to go on, the rest is not looked at. Source: cel-spec's grammar; cel-go's parser.
 */
import { type Ast, accumulatorName, type Call, type Expr, type MapEntry, type StructField } from "./ast.ts";
import type { ComprehensionParts, Macro, MacroBuilder } from "./declarations.ts";
import { CelSyntaxError, type Issue } from "./errors.ts";
import { endOfText, type Token, tokenize } from "./lexer.ts";
import { parseBytesLiteral, parseDoubleLiteral, parseIntLiteral, parseStringLiteral, parseUintLiteral } from "./literals.ts";
import { Source } from "./source.ts";
import { CelFailure } from "./values/failure.ts";
import type { CelValue } from "./values/value.ts";

export interface ParserOptions {
  readonly macros: ReadonlyMap<string, Macro>;
  readonly optionalSyntax: boolean;
}

/** How deep expressions nest, as upstream allows; also of chains such as `a.b.c`. */
export const depthMax = 250;
/** Of an expression, in code points, as upstream allows. */
export const textCodePointsMax = 100_000;
/** After macros were expanded: a macro may use its argument twice. */
export const nodesMax = 500_000;

/** The key of a macro in `ParserOptions.macros`. */
export function macroKey(macro: Pick<Macro, "name" | "receiver" | "arity">): string {
  return `${macro.name}:${macro.arity}:${macro.receiver}`;
}

/** @throws CelSyntaxError */
export function parse(text: string, options: ParserOptions): Ast {
  const source = new Source(text);
  const size = text.length > textCodePointsMax ? [...text].length : text.length;
  if (size > textCodePointsMax) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${textCodePointsMax}`;
    throw new CelSyntaxError(source, [{ offset: -1, message }]);
  }
  const parser = new Parser(text, options);
  const root = parser.parseAll();
  if (parser.issues.length > 0 || root === undefined) throw new CelSyntaxError(source, parser.issues);
  return { source, root };
}

const operandStarts = ["[", "{", "(", ".", "-", "!", "true", "false", "null", "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER"];
const operandStart = new Set(operandStarts);
const relationSigns = new Set(["<", "<=", ">=", ">", "==", "!=", "in"]);
const sumSigns = new Set(["+", "-"]);
const productSigns = new Set(["*", "/", "%"]);
/** What may come after an operand: where parsing goes on after one that is missing. */
const operandFollow = new Set([...relationSigns, ...sumSigns, ...productSigns, "&&", "||", "?", ":", ",", ")", "]", "}", ".", "[", endOfText]);
const tokenOrder = ["[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "true", "false", "null"];
const reserved = new Set(
  "as break const continue else false for function if import in let loop package namespace null return true var void while".split(" "),
);

/** The rest of the text is not looked at. */
class Abort extends Error {}

class Parser {
  readonly issues: Issue[] = [];
  readonly #text: string;
  readonly #options: ParserOptions;
  readonly #tokens: Token[];
  #at = 0;
  #lastId = 0;
  #nesting = 0;
  /** Brackets that are open. */
  #open = 0;
  /** After a complaint there is none until a token was taken. */
  #recovering = false;
  /** How deep the expression with this id is. */
  readonly #depths: number[] = [0];

  constructor(text: string, options: ParserOptions) {
    this.#text = text;
    this.#options = options;
    this.#tokens = tokenize(text, this.issues);
  }

  parseAll(): Expr | undefined {
    try {
      const root = this.#expression();
      if (this.#kind() !== endOfText) this.#complain(this.#tokens[this.#at + 1]?.kind === endOfText ? "extraneous" : "mismatched", [endOfText]);
      return root;
    } catch (error) {
      if (error instanceof Abort) return undefined;
      throw error;
    }
  }

  // Tokens.

  #token(): Token {
    return this.#tokens[this.#at] as Token;
  }

  #kind(): string {
    return this.#token().kind;
  }

  #textOf(token: Token): string {
    return token.kind === endOfText ? endOfText : this.#text.slice(token.start, token.end);
  }

  #take(): Token {
    const token = this.#token();
    this.#at++;
    this.#recovering = false;
    return token;
  }

  #takeIf(kind: string): Token | undefined {
    return this.#kind() === kind ? this.#take() : undefined;
  }

  // Complaints.

  #issue(offset: number, message: string): void {
    this.issues.push({ offset, message });
  }

  #complain(what: "mismatched" | "extraneous", expected: readonly string[]): void {
    if (this.#recovering) return;
    this.#recovering = true;
    this.#issue(this.#token().start, `Syntax error: ${what} input '${this.#textOf(this.#token())}' expecting ${expectedText(expected)}`);
  }

  #abort(what: "mismatched" | "extraneous", expected: readonly string[]): never {
    this.#complain(what, expected);
    throw new Abort();
  }

  /** Takes a token of this kind; one that is too much is left out, one that is missing is thought to be there. */
  #expect(kind: string, follows: (next: string) => boolean): Token {
    const found = this.#takeIf(kind);
    if (found !== undefined) return found;
    if (this.#tokens[this.#at + 1]?.kind === kind) {
      this.#complain("extraneous", [kind]);
      this.#at++;
      return this.#take();
    }
    if (follows(this.#kind()) && !this.#recovering) {
      this.#recovering = true;
      this.#issue(this.#token().start, `Syntax error: missing ${expectedText([kind])} at '${this.#textOf(this.#token())}'`);
      return this.#token();
    }
    return this.#abort("mismatched", [kind]);
  }

  /** The bracket that ends what is open. */
  #close(kind: string): void {
    this.#open--;
    this.#expect(kind, (next) => (next === endOfText ? this.#open === 0 : operandFollow.has(next)));
  }

  /** Ends a list or map, after a comma that may stand there. */
  #closeLiteral(kind: string): void {
    this.#open--;
    if (this.#takeIf(",") !== undefined) {
      if (this.#takeIf(kind) !== undefined) return;
      this.#abort("mismatched", [kind]);
    }
    if (this.#takeIf(kind) !== undefined) return;
    if (this.#tokens[this.#at + 1]?.kind === kind) {
      this.#complain("extraneous", [kind, ","]);
      this.#at += 2;
      this.#recovering = false;
      return;
    }
    this.#abort("mismatched", [kind, ","]);
  }

  // Expressions.

  #next<Kind extends Expr["kind"]>(kind: Kind, offset: number, children: readonly Expr[]): { id: number; kind: Kind; offset: number } {
    const id = this.#nextId();
    let depth = 0;
    for (const child of children) depth = Math.max(depth, this.#depths[child.id] ?? 0);
    this.#depths[id] = depth + 1;
    if (depth + 1 > depthMax) {
      this.#issue(-1, "max recursion depth exceeded");
      throw new Abort();
    }
    return { id, kind, offset };
  }

  #nextId(): number {
    if (this.#lastId >= nodesMax) {
      this.#issue(-1, `expression has more than ${nodesMax} nodes`);
      throw new Abort();
    }
    this.#depths.push(0);
    return ++this.#lastId;
  }

  #constant(offset: number, value: CelValue): Expr {
    return { ...this.#next("constant", offset, []), value };
  }

  #identifier(offset: number, name: string): Expr {
    return { ...this.#next("identifier", offset, []), name };
  }

  #call(offset: number, name: string, target: Expr | undefined, args: readonly Expr[]): Call {
    return { ...this.#next("call", offset, target === undefined ? args : [target, ...args]), name, target, args };
  }

  #expression(): Expr {
    if (++this.#nesting > depthMax) {
      this.#issue(-1, `expression recursion limit exceeded: ${depthMax}`);
      throw new Abort();
    }
    const condition = this.#or();
    const sign = this.#takeIf("?");
    if (sign !== undefined) {
      const whenTrue = this.#or();
      this.#expect(":", (next) => operandStart.has(next));
      const whenFalse = this.#expression();
      this.#nesting--;
      return this.#call(sign.start, "_?_:_", undefined, [condition, whenTrue, whenFalse]);
    }
    this.#nesting--;
    return condition;
  }

  #or(): Expr {
    return this.#balanced("||", "_||_", () => this.#balanced("&&", "_&&_", () => this.#relation()));
  }

  /** A chain of one logical operator is a balanced tree, so that long ones are not deep. */
  #balanced(sign: string, name: string, operand: () => Expr): Expr {
    const terms = [operand()];
    const signs: Token[] = [];
    while (this.#kind() === sign) {
      signs.push(this.#take());
      terms.push(operand());
    }
    return signs.length === 0 ? (terms[0] as Expr) : this.#balance(name, terms, signs, 0, signs.length - 1);
  }

  #balance(name: string, terms: readonly Expr[], signs: readonly Token[], low: number, high: number): Expr {
    const middle = (low + high + 1) >> 1;
    const left = middle === low ? (terms[middle] as Expr) : this.#balance(name, terms, signs, low, middle - 1);
    const right = middle === high ? (terms[middle + 1] as Expr) : this.#balance(name, terms, signs, middle + 1, high);
    return this.#call((signs[middle] as Token).start, name, undefined, [left, right]);
  }

  #relation(): Expr {
    return this.#leftChain(relationSigns, () => this.#leftChain(sumSigns, () => this.#leftChain(productSigns, () => this.#unary())));
  }

  #leftChain(signs: ReadonlySet<string>, operand: () => Expr): Expr {
    let left = operand();
    while (signs.has(this.#kind())) {
      const sign = this.#take();
      const name = sign.kind === "in" ? "@in" : `_${sign.kind}_`;
      left = this.#call(sign.start, name, undefined, [left, operand()]);
    }
    return left;
  }

  #unary(): Expr {
    const sign = this.#token();
    if (sign.kind !== "!" && sign.kind !== "-") return this.#member();
    if (sign.kind === "-" && /^NUM_(?:INT|FLOAT)$/.test(this.#tokens[this.#at + 1]?.kind ?? "")) return this.#member();
    let count = 0;
    while (this.#takeIf(sign.kind) !== undefined) count++;
    if (sign.kind === "-" && count > 1 && !operandStart.has(this.#kind())) {
      this.#issue(this.#token().start, `Syntax error: no viable alternative at input '-'`);
    }
    const operand = this.#member();
    return count % 2 === 0 ? operand : this.#call(sign.start, `${sign.kind}_`, undefined, [operand]);
  }

  #member(): Expr {
    /** `a.b.c`, as long as it may name a message. */
    let names: string | undefined;
    let expr: Expr;
    const start = this.#token();
    if (start.kind === "IDENTIFIER" || start.kind === ".") {
      const dot = this.#takeIf(".");
      const identifier = this.#kind() === "IDENTIFIER" ? this.#take() : this.#noIdentifier(dot);
      const name = (dot === undefined ? "" : ".") + this.#textOf(identifier);
      if (this.#kind() === "(") {
        expr = this.#globalCall(name, identifier);
      } else {
        names = name;
        expr = this.#name(name, identifier, start.start);
      }
    } else {
      expr = this.#primary();
    }
    for (;;) {
      const sign = this.#token();
      if (sign.kind === ".") {
        const selected = this.#selected(expr, names);
        names = selected.names;
        expr = selected.expr;
      } else if (sign.kind === "[") {
        expr = this.#index(expr);
        names = undefined;
      } else if (sign.kind === "{" && names !== undefined) {
        expr = this.#struct(names);
        names = undefined;
      } else {
        return expr;
      }
    }
  }

  #noIdentifier(dot: Token | undefined): never {
    const token = this.#token();
    const text = token.kind === endOfText ? "" : this.#textOf(token);
    if (!this.#recovering) this.#issue(token.start, `Syntax error: no viable alternative at input '${dot === undefined ? "" : "."}${text}'`);
    throw new Abort();
  }

  #name(name: string, token: Token, offset: number): Expr {
    const word = this.#textOf(token);
    if (!reserved.has(word) || this.#kind() === "{") return this.#identifier(offset, name);
    this.#issue(token.start, `reserved identifier: ${word}`);
    return this.#identifier(offset, "");
  }

  #globalCall(name: string, token: Token): Expr {
    const word = this.#textOf(token);
    if (reserved.has(word)) this.#issue(token.start, `reserved identifier: ${word}`);
    const open = this.#token();
    const args = this.#args();
    return this.#expanded(name, undefined, args, open.start) ?? this.#call(open.start, name, undefined, args);
  }

  #selected(operand: Expr, names: string | undefined): { expr: Expr; names: string | undefined } {
    const dot = this.#take();
    const optional = this.#takeIf("?");
    if (this.#kind() === "ESC_IDENTIFIER") {
      this.#issue(this.#take().start, "unsupported syntax: '`'");
      return { expr: operand, names: undefined };
    }
    if (this.#kind() !== "IDENTIFIER") {
      if (names === undefined && optional === undefined) this.#noIdentifier(dot);
      this.#abort("mismatched", optional === undefined ? ["IDENTIFIER"] : ["IDENTIFIER", "ESC_IDENTIFIER"]);
    }
    const field = this.#textOf(this.#take());
    if (optional !== undefined) {
      if (!this.#options.optionalSyntax) this.#issue(dot.start, "unsupported syntax '.?'");
      const expr = this.#call(dot.start, "_?._", undefined, [operand, this.#constant(dot.start, field)]);
      return { expr, names: undefined };
    }
    if (this.#kind() === "(") {
      const open = this.#token();
      const args = this.#args();
      const expr = this.#expanded(field, operand, args, open.start) ?? this.#call(open.start, field, operand, args);
      return { expr, names: undefined };
    }
    const expr: Expr = { ...this.#next("select", dot.start, [operand]), operand, field, testOnly: false };
    return { expr, names: names === undefined ? undefined : `${names}.${field}` };
  }

  #index(operand: Expr): Expr {
    const bracket = this.#take();
    this.#open++;
    const optional = this.#takeIf("?") !== undefined;
    if (optional && !this.#options.optionalSyntax) this.#issue(bracket.start, "unsupported syntax '[?'");
    const index = this.#expression();
    this.#close("]");
    return this.#call(bracket.start, optional ? "_[?_]" : "_[_]", undefined, [operand, index]);
  }

  #args(): Expr[] {
    this.#take();
    this.#open++;
    const args: Expr[] = [];
    if (this.#kind() !== ")") {
      if (!operandStart.has(this.#kind()) && this.#tokens[this.#at + 1]?.kind !== ")") this.#abort("mismatched", [...operandStarts, ")"]);
      do args.push(this.#expression());
      while (this.#takeIf(",") !== undefined);
    }
    this.#close(")");
    return args;
  }

  #primary(): Expr {
    const token = this.#token();
    switch (token.kind) {
      case "(": {
        this.#take();
        this.#open++;
        const inner = this.#expression();
        this.#close(")");
        return inner;
      }
      case "[":
        return this.#list();
      case "{":
        return this.#map();
      case "true":
      case "false":
        return this.#constant(this.#take().start, token.kind === "true");
      case "null":
        return this.#constant(this.#take().start, null);
      default:
        return this.#literal() ?? this.#missingOperand();
    }
  }

  #literal(): Expr | undefined {
    const start = this.#token().start;
    const negative = this.#kind() === "-" && this.#takeIf("-") !== undefined;
    const token = this.#token();
    const text = this.#textOf(token);
    let value: CelValue | CelFailure;
    if (token.kind === "NUM_INT") value = parseIntLiteral(text, negative);
    else if (token.kind === "NUM_FLOAT") value = parseDoubleLiteral(text, negative);
    else if (token.kind === "NUM_UINT") value = parseUintLiteral(text);
    else if (token.kind === "STRING") value = parseStringLiteral(text);
    else if (token.kind === "BYTES") value = parseBytesLiteral(text);
    else return undefined;
    this.#take();
    if (!(value instanceof CelFailure)) return this.#constant(start, value);
    this.#issue(start, value.message);
    return this.#constant(start, null);
  }

  /** One token too many is left out; otherwise it goes on where something may follow an operand. */
  #missingOperand(): Expr {
    const offset = this.#token().start;
    const next = this.#tokens[this.#at + 1]?.kind ?? endOfText;
    if (this.#kind() !== endOfText && operandStart.has(next) && !this.#recovering) {
      this.#complain("extraneous", operandStarts);
      this.#at++;
      return this.#unary();
    }
    this.#complain("mismatched", operandStarts);
    while (!operandFollow.has(this.#kind())) this.#at++;
    return this.#constant(offset, null);
  }

  #list(): Expr {
    const bracket = this.#take();
    this.#open++;
    const elements: Expr[] = [];
    const optionalIndices = new Set<number>();
    while (this.#kind() !== "]" && !(this.#kind() === "," && elements.length === 0)) {
      if (this.#optionalEntry()) optionalIndices.add(elements.length);
      elements.push(this.#expression());
      if (this.#kind() !== "," || this.#tokens[this.#at + 1]?.kind === "]") break;
      this.#take();
    }
    this.#closeLiteral("]");
    return { ...this.#next("list", bracket.start, elements), elements, optionalIndices };
  }

  #optionalEntry(): boolean {
    const sign = this.#takeIf("?");
    if (sign !== undefined && !this.#options.optionalSyntax) this.#issue(sign.start, "unsupported syntax '?'");
    return sign !== undefined;
  }

  #map(): Expr {
    const brace = this.#take();
    this.#open++;
    const entries: MapEntry[] = [];
    while (this.#kind() !== "}" && !(this.#kind() === "," && entries.length === 0)) {
      this.#checkMapStart();
      const optional = this.#optionalEntry();
      const key = this.#expression();
      const colon = this.#expect(":", (next) => operandStart.has(next));
      const value = this.#expression();
      entries.push({ id: this.#nextId(), offset: colon.start, key, value, optional });
      if (this.#kind() !== "," || this.#tokens[this.#at + 1]?.kind === "}") break;
      this.#take();
    }
    this.#closeLiteral("}");
    const within = entries.flatMap((entry) => [entry.key, entry.value]);
    return { ...this.#next("map", brace.start, within), entries };
  }

  #checkMapStart(): void {
    const kind = this.#kind();
    if (operandStart.has(kind) || kind === "?" || this.#tokens[this.#at - 1]?.kind !== "{") return;
    const expected = [...operandStarts, "}", ",", "?"];
    if (!operandStart.has(this.#tokens[this.#at + 1]?.kind ?? endOfText)) this.#abort("mismatched", expected);
    this.#complain("extraneous", expected);
    this.#at++;
    this.#recovering = false;
  }

  #struct(name: string): Expr {
    const brace = this.#take();
    this.#open++;
    const fields: StructField[] = [];
    while (this.#kind() !== "}" && !(this.#kind() === "," && fields.length === 0)) {
      const optional = this.#optionalEntry();
      const field = this.#structFieldName(fields.length === 0 && !optional);
      const colon = this.#expect(":", (next) => operandStart.has(next));
      const value = this.#expression();
      fields.push({ id: this.#nextId(), offset: colon.start, name: field, value, optional });
      if (this.#kind() !== "," || this.#tokens[this.#at + 1]?.kind === "}") break;
      this.#take();
    }
    this.#closeLiteral("}");
    const within = fields.map((field) => field.value);
    return { ...this.#next("struct", brace.start, within), name, fields };
  }

  #structFieldName(first: boolean): string {
    const expected = first ? ["}", ",", "?", "IDENTIFIER", "ESC_IDENTIFIER"] : ["IDENTIFIER", "ESC_IDENTIFIER"];
    if (this.#kind() === "ESC_IDENTIFIER") {
      this.#issue(this.#token().start, "unsupported syntax: '`'");
      return this.#textOf(this.#take());
    }
    if (this.#kind() !== "IDENTIFIER") {
      if (this.#tokens[this.#at + 1]?.kind !== "IDENTIFIER") this.#abort("mismatched", expected);
      this.#complain("extraneous", expected);
      this.#at++;
    }
    return this.#textOf(this.#take());
  }

  // Macros.

  #expanded(name: string, target: Expr | undefined, args: readonly Expr[], offset: number): Expr | undefined {
    const macro = this.#options.macros.get(macroKey({ name, receiver: target !== undefined, arity: args.length }));
    if (macro === undefined) return undefined;
    const issuesBefore = this.issues.length;
    const expanded = macro.expand(this.#builder(offset), target, args);
    if (expanded !== undefined) return expanded;
    return this.issues.length > issuesBefore ? this.#constant(offset, null) : undefined;
  }

  #builder(offset: number): MacroBuilder {
    return {
      constant: (value) => this.#constant(offset, value),
      identifier: (name) => this.#identifier(offset, name),
      call: (name, ...args) => this.#call(offset, name, undefined, args),
      memberCall: (name, target, ...args) => this.#call(offset, name, target, args),
      list: (...elements) => ({ ...this.#next("list", offset, elements), elements, optionalIndices: new Set() }),
      map: (...pairs) => {
        const entries = pairs.map(([key, value]) => ({ id: this.#nextId(), offset, key, value, optional: false }));
        return { ...this.#next("map", offset, pairs.flat()), entries };
      },
      presence: (operand, field) => ({ ...this.#next("select", offset, [operand]), operand, field, testOnly: true }),
      comprehension: (parts) => this.#comprehension(offset, parts),
      complain: (at, message) => void this.#issue(at.offset, message) as undefined,
    };
  }

  #comprehension(offset: number, parts: ComprehensionParts): Expr {
    const { range, init, condition, step, result } = parts;
    const node = this.#next("comprehension", offset, [range, init, condition, step, result]);
    return { ...node, ...parts, variable2: parts.variable2, accumulator: parts.accumulator ?? accumulatorName };
  }
}

/** One token, or a set of them in the order of upstream's grammar. */
function expectedText(kinds: readonly string[]): string {
  const rank = (kind: string): number => {
    const at = tokenOrder.indexOf(kind);
    return at === -1 ? tokenOrder.length : at;
  };
  const names = kinds.toSorted((left, right) => rank(left) - rank(right)).map((kind) => (/^[A-Z_<]/.test(kind) && kind !== "<" ? kind : `'${kind}'`));
  return names.length === 1 ? (names[0] as string) : `{${names.join(", ")}}`;
}
