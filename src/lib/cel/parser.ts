/**
 * A recursive descent parser. Error messages and error recovery follow ANTLR, which cel-go uses.
 * Source: the grammar of cel-spec; cel-go, parser/parser.go
 */
import { type Ast, accumulatorName, type Call, type Expr, type MapEntry, type StructField } from "./ast.ts";
import type { ComprehensionParts, Macro, MacroBuilder } from "./declarations.ts";
import { CelSyntaxError } from "./errors.ts";
import { endOfText, type Token, tokenReader } from "./lexer.ts";
import {
  parseBytesLiteral,
  parseDoubleLiteral,
  parseIntLiteral,
  parseStringLiteral,
  parseUintLiteral,
} from "./literals.ts";
import { type Issue, Source } from "./source.ts";
import { CelFailure } from "./values/failure.ts";
import type { CelValue } from "./values/value.ts";

/** The syntax that an environment adds to the language. */
interface ParserOptions {
  /** By `macroKey`. */
  readonly macros: ReadonlyMap<string, Macro>;
  readonly optionalSyntax: boolean;
}

/** The nesting limit of cel-go. A chain such as `a.b.c` counts too. */
const depthMax = 250;
/** The text limit of cel-go. */
const textCodePointsMax = 100_000;
/** Limits nodes after macro expansion: a macro can use its argument twice. */
const nodesMax = 500_000;

/** The key of a macro in `ParserOptions.macros`. */
export function macroKey(macro: Pick<Macro, "name" | "receiver" | "arity">): string {
  return `${macro.name}:${macro.arity}:${macro.receiver}`;
}

/** Parses an expression and expands its macros. @throws CelSyntaxError with all errors */
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

const operandStarts = [
  "[",
  "{",
  "(",
  ".",
  "-",
  "!",
  "true",
  "false",
  "null",
  "NUM_FLOAT",
  "NUM_INT",
  "NUM_UINT",
  "STRING",
  "BYTES",
  "IDENTIFIER",
];
const operandStart = new Set(operandStarts);
const relationSigns = new Set(["<", "<=", ">=", ">", "==", "!=", "in"]);
const sumSigns = new Set(["+", "-"]);
const productSigns = new Set(["*", "/", "%"]);
const operators = new Set([...relationSigns, ...sumSigns, ...productSigns, "&&", "||", "?"]);
/** Additional tokens at which the parser resumes after an invalid literal, name or call. */
const afterPrimary = [".", "["];
/** The limits of cel-go. */
const recoveriesMax = 30;
const syntaxErrorsMax = 100;
const skippedTokensMax = 256;
const tokenOrder = ["[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "true", "false", "null"];
const reserved = new Set(
  "as break const continue else false for function if import in let loop package namespace null return true var void while".split(
    " ",
  ),
);

/** Stops parsing at an error without recovery. */
class Abort extends Error {}

class Parser {
  readonly #syntaxIssues: Issue[] = [];
  /** Of literals, names and macros, which cel-go checks after the syntax. */
  readonly #otherIssues: Issue[] = [];
  readonly #text: string;
  readonly #options: ParserOptions;
  readonly #tokenOf: (index: number) => Token;
  #at = 0;
  #lastId = 0;
  #nesting = 0;
  /**
   * Open constructs, the innermost last: for each, the tokens besides operators that can follow an
   * operand.
   */
  readonly #open: (readonly string[])[] = [];
  /** Set after an error until the next token is consumed; no other error is reported meanwhile. */
  #recovering = false;
  #recoveries = 0;
  #expanding = false;
  /** Depth of each expression, by id. */
  readonly #depths: number[] = [0];

  constructor(text: string, options: ParserOptions) {
    this.#text = text;
    this.#options = options;
    this.#tokenOf = tokenReader(text, ({ offset, message }) => this.#issue(offset, message));
  }

  parseAll(): Expr | undefined {
    try {
      const root = this.#expression();
      if (this.#expect(endOfText, () => false) === undefined) this.#recoverAt((kind) => kind === endOfText);
      return root;
    } catch (error) {
      if (error instanceof Abort) return undefined;
      throw error;
    }
  }

  // Tokens.

  #token(): Token {
    return this.#tokenOf(this.#at);
  }

  #kind(): string {
    return this.#token().kind;
  }

  /** The kind of the token after the current one. */
  #kindAfter(): string {
    return this.#tokenOf(this.#at + 1).kind;
  }

  #textOf(token: Token): string {
    return token.kind === endOfText ? endOfText : this.#text.slice(token.start, token.end);
  }

  /** The current token for a message. */
  #found(): string {
    return escapeSpace(this.#textOf(this.#token()));
  }

  /**
   * The input from one token to the next for a message: with white space, without invalid
   * characters.
   */
  #input(from: Token, to: Token): string {
    if (from === to) return escapeSpace(this.#text.slice(to.start, to.end));
    const between = this.#text.slice(from.end, to.start);
    const shown = isSpaceOrComments(between) ? between : between.replace(/\S+/g, "");
    return escapeSpace(this.#text.slice(from.start, from.end) + shown + this.#text.slice(to.start, to.end));
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

  // Errors and recovery.

  /** All errors in the order in which cel-go finds them. */
  get issues(): readonly Issue[] {
    return [...this.#syntaxIssues, ...this.#otherIssues];
  }

  /** @throws Abort after too many syntax errors */
  #issue(offset: number, message: string): void {
    if (!message.startsWith("Syntax error")) return void this.#otherIssues.push({ offset, message });
    if (this.#syntaxIssues.length < syntaxErrorsMax) return void this.#syntaxIssues.push({ offset, message });
    this.#stop(offset, `Syntax error: More than ${syntaxErrorsMax} syntax errors`);
  }

  /** Stops parsing; what cel-go checks after the syntax is not checked. @throws Abort */
  #stop(offset: number, message: string): never {
    this.#syntaxIssues.push({ offset, message });
    this.#otherIssues.length = 0;
    throw new Abort();
  }

  #reportUnexpected(problem: "mismatched" | "extraneous", expected: readonly string[]): void {
    if (this.#recovering) return;
    this.#recovering = true;
    this.#issue(
      this.#token().start,
      `Syntax error: ${problem} input '${this.#found()}' expecting ${expectedText(expected)}`,
    );
  }

  /** @throws Abort if there are too many errors */
  #countRecovery(): void {
    if (this.#recoveries++ < recoveriesMax) return;
    this.#stop(this.#token().start, `Syntax error: error recovery attempt limit exceeded: ${recoveriesMax}`);
  }

  /**
   * Consumes a token of this kind. Skips one extraneous token, and inserts a missing one.
   *
   * @param follows whether a token can follow the expected one, so that it is only missing
   * @returns undefined if neither helps; the caller then calls `#recover`
   */
  #expect(kind: string, follows: (next: string) => boolean): Token | undefined {
    const found = this.#takeIf(kind);
    if (found !== undefined) return found;
    this.#countRecovery();
    if (this.#kindAfter() === kind) {
      this.#reportUnexpected("extraneous", [kind]);
      this.#at++;
      return this.#take();
    }
    if (!follows(this.#kind())) {
      this.#reportUnexpected("mismatched", [kind]);
      return undefined;
    }
    if (!this.#recovering)
      this.#issue(this.#token().start, `Syntax error: missing ${expectedText([kind])} at '${this.#found()}'`);
    this.#recovering = true;
    return this.#token();
  }

  /** Whether a token can follow an operand here. */
  #mayFollow(kind: string): boolean {
    if (operators.has(kind) || kind === "." || kind === "[") return true;
    return this.#open.at(-1)?.includes(kind) ?? kind === endOfText;
  }

  /**
   * Skips to the next token that can follow an operand in any open construct.
   *
   * @param alsoAt additional tokens to stop at
   */
  #recover(alsoAt: readonly string[] = []): void {
    this.#recoverAt(
      (kind) =>
        kind === endOfText ||
        operators.has(kind) ||
        alsoAt.includes(kind) ||
        this.#open.some((tokens) => tokens.includes(kind)),
    );
  }

  #recoverAt(resumesAt: (kind: string) => boolean): void {
    this.#countRecovery();
    for (let skipped = 0; !resumesAt(this.#kind()); skipped++, this.#at++)
      if (skipped === skippedTokensMax)
        this.#stop(-1, `error recovery token lookahead limit exceeded: ${skippedTokensMax}`);
  }

  /** Consumes the closing bracket of the innermost construct. */
  #close(kind: string, alsoAt: readonly string[] = []): void {
    this.#open.pop();
    if (this.#expect(kind, (next) => this.#mayFollow(next)) === undefined) this.#recover(alsoAt);
  }

  /** Consumes the closing bracket of a list or map, after an optional comma. */
  #closeLiteral(kind: string): void {
    const found = this.#kind();
    if (found !== kind && found !== "," && !this.#recovering) {
      const next = this.#kindAfter();
      const isExtraneous = next === kind || next === ",";
      this.#reportUnexpected(isExtraneous ? "extraneous" : "mismatched", [kind, ","]);
      if (!isExtraneous) {
        this.#open.pop();
        this.#recover(afterPrimary);
        return;
      }
      this.#at++;
    }
    this.#takeIf(",");
    this.#close(kind, afterPrimary);
  }

  /**
   * Checks the token after an opening bracket, and skips one extraneous token.
   *
   * @param more allowed tokens besides those that start an operand
   * @returns false if the content cannot be parsed; then the construct is already closed
   */
  #checkStart(more: readonly string[], alsoAt: readonly string[] = []): boolean {
    const kind = this.#kind();
    if (operandStart.has(kind) || more.includes(kind) || this.#recovering) return true;
    const expected = [...operandStarts, ...more];
    const next = this.#kindAfter();
    if (operandStart.has(next) || more.includes(next)) {
      this.#reportUnexpected("extraneous", expected);
      this.#at++;
      return true;
    }
    this.#reportUnexpected("mismatched", expected);
    this.#open.pop();
    this.#recover(alsoAt);
    return false;
  }

  // Expressions.

  /** Assigns the id. As in cel-go, nodes that a macro creates around its arguments add no depth. */
  #next<Kind extends Expr["kind"]>(
    kind: Kind,
    offset: number,
    children: readonly Expr[],
  ): { id: number; kind: Kind; offset: number } {
    const id = this.#nextId();
    let depth = this.#expanding ? 0 : 1;
    const own = depth;
    for (const child of children) depth = Math.max(depth, own + (this.#depths[child.id] ?? 0));
    this.#depths[id] = depth;
    if (depth > depthMax) {
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

  /** Every recursion of the parser calls this, and decreases `#nesting` at its end. */
  #nest(): void {
    if (++this.#nesting > depthMax) this.#stop(-1, `expression recursion limit exceeded: ${depthMax}`);
  }

  #expression(): Expr {
    this.#nest();
    const condition = this.#or();
    const sign = this.#takeIf("?");
    if (sign !== undefined) {
      this.#open.push([":"]);
      const whenTrue = this.#or();
      this.#open.pop();
      if (this.#expect(":", (next) => operandStart.has(next)) === undefined) {
        this.#recover();
        this.#nesting--;
        return condition;
      }
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

  /**
   * Parses a chain of one logical operator into a balanced tree, so that long chains are not deep.
   */
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
    return this.#leftChain(relationSigns, () =>
      this.#leftChain(sumSigns, () => this.#leftChain(productSigns, () => this.#unary())),
    );
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
    if (sign.kind === "-" && /^NUM_(?:INT|FLOAT)$/.test(this.#kindAfter())) return this.#member();
    let count = 0;
    while (this.#takeIf(sign.kind) !== undefined) count++;
    this.#checkOperand(sign.kind);
    const operand = this.#member();
    return count % 2 === 0 ? operand : this.#call(sign.start, `${sign.kind}_`, undefined, [operand]);
  }

  /** Checks the token after a unary operator. */
  #checkOperand(sign: string): void {
    const kind = this.#kind();
    if (operandStart.has(kind) && kind !== "!" && kind !== "-") return;
    if (sign === "-" && kind === "-") return;
    if (sign === "!") {
      if (!operandStart.has(kind)) this.#reportUnexpected("extraneous", operandStarts);
      return;
    }
    const token = this.#token();
    const minus = this.#at === 0 ? token : this.#tokenOf(this.#at - 1);
    this.#issue(token.start, `Syntax error: no viable alternative at input '${this.#input(minus, token)}'`);
    while (this.#takeIf("!") !== undefined) this.#recovering = true;
  }

  #member(): Expr {
    /** `a.b.c`, while it can be the name of a message. */
    let names: string | undefined;
    let expr: Expr;
    const start = this.#token();
    if (start.kind === "IDENTIFIER" || start.kind === ".") {
      const dot = this.#takeIf(".");
      if (this.#kind() !== "IDENTIFIER") return this.#noIdentifier(dot);
      const identifier = this.#take();
      const name = (dot === undefined ? "" : ".") + this.#textOf(identifier);
      if (this.#kind() === "(") {
        expr = this.#globalCall(name, identifier);
      } else {
        names = name;
        expr = this.#name(name, identifier, identifier.start);
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

  /** The message depends on whether the token is a literal keyword after a dot. */
  #reportMissingIdentifier(dot: Token | undefined): void {
    if (this.#recovering) return;
    this.#recovering = true;
    const token = this.#token();
    const text = token.kind === endOfText ? "" : this.#textOf(token);
    const isKeyword = dot !== undefined && ["true", "false", "null"].includes(text);
    const input = this.#input(dot ?? token, token);
    const message = isKeyword
      ? `mismatched input '${text}' expecting IDENTIFIER`
      : `no viable alternative at input '${input}'`;
    this.#issue(token.start, `Syntax error: ${message}`);
  }

  #noIdentifier(dot: Token | undefined): Expr {
    const offset = this.#token().start;
    this.#reportMissingIdentifier(dot);
    this.#recover(afterPrimary);
    return this.#constant(offset, null);
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
    const args = this.#args(afterPrimary);
    return this.#expanded(name, undefined, args, open.start) ?? this.#call(open.start, name, undefined, args);
  }

  #selected(operand: Expr, names: string | undefined): { expr: Expr; names: string | undefined } {
    const wasRecovering = this.#recovering;
    const dot = this.#take();
    const optional = this.#takeIf("?");
    if (this.#kind() === "ESC_IDENTIFIER") {
      this.#issue(this.#take().start, "unsupported syntax: '`'");
      return { expr: operand, names: undefined };
    }
    if (this.#kind() !== "IDENTIFIER") {
      if (optional === undefined) {
        this.#recovering = wasRecovering; // The dot alone does not end the recovery.
        this.#reportMissingIdentifier(dot);
      }
      if (optional === undefined || !this.#skipToField()) {
        this.#recover(optional === undefined ? [] : afterPrimary);
        return { expr: operand, names: undefined };
      }
    }
    const field = this.#textOf(this.#take());
    if (optional !== undefined) {
      if (!this.#options.optionalSyntax) this.#issue(dot.start, "unsupported syntax '.?'");
      const expr = this.#call(dot.start, "_?._", undefined, [operand, this.#constant(dot.start, field)]);
      return { expr, names: undefined };
    }
    if (this.#kind() === "(") {
      const open = this.#token();
      const args = this.#args([]);
      const expr = this.#expanded(field, operand, args, open.start) ?? this.#call(open.start, field, operand, args);
      return { expr, names: undefined };
    }
    const expr: Expr = { ...this.#next("select", dot.start, [operand]), operand, field, testOnly: false };
    return { expr, names: names === undefined ? undefined : `${names}.${field}` };
  }

  /** Handles a token after `.?` that is not a field name: skips it if a field name follows. */
  #skipToField(): boolean {
    const { start } = this.#token();
    const isExtraneous = this.#kindAfter() === "IDENTIFIER" && !this.#recovering;
    this.#reportUnexpected(isExtraneous ? "extraneous" : "mismatched", ["IDENTIFIER", "ESC_IDENTIFIER"]);
    if (isExtraneous) this.#at++;
    else this.#issue(start, "unsupported ident kind");
    return isExtraneous;
  }

  #index(operand: Expr): Expr {
    const bracket = this.#take();
    this.#open.push(["]"]);
    if (!this.#checkStart(["?"])) return operand;
    const optional = this.#takeIf("?") !== undefined;
    if (optional && !this.#options.optionalSyntax) this.#issue(bracket.start, "unsupported syntax '[?'");
    const index = this.#expression();
    this.#close("]");
    return this.#call(bracket.start, optional ? "_[?_]" : "_[_]", undefined, [operand, index]);
  }

  #args(alsoAt: readonly string[]): Expr[] {
    this.#take();
    this.#open.push([")", ","]);
    const args: Expr[] = [];
    if (!this.#checkStart([")"], alsoAt)) return args;
    if (this.#kind() !== ")") {
      do args.push(this.#expression());
      while (this.#takeIf(",") !== undefined);
    }
    this.#close(")", alsoAt);
    return args;
  }

  #primary(): Expr {
    const token = this.#token();
    switch (token.kind) {
      case "(": {
        this.#take();
        this.#open.push([")"]);
        const inner = this.#expression();
        this.#close(")", afterPrimary);
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

  /** Skips one extraneous token, or recovers after the missing operand. */
  #missingOperand(): Expr {
    const offset = this.#token().start;
    const next = this.#kindAfter();
    if (this.#kind() !== endOfText && operandStart.has(next) && !this.#recovering) {
      this.#reportUnexpected("extraneous", operandStarts);
      this.#at++;
      this.#nest();
      const operand = this.#unary();
      this.#nesting--;
      return operand;
    }
    this.#reportUnexpected("mismatched", operandStarts);
    this.#recover(afterPrimary);
    return this.#constant(offset, null);
  }

  #list(): Expr {
    const bracket = this.#take();
    this.#open.push(["]", ","]);
    const elements: Expr[] = [];
    const optionalIndices = new Set<number>();
    if (!this.#checkStart(["]", ",", "?"], afterPrimary)) return this.#constant(bracket.start, null);
    while (this.#kind() !== "]" && !(this.#kind() === "," && elements.length === 0)) {
      if (this.#optionalEntry()) optionalIndices.add(elements.length);
      elements.push(this.#expression());
      if (this.#kind() !== "," || !this.#startsEntry(1)) break;
      this.#take();
    }
    this.#closeLiteral("]");
    return { ...this.#next("list", bracket.start, elements), elements, optionalIndices };
  }

  /** Whether the token starts another entry; if not, the comma before it is a trailing one. */
  #startsEntry(ahead: number): boolean {
    const kind = this.#tokenOf(this.#at + ahead).kind;
    return operandStart.has(kind) || kind === "?";
  }

  #optionalEntry(): boolean {
    const sign = this.#takeIf("?");
    if (sign !== undefined && !this.#options.optionalSyntax) this.#issue(sign.start, "unsupported syntax '?'");
    return sign !== undefined;
  }

  #map(): Expr {
    const brace = this.#take();
    this.#open.push(["}", ","]);
    const entries: MapEntry[] = [];
    if (!this.#checkStart(["}", ",", "?"], afterPrimary)) return this.#constant(brace.start, null);
    while (this.#kind() !== "}" && !(this.#kind() === "," && entries.length === 0)) {
      const optional = this.#optionalEntry();
      this.#open.push([":"]);
      const key = this.#expression();
      this.#open.pop();
      const colon = this.#expect(":", (next) => operandStart.has(next));
      if (colon === undefined) {
        this.#recover();
        break;
      }
      const value = this.#expression();
      entries.push({ id: this.#nextId(), offset: colon.start, key, value, optional });
      if (this.#kind() !== "," || !this.#startsEntry(1)) break;
      this.#take();
    }
    this.#closeLiteral("}");
    const within = entries.flatMap((entry) => [entry.key, entry.value]);
    return { ...this.#next("map", brace.start, within), entries };
  }

  #struct(name: string): Expr {
    const brace = this.#take();
    this.#open.push(["}", ","]);
    const fields: StructField[] = [];
    while (this.#kind() !== "}" && !(this.#kind() === "," && fields.length === 0)) {
      const optional = this.#optionalEntry();
      const isFirst = fields.length === 0 && !optional;
      const field = this.#structFieldName(isFirst);
      if (field === undefined && isFirst) {
        this.#open.pop();
        this.#recover(afterPrimary);
        return this.#constant(brace.start, null);
      }
      const colon = this.#expect(":", (next) => operandStart.has(next));
      if (field === undefined || colon === undefined) {
        this.#recover();
        break;
      }
      const value = this.#expression();
      fields.push({ id: this.#nextId(), offset: colon.start, name: field, value, optional });
      if (this.#kind() !== "," || !["IDENTIFIER", "ESC_IDENTIFIER", "?"].includes(this.#kindAfter())) break;
      this.#take();
    }
    this.#closeLiteral("}");
    const within = fields.map((field) => field.value);
    return { ...this.#next("struct", brace.start, within), name, fields };
  }

  /** @returns undefined after an error */
  #structFieldName(first: boolean): string | undefined {
    const expected = first ? ["}", ",", "?", "IDENTIFIER", "ESC_IDENTIFIER"] : ["IDENTIFIER", "ESC_IDENTIFIER"];
    if (this.#kind() === "ESC_IDENTIFIER") {
      this.#issue(this.#token().start, "unsupported syntax: '`'");
      return this.#textOf(this.#take());
    }
    if (this.#kind() !== "IDENTIFIER") {
      const isExtraneous = this.#kindAfter() === "IDENTIFIER" && !this.#recovering;
      this.#reportUnexpected(isExtraneous ? "extraneous" : "mismatched", expected);
      if (!isExtraneous) return undefined;
      this.#at++;
    }
    return this.#textOf(this.#take());
  }

  // Macros.

  #expanded(name: string, target: Expr | undefined, args: readonly Expr[], offset: number): Expr | undefined {
    const macro = this.#options.macros.get(macroKey({ name, receiver: target !== undefined, arity: args.length }));
    if (macro === undefined) return undefined;
    const issuesBefore = this.#otherIssues.length;
    this.#expanding = true;
    const expanded = macro.expand(this.#builder(offset), target, args);
    this.#expanding = false;
    if (expanded !== undefined) {
      this.#depths[expanded.id] = (this.#depths[expanded.id] ?? 0) + 1;
      return expanded;
    }
    return this.#otherIssues.length > issuesBefore ? this.#constant(offset, null) : undefined;
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
      reportError: (at, message) => void this.#issue(at.offset, message) as undefined,
    };
  }

  #comprehension(offset: number, parts: ComprehensionParts): Expr {
    const { range, init, condition, step, result } = parts;
    const node = this.#next("comprehension", offset, [range, init, condition, step, result]);
    return { ...node, ...parts, variable2: parts.variable2, accumulator: parts.accumulator ?? accumulatorName };
  }
}

/** Escapes what ANTLR escapes in the texts of tokens. */
const spaceOrComment = /\s+|\/\/[^\n]*/y;

/** Whether a text has nothing but white space and comments. */
function isSpaceOrComments(text: string): boolean {
  spaceOrComment.lastIndex = 0;
  while (spaceOrComment.lastIndex < text.length) if (!spaceOrComment.test(text)) return false;
  return true;
}

function escapeSpace(text: string): string {
  return text.replaceAll("\t", "\\t").replaceAll("\n", "\\n").replaceAll("\r", "\\r");
}

/** Formats expected tokens in the order of cel-go's grammar. */
function expectedText(kinds: readonly string[]): string {
  const rank = (kind: string): number => {
    const at = tokenOrder.indexOf(kind);
    return at === -1 ? tokenOrder.length : at;
  };
  const names = kinds
    .toSorted((left, right) => rank(left) - rank(right))
    .map((kind) => (/^[A-Z_<]/.test(kind) && kind !== "<" ? kind : `'${kind}'`));
  return names.length === 1 ? (names[0] as string) : `{${names.join(", ")}}`;
}
