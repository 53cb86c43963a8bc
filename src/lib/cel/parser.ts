/**
 * A recursive descent parser. Error messages and error recovery follow ANTLR, which cel-go uses.
 * Source: the grammar of cel-spec; cel-go, parser/parser.go
 */
import type { Ast, Expr, MapEntry, StructField } from "./ast.ts";
import type { Macro } from "./declarations.ts";
import { CelSyntaxError } from "./errors.ts";
import { endOfText, type Token } from "./lexer.ts";
import { parseLiteral } from "./literals.ts";
import { depthMax, NodeBuilder } from "./node-builder.ts";
import { Source } from "./source.ts";
import { Abort, afterPrimary, operandStart, operandStarts, TokenStream } from "./token-stream.ts";
import { CelFailure } from "./values/failure.ts";

/** The syntax that an environment adds to the language. */
interface ParserOptions {
  /** By `macroKey`. */
  readonly macros: ReadonlyMap<string, Macro>;
  readonly optionalSyntax: boolean;
}

/** The text limit of cel-go. */
const textCodePointsMax = 100_000;

/** Parses an expression and expands its macros. @throws CelSyntaxError with all errors */
export function parse(text: string, options: ParserOptions): Ast {
  const source = new Source(text);
  const size = text.length > textCodePointsMax ? [...text].length : text.length;
  if (size > textCodePointsMax) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${textCodePointsMax}`;
    throw new CelSyntaxError(source, [{ offset: -1, message }]);
  }
  const tokens = new TokenStream(text);
  const root = new Parser(tokens, options).parseAll();
  const { issues } = tokens;
  if (issues.length > 0 || root === undefined) throw new CelSyntaxError(source, issues);
  return { source, root };
}

const relationSigns = new Set(["<", "<=", ">=", ">", "==", "!=", "in"]);
const sumSigns = new Set(["+", "-"]);
const productSigns = new Set(["*", "/", "%"]);
const reserved = new Set(
  "as break const continue else false for function if import in let loop package namespace null return true var void while".split(
    " ",
  ),
);

class Parser {
  readonly #tokens: TokenStream;
  readonly #nodes: NodeBuilder;
  readonly #optionalSyntax: boolean;
  #nesting = 0;

  constructor(tokens: TokenStream, { macros, optionalSyntax }: ParserOptions) {
    this.#tokens = tokens;
    this.#nodes = new NodeBuilder(macros, (offset, message) => tokens.issue(offset, message));
    this.#optionalSyntax = optionalSyntax;
  }

  parseAll(): Expr | undefined {
    try {
      const root = this.#expression();
      this.#tokens.expectEnd();
      return root;
    } catch (error) {
      if (error instanceof Abort) return undefined;
      throw error;
    }
  }

  /** Every recursion of the parser calls this, and decreases `#nesting` at its end. */
  #nest(): void {
    if (++this.#nesting > depthMax) this.#tokens.stop(-1, `expression recursion limit exceeded: ${depthMax}`);
  }

  #expression(): Expr {
    this.#nest();
    const condition = this.#or();
    const sign = this.#tokens.takeIf("?");
    if (sign !== undefined) {
      this.#tokens.open([":"]);
      const whenTrue = this.#or();
      this.#tokens.leave();
      if (this.#tokens.expect(":", (next) => operandStart.has(next)) === undefined) {
        this.#tokens.recover();
        this.#nesting--;
        return condition;
      }
      const whenFalse = this.#expression();
      this.#nesting--;
      return this.#nodes.call(sign.start, "_?_:_", undefined, [condition, whenTrue, whenFalse]);
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
    while (this.#tokens.kind() === sign) {
      signs.push(this.#tokens.take());
      terms.push(operand());
    }
    return signs.length === 0 ? (terms[0] as Expr) : this.#balance(name, terms, signs, 0, signs.length - 1);
  }

  #balance(name: string, terms: readonly Expr[], signs: readonly Token[], low: number, high: number): Expr {
    const middle = (low + high + 1) >> 1;
    const left = middle === low ? (terms[middle] as Expr) : this.#balance(name, terms, signs, low, middle - 1);
    const right = middle === high ? (terms[middle + 1] as Expr) : this.#balance(name, terms, signs, middle + 1, high);
    return this.#nodes.call((signs[middle] as Token).start, name, undefined, [left, right]);
  }

  #relation(): Expr {
    return this.#leftChain(relationSigns, () =>
      this.#leftChain(sumSigns, () => this.#leftChain(productSigns, () => this.#unary())),
    );
  }

  #leftChain(signs: ReadonlySet<string>, operand: () => Expr): Expr {
    let left = operand();
    while (signs.has(this.#tokens.kind())) {
      const sign = this.#tokens.take();
      const name = sign.kind === "in" ? "@in" : `_${sign.kind}_`;
      left = this.#nodes.call(sign.start, name, undefined, [left, operand()]);
    }
    return left;
  }

  #unary(): Expr {
    const sign = this.#tokens.token();
    if (sign.kind !== "!" && sign.kind !== "-") return this.#member();
    if (sign.kind === "-" && /^NUM_(?:INT|FLOAT)$/.test(this.#tokens.kindAfter())) return this.#member();
    let count = 0;
    while (this.#tokens.takeIf(sign.kind) !== undefined) count++;
    this.#checkOperand(sign.kind);
    const operand = this.#member();
    return count % 2 === 0 ? operand : this.#nodes.call(sign.start, `${sign.kind}_`, undefined, [operand]);
  }

  /** Checks the token after a unary operator. */
  #checkOperand(sign: string): void {
    const kind = this.#tokens.kind();
    if (operandStart.has(kind) && kind !== "!" && kind !== "-") return;
    if (sign === "-" && kind === "-") return;
    if (sign === "!") {
      if (!operandStart.has(kind)) this.#tokens.reportUnexpected("extraneous", operandStarts);
      return;
    }
    this.#tokens.reportNoAlternative();
    while (this.#tokens.takeIf("!") !== undefined) this.#tokens.isRecovering = true;
  }

  #member(): Expr {
    /** `a.b.c`, while it can be the name of a message. */
    let names: string | undefined;
    let expr: Expr;
    const start = this.#tokens.token();
    if (start.kind === "IDENTIFIER" || start.kind === ".") {
      const dot = this.#tokens.takeIf(".");
      if (this.#tokens.kind() !== "IDENTIFIER") return this.#noIdentifier(dot);
      const identifier = this.#tokens.take();
      const name = (dot === undefined ? "" : ".") + this.#tokens.textOf(identifier);
      if (this.#tokens.kind() === "(") {
        expr = this.#globalCall(name, identifier);
      } else {
        names = name;
        expr = this.#name(name, identifier, identifier.start);
      }
    } else {
      expr = this.#primary();
    }
    for (;;) {
      const sign = this.#tokens.token();
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

  #noIdentifier(dot: Token | undefined): Expr {
    const offset = this.#tokens.token().start;
    this.#tokens.reportMissingIdentifier(dot);
    this.#tokens.recover(afterPrimary);
    return this.#nodes.constant(offset, null);
  }

  #name(name: string, token: Token, offset: number): Expr {
    const word = this.#tokens.textOf(token);
    if (!reserved.has(word) || this.#tokens.kind() === "{") return this.#nodes.identifier(offset, name);
    this.#tokens.issue(token.start, `reserved identifier: ${word}`);
    return this.#nodes.identifier(offset, "");
  }

  #globalCall(name: string, token: Token): Expr {
    const word = this.#tokens.textOf(token);
    if (reserved.has(word)) this.#tokens.issue(token.start, `reserved identifier: ${word}`);
    const open = this.#tokens.token();
    const args = this.#args(afterPrimary);
    return (
      this.#nodes.expanded(name, undefined, args, open.start) ?? this.#nodes.call(open.start, name, undefined, args)
    );
  }

  #selected(operand: Expr, names: string | undefined): { expr: Expr; names: string | undefined } {
    const wasRecovering = this.#tokens.isRecovering;
    const dot = this.#tokens.take();
    const optional = this.#tokens.takeIf("?");
    if (this.#tokens.kind() === "ESC_IDENTIFIER") {
      this.#tokens.issue(this.#tokens.take().start, "unsupported syntax: '`'");
      return { expr: operand, names: undefined };
    }
    if (this.#tokens.kind() !== "IDENTIFIER") {
      if (optional === undefined) {
        this.#tokens.isRecovering = wasRecovering; // The dot alone does not end the recovery.
        this.#tokens.reportMissingIdentifier(dot);
      }
      if (optional === undefined || !this.#skipToField()) {
        this.#tokens.recover(optional === undefined ? [] : afterPrimary);
        return { expr: operand, names: undefined };
      }
    }
    const field = this.#tokens.textOf(this.#tokens.take());
    if (optional !== undefined) {
      if (!this.#optionalSyntax) this.#tokens.issue(dot.start, "unsupported syntax '.?'");
      const expr = this.#nodes.call(dot.start, "_?._", undefined, [operand, this.#nodes.constant(dot.start, field)]);
      return { expr, names: undefined };
    }
    if (this.#tokens.kind() === "(") {
      const open = this.#tokens.token();
      const args = this.#args([]);
      const expr =
        this.#nodes.expanded(field, operand, args, open.start) ?? this.#nodes.call(open.start, field, operand, args);
      return { expr, names: undefined };
    }
    const expr: Expr = { ...this.#nodes.node("select", dot.start, [operand]), operand, field, testOnly: false };
    return { expr, names: names === undefined ? undefined : `${names}.${field}` };
  }

  /** Handles a token after `.?` that is not a field name: skips it if a field name follows. */
  #skipToField(): boolean {
    const { start } = this.#tokens.token();
    const isExtraneous = this.#tokens.kindAfter() === "IDENTIFIER" && !this.#tokens.isRecovering;
    this.#tokens.reportUnexpected(isExtraneous ? "extraneous" : "mismatched", ["IDENTIFIER", "ESC_IDENTIFIER"]);
    if (isExtraneous) this.#tokens.skip();
    else this.#tokens.issue(start, "unsupported ident kind");
    return isExtraneous;
  }

  #index(operand: Expr): Expr {
    const bracket = this.#tokens.take();
    this.#tokens.open(["]"]);
    if (!this.#tokens.checkStart(["?"])) return operand;
    const optional = this.#tokens.takeIf("?") !== undefined;
    if (optional && !this.#optionalSyntax) this.#tokens.issue(bracket.start, "unsupported syntax '[?'");
    const index = this.#expression();
    this.#tokens.close("]");
    return this.#nodes.call(bracket.start, optional ? "_[?_]" : "_[_]", undefined, [operand, index]);
  }

  #args(alsoAt: readonly string[]): Expr[] {
    this.#tokens.take();
    this.#tokens.open([")", ","]);
    const args: Expr[] = [];
    if (!this.#tokens.checkStart([")"], alsoAt)) return args;
    if (this.#tokens.kind() !== ")") {
      do args.push(this.#expression());
      while (this.#tokens.takeIf(",") !== undefined);
    }
    this.#tokens.close(")", alsoAt);
    return args;
  }

  #primary(): Expr {
    const token = this.#tokens.token();
    switch (token.kind) {
      case "(": {
        this.#tokens.take();
        this.#tokens.open([")"]);
        const inner = this.#expression();
        this.#tokens.close(")", afterPrimary);
        return inner;
      }
      case "[":
        return this.#list();
      case "{":
        return this.#map();
      case "true":
      case "false":
        return this.#nodes.constant(this.#tokens.take().start, token.kind === "true");
      case "null":
        return this.#nodes.constant(this.#tokens.take().start, null);
      default:
        return this.#literal() ?? this.#missingOperand();
    }
  }

  #literal(): Expr | undefined {
    const start = this.#tokens.token().start;
    const negative = this.#tokens.kind() === "-" && this.#tokens.takeIf("-") !== undefined;
    const token = this.#tokens.token();
    const text = this.#tokens.textOf(token);
    const value = parseLiteral(token.kind, text, negative);
    if (value === undefined) return undefined;
    this.#tokens.take();
    if (!(value instanceof CelFailure)) return this.#nodes.constant(start, value);
    this.#tokens.issue(start, value.message);
    return this.#nodes.constant(start, null);
  }

  /** Skips one extraneous token, or recovers after the missing operand. */
  #missingOperand(): Expr {
    const offset = this.#tokens.token().start;
    const next = this.#tokens.kindAfter();
    if (this.#tokens.kind() !== endOfText && operandStart.has(next) && !this.#tokens.isRecovering) {
      this.#tokens.reportUnexpected("extraneous", operandStarts);
      this.#tokens.skip();
      this.#nest();
      const operand = this.#unary();
      this.#nesting--;
      return operand;
    }
    this.#tokens.reportUnexpected("mismatched", operandStarts);
    this.#tokens.recover(afterPrimary);
    return this.#nodes.constant(offset, null);
  }

  #list(): Expr {
    const bracket = this.#tokens.take();
    this.#tokens.open(["]", ","]);
    const elements: Expr[] = [];
    const optionalIndices = new Set<number>();
    if (!this.#tokens.checkStart(["]", ",", "?"], afterPrimary)) return this.#nodes.constant(bracket.start, null);
    while (this.#tokens.kind() !== "]" && !(this.#tokens.kind() === "," && elements.length === 0)) {
      if (this.#optionalEntry()) optionalIndices.add(elements.length);
      elements.push(this.#expression());
      if (this.#tokens.kind() !== "," || !this.#startsEntry()) break;
      this.#tokens.take();
    }
    this.#tokens.closeLiteral("]");
    return { ...this.#nodes.node("list", bracket.start, elements), elements, optionalIndices };
  }

  /** Whether the token after the comma starts another entry; if not, the comma is a trailing one. */
  #startsEntry(): boolean {
    const kind = this.#tokens.kindAfter();
    return operandStart.has(kind) || kind === "?";
  }

  #optionalEntry(): boolean {
    const sign = this.#tokens.takeIf("?");
    if (sign !== undefined && !this.#optionalSyntax) this.#tokens.issue(sign.start, "unsupported syntax '?'");
    return sign !== undefined;
  }

  #map(): Expr {
    const brace = this.#tokens.take();
    this.#tokens.open(["}", ","]);
    const entries: MapEntry[] = [];
    if (!this.#tokens.checkStart(["}", ",", "?"], afterPrimary)) return this.#nodes.constant(brace.start, null);
    while (this.#tokens.kind() !== "}" && !(this.#tokens.kind() === "," && entries.length === 0)) {
      const optional = this.#optionalEntry();
      this.#tokens.open([":"]);
      const key = this.#expression();
      this.#tokens.leave();
      const colon = this.#tokens.expect(":", (next) => operandStart.has(next));
      if (colon === undefined) {
        this.#tokens.recover();
        break;
      }
      const value = this.#expression();
      entries.push({ id: this.#nodes.nextId(), offset: colon.start, key, value, optional });
      if (this.#tokens.kind() !== "," || !this.#startsEntry()) break;
      this.#tokens.take();
    }
    this.#tokens.closeLiteral("}");
    const within = entries.flatMap((entry) => [entry.key, entry.value]);
    return { ...this.#nodes.node("map", brace.start, within), entries };
  }

  #struct(name: string): Expr {
    const brace = this.#tokens.take();
    this.#tokens.open(["}", ","]);
    const fields: StructField[] = [];
    while (this.#tokens.kind() !== "}" && !(this.#tokens.kind() === "," && fields.length === 0)) {
      const optional = this.#optionalEntry();
      const isFirst = fields.length === 0 && !optional;
      const field = this.#structFieldName(isFirst);
      if (field === undefined && isFirst) {
        this.#tokens.leave();
        this.#tokens.recover(afterPrimary);
        return this.#nodes.constant(brace.start, null);
      }
      const colon = this.#tokens.expect(":", (next) => operandStart.has(next));
      if (field === undefined || colon === undefined) {
        this.#tokens.recover();
        break;
      }
      const value = this.#expression();
      fields.push({ id: this.#nodes.nextId(), offset: colon.start, name: field, value, optional });
      if (this.#tokens.kind() !== "," || !["IDENTIFIER", "ESC_IDENTIFIER", "?"].includes(this.#tokens.kindAfter()))
        break;
      this.#tokens.take();
    }
    this.#tokens.closeLiteral("}");
    const within = fields.map((field) => field.value);
    return { ...this.#nodes.node("struct", brace.start, within), name, fields };
  }

  /** @returns undefined after an error */
  #structFieldName(first: boolean): string | undefined {
    const expected = first ? ["}", ",", "?", "IDENTIFIER", "ESC_IDENTIFIER"] : ["IDENTIFIER", "ESC_IDENTIFIER"];
    if (this.#tokens.kind() === "ESC_IDENTIFIER") {
      this.#tokens.issue(this.#tokens.token().start, "unsupported syntax: '`'");
      return this.#tokens.textOf(this.#tokens.take());
    }
    if (this.#tokens.kind() !== "IDENTIFIER") {
      const isExtraneous = this.#tokens.kindAfter() === "IDENTIFIER" && !this.#tokens.isRecovering;
      this.#tokens.reportUnexpected(isExtraneous ? "extraneous" : "mismatched", expected);
      if (!isExtraneous) return undefined;
      this.#tokens.skip();
    }
    return this.#tokens.textOf(this.#tokens.take());
  }
}
