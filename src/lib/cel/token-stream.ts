/**
 * The tokens of an expression, as a parser reads them: with the messages and the recovery from errors of ANTLR, which
 * cel-go uses.
 * Source: https://github.com/antlr/antlr4.
 */
import { endOfText, type Token, tokenReader } from "./lexer.ts";
import type { Issue } from "./source.ts";

/** The kinds of tokens that start an operand, in the order of messages. */
export const operandStarts = [
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
export const operandStart: ReadonlySet<string> = new Set(operandStarts);
const operators = new Set(["<", "<=", ">=", ">", "==", "!=", "in", "+", "-", "*", "/", "%", "&&", "||", "?"]);
/** Additional tokens at which the parser resumes after an invalid literal, name or call. */
export const afterPrimary: readonly string[] = [".", "["];
/** The limits of cel-go. */
const recoveriesMax = 30;
const syntaxErrorsMax = 100;
const skippedTokensMax = 256;
const tokenOrder = ["[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "true", "false", "null"];

/** Stops parsing at an error without recovery. */
export class Abort extends Error {}

/** Reads tokens in turn, and collects the errors. */
export class TokenStream {
  readonly #syntaxIssues: Issue[] = [];
  /** Of literals, names and macros, which cel-go checks after the syntax. */
  readonly #otherIssues: Issue[] = [];
  readonly #text: string;
  readonly #tokenOf: (index: number) => Token;
  #at = 0;
  /** Open constructs, the innermost last, as `open` has them. */
  readonly #open: (readonly string[])[] = [];
  #recovering = false;
  #recoveries = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokenOf = tokenReader(text, ({ offset, message }) => this.issue(offset, message));
  }

  /** The current token. */
  token(): Token {
    return this.#tokenOf(this.#at);
  }

  /** The kind of the current token. */
  kind(): string {
    return this.token().kind;
  }

  /** The kind of the token after the current one. */
  kindAfter(): string {
    return this.#tokenOf(this.#at + 1).kind;
  }

  /** The text of a token. */
  textOf(token: Token): string {
    return token.kind === endOfText ? endOfText : this.#text.slice(token.start, token.end);
  }

  /** The current token for a message. */
  #found(): string {
    return escapeSpace(this.textOf(this.token()));
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

  /** Consumes the current token. */
  take(): Token {
    const token = this.token();
    this.#at++;
    this.#recovering = false;
    return token;
  }

  /** Consumes the current token if it is of this kind. */
  takeIf(kind: string): Token | undefined {
    return this.kind() === kind ? this.take() : undefined;
  }

  /** Skips an extraneous token. An error that was reported for it does not end. */
  skip(): void {
    this.#at++;
  }

  /** Begins a construct. @param follows the tokens besides operators that can follow an operand in it */
  open(follows: readonly string[]): void {
    this.#open.push(follows);
  }

  /** Ends the innermost construct. */
  leave(): void {
    this.#open.pop();
  }

  // Errors and recovery.

  /** All errors in the order in which cel-go finds them. */
  get issues(): readonly Issue[] {
    return [...this.#syntaxIssues, ...this.#otherIssues];
  }

  /** Reports an error. @throws Abort after too many syntax errors */
  issue(offset: number, message: string): void {
    if (!message.startsWith("Syntax error")) return void this.#otherIssues.push({ offset, message });
    if (this.#syntaxIssues.length < syntaxErrorsMax) return void this.#syntaxIssues.push({ offset, message });
    this.stop(offset, `Syntax error: More than ${syntaxErrorsMax} syntax errors`);
  }

  /** Stops parsing; what cel-go checks after the syntax is not checked. @throws Abort */
  stop(offset: number, message: string): never {
    this.#syntaxIssues.push({ offset, message });
    this.#otherIssues.length = 0;
    throw new Abort();
  }

  /** Reports the current token, unless an error was reported since the last consumed token. */
  reportUnexpected(problem: "mismatched" | "extraneous", expected: readonly string[]): void {
    if (this.#recovering) return;
    this.#recovering = true;
    this.issue(
      this.token().start,
      `Syntax error: ${problem} input '${this.#found()}' expecting ${expectedText(expected)}`,
    );
  }

  /** The message depends on whether the token is a literal keyword after a dot. */
  reportMissingIdentifier(dot: Token | undefined): void {
    if (this.#recovering) return;
    this.#recovering = true;
    const token = this.token();
    const text = token.kind === endOfText ? "" : this.textOf(token);
    const isKeyword = dot !== undefined && ["true", "false", "null"].includes(text);
    const input = this.#input(dot ?? token, token);
    const message = isKeyword
      ? `mismatched input '${text}' expecting IDENTIFIER`
      : `no viable alternative at input '${input}'`;
    this.issue(token.start, `Syntax error: ${message}`);
  }

  /** Reports that nothing of the grammar begins with the previous token and this one. */
  reportNoAlternative(): void {
    const token = this.token();
    const previous = this.#at === 0 ? token : this.#tokenOf(this.#at - 1);
    this.issue(token.start, `Syntax error: no viable alternative at input '${this.#input(previous, token)}'`);
  }

  // Recovery.

  /** Whether no token was consumed since the last error; no other error is reported meanwhile. */
  get isRecovering(): boolean {
    return this.#recovering;
  }

  /** Continues a recovery that a consumed token has ended, or begins one. */
  set isRecovering(recovering: boolean) {
    this.#recovering = recovering;
  }

  /** @throws Abort if there are too many errors */
  #countRecovery(): void {
    if (this.#recoveries++ < recoveriesMax) return;
    this.stop(this.token().start, `Syntax error: error recovery attempt limit exceeded: ${recoveriesMax}`);
  }

  /**
   * Consumes a token of this kind. Skips one extraneous token, and inserts a missing one.
   *
   * @param follows whether a token can follow the expected one, so that it is only missing
   * @returns undefined if neither helps; the caller then calls `recover`
   */
  expect(kind: string, follows: (next: string) => boolean): Token | undefined {
    const found = this.takeIf(kind);
    if (found !== undefined) return found;
    this.#countRecovery();
    if (this.kindAfter() === kind) {
      this.reportUnexpected("extraneous", [kind]);
      this.#at++;
      return this.take();
    }
    if (!follows(this.kind())) {
      this.reportUnexpected("mismatched", [kind]);
      return undefined;
    }
    if (!this.#recovering)
      this.issue(this.token().start, `Syntax error: missing ${expectedText([kind])} at '${this.#found()}'`);
    this.#recovering = true;
    return this.token();
  }

  /** Consumes the end of the text, up to which it skips all tokens. */
  expectEnd(): void {
    if (this.expect(endOfText, () => false) === undefined) this.#recoverAt((kind) => kind === endOfText);
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
  recover(alsoAt: readonly string[] = []): void {
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
    for (let skipped = 0; !resumesAt(this.kind()); skipped++, this.#at++)
      if (skipped === skippedTokensMax)
        this.stop(-1, `error recovery token lookahead limit exceeded: ${skippedTokensMax}`);
  }

  /** Consumes the closing bracket of the innermost construct. */
  close(kind: string, alsoAt: readonly string[] = []): void {
    this.#open.pop();
    if (this.expect(kind, (next) => this.#mayFollow(next)) === undefined) this.recover(alsoAt);
  }

  /** Consumes the closing bracket of a list or map, after an optional comma. */
  closeLiteral(kind: string): void {
    const found = this.kind();
    if (found !== kind && found !== "," && !this.#recovering) {
      const next = this.kindAfter();
      const isExtraneous = next === kind || next === ",";
      this.reportUnexpected(isExtraneous ? "extraneous" : "mismatched", [kind, ","]);
      if (!isExtraneous) {
        this.#open.pop();
        this.recover(afterPrimary);
        return;
      }
      this.#at++;
    }
    this.takeIf(",");
    this.close(kind, afterPrimary);
  }

  /**
   * Checks the token after an opening bracket, and skips one extraneous token.
   *
   * @param more allowed tokens besides those that start an operand
   * @returns false if the content cannot be parsed; then the construct is already closed
   */
  checkStart(more: readonly string[], alsoAt: readonly string[] = []): boolean {
    const kind = this.kind();
    if (operandStart.has(kind) || more.includes(kind) || this.#recovering) return true;
    const expected = [...operandStarts, ...more];
    const next = this.kindAfter();
    if (operandStart.has(next) || more.includes(next)) {
      this.reportUnexpected("extraneous", expected);
      this.#at++;
      return true;
    }
    this.reportUnexpected("mismatched", expected);
    this.#open.pop();
    this.recover(alsoAt);
    return false;
  }
}

const spaceOrComment = /\s+|\/\/[^\n]*/y;

/** Whether a text has nothing but white space and comments. */
function isSpaceOrComments(text: string): boolean {
  spaceOrComment.lastIndex = 0;
  while (spaceOrComment.lastIndex < text.length) if (!spaceOrComment.test(text)) return false;
  return true;
}

/** Escapes what ANTLR escapes in the texts of tokens. */
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
