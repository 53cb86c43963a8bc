/**
 * Splits a YAML text into tokens. Begin and end of blocks, which follow from indentation, and keys,
 * which follow from the colon after them, become tokens too.
 * Source: YAML 1.1 as go-yaml v2 implements it, including errors and bounds.
 */
import { Cursor, isBlank, isBreak, isSpaceOrEnd, isWord } from "./cursor.ts";
import { scanDirective, unescapeUri } from "./scan-directive.ts";
import { scanBlock, scanPlain, scanQuoted } from "./scan-scalar.ts";
import { scannerError } from "./yaml-error.ts";

/**
 * The types of tokens. `?` precedes a key, `:` a value, `-` an entry of a block list; `blockEnd`
 * ends a block.
 */
export type TokenType =
  | "streamEnd"
  | "versionDirective"
  | "tagDirective"
  | "documentStart"
  | "documentEnd"
  | "blockSequence"
  | "blockMapping"
  | "blockEnd"
  | "["
  | "]"
  | "{"
  | "}"
  | ","
  | "-"
  | "?"
  | ":"
  | "alias"
  | "anchor"
  | "tag"
  | "scalar";

/** A token. */
export interface Token {
  readonly type: TokenType;
  /** Counted from 0. */
  readonly line: number;
  /**
   * The text of a scalar, name of an anchor or alias, handle of a tag, or version of a directive.
   */
  readonly text: string;
  /** The text after the handle of a tag, or the prefix that a tag directive declares. */
  readonly suffix: string;
  /** Whether a scalar is neither quoted nor a block. */
  readonly plain: boolean;
  /** Set when the token may be the beginning of a key. */
  readonly key: SimpleKey | undefined;
}

/** The levels of brackets, and of indentation, that a text may have. */
export const depthMax = 1000;

/** The possible beginning of a key, which only a colon confirms. */
interface SimpleKey {
  possible: boolean;
  readonly tokenNumber: number;
  /** Whether it must be a key, because it is at the column of a block mapping. */
  readonly required: boolean;
  readonly position: number;
  readonly line: number;
  readonly column: number;
}

/** The length of a key without `?`, up to its colon. */
const keyLengthMax = 1024;

const codeOf = (character: string): number => character.charCodeAt(0);
/** The characters with which no plain scalar begins. */
const indicators: ReadonlySet<number> = new Set([..."-?:,[]{}#&*!|>'\"%@`"].map(codeOf));
/** The characters that may directly follow the name of an anchor. */
const afterAnchor: ReadonlySet<number> = new Set([..."?:,]}%@`"].map(codeOf));
const tagCharacters = /[\w\-;/?:@&=+$,.!~*'()[\]%]/;

/** The tokens of a YAML text. */
export interface Tokens {
  /**
   * Returns the next token without taking it.
   * @throws YamlError
   */
  peek(): Token;
  /**
   * Takes the next token.
   * @throws YamlError
   */
  take(): Token;
}

/** The tokens of a YAML text, scanned as they are needed. */
export class Scanner implements Tokens {
  readonly #cursor: Cursor;
  #tokens: Token[] = [];
  #head = 0;
  /** The number of tokens that were taken. */
  #taken = 0;
  #indent = -1;
  readonly #indents: number[] = [];
  /** The possible key at each level of brackets, and the one outside of brackets first. */
  readonly #keys: (SimpleKey | undefined)[] = [undefined];
  /** The possible key that begins with the next token. */
  #nextKey: SimpleKey | undefined;
  #keyAllowed = true;
  #ended = false;

  constructor(text: string) {
    this.#cursor = new Cursor(text);
  }

  peek(): Token {
    while (this.#needsMore()) this.#fetch();
    return this.#tokens[this.#head] as Token;
  }

  take(): Token {
    const token = this.peek();
    this.#head++;
    this.#taken++;
    if (this.#head === this.#tokens.length) {
      this.#tokens = [];
      this.#head = 0;
    }
    return token;
  }

  get #inFlow(): boolean {
    return this.#keys.length > 1;
  }

  /**
   * Whether to scan further, because a later colon may insert a key token before the next token.
   */
  #needsMore(): boolean {
    if (this.#head === this.#tokens.length) return !this.#ended;
    const { key } = this.#tokens[this.#head] as Token;
    return key?.possible === true && this.#isPossible(key) && !this.#ended;
  }

  /** @throws YamlError when a required key has no colon in time */
  #isPossible(key: SimpleKey): boolean {
    const { line, position } = this.#cursor;
    if (key.line === line && key.position + keyLengthMax >= position) return true;
    if (key.required) throw missingColon(line);
    key.possible = false;
    return false;
  }

  #add(type: TokenType, line = this.#cursor.line, text = "", suffix = "", plain = false): void {
    this.#tokens.push({ type, line, text, suffix, plain, key: this.#nextKey });
    this.#nextKey = undefined;
  }

  #insert(type: TokenType, tokenNumber: number, line: number): void {
    this.#tokens.splice(this.#head + tokenNumber - this.#taken, 0, {
      type,
      line,
      text: "",
      suffix: "",
      plain: false,
      key: undefined,
    });
  }

  get #nextNumber(): number {
    return this.#taken + this.#tokens.length - this.#head;
  }

  #fetch(): void {
    const cursor = this.#cursor;
    this.#skipSpace();
    this.#unroll(cursor.column);
    const code = cursor.code();
    if (code === 0) return this.#end();
    if (cursor.column === 0 && code === 0x25) return this.#directive();
    if (cursor.atDocumentIndicator()) return this.#documentIndicator(code === 0x2d ? "documentStart" : "documentEnd");
    switch (code) {
      case 0x5b:
      case 0x7b:
        return this.#open(code === 0x5b ? "[" : "{");
      case 0x5d:
      case 0x7d:
        return this.#close(code === 0x5d ? "]" : "}");
      case 0x2c:
        return this.#comma();
      case 0x2a:
        return this.#anchor("alias");
      case 0x26:
        return this.#anchor("anchor");
      case 0x21:
        return this.#tag();
      case 0x27:
      case 0x22:
        return this.#quoted(code);
    }
    const blank = isSpaceOrEnd(cursor.code(1));
    if (code === 0x2d && blank) return this.#entry();
    if (code === 0x3f && (this.#inFlow || blank)) return this.#complexKey();
    if (code === 0x3a && (this.#inFlow || blank)) return this.#value();
    if ((code === 0x7c || code === 0x3e) && !this.#inFlow) return this.#block();
    if (!indicators.has(code) || code === 0x2d || code === 0x3f || code === 0x3a) return this.#plain();
    throw scannerError("found character that cannot start any token", cursor.line);
  }

  /** Skips spaces, comments and line breaks. Tabs are not indentation. */
  #skipSpace(): void {
    const cursor = this.#cursor;
    for (;;) {
      while (cursor.code() === 0x20 || (cursor.code() === 0x09 && (this.#inFlow || !this.#keyAllowed)))
        cursor.position++;
      if (cursor.code() === 0x23) cursor.skipLine();
      if (!isBreak(cursor.code())) {
        if (isBlank(cursor.code())) throw scannerError("found character that cannot start any token", cursor.line);
        return;
      }
      cursor.skipBreak();
      if (!this.#inFlow) this.#keyAllowed = true;
    }
  }

  /**
   * Begins a block if a column is greater than the current indentation.
   * @param tokenNumber the token before which the block begins
   */
  #roll(column: number, type: TokenType, tokenNumber: number, line: number): void {
    if (this.#inFlow || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    if (this.#indents.length > depthMax) throw tooDeep(line);
    this.#insert(type, tokenNumber, line);
  }

  /** Ends the blocks that are indented more than a column. */
  #unroll(column: number): void {
    if (this.#inFlow) return;
    while (this.#indent > column) {
      this.#add("blockEnd");
      this.#indent = this.#indents.pop() as number;
    }
  }

  #saveKey(): void {
    if (!this.#keyAllowed) return;
    const { position, line, column } = this.#cursor;
    const key = {
      possible: true,
      tokenNumber: this.#nextNumber,
      required: !this.#inFlow && this.#indent === column,
      position,
      line,
      column,
    };
    this.#dropKey();
    this.#keys[this.#keys.length - 1] = key;
    this.#nextKey = key;
  }

  /** @throws YamlError when the key is required */
  #dropKey(): void {
    const key = this.#keys.at(-1);
    if (key === undefined || !key.possible) return;
    if (key.required) throw missingColon(this.#cursor.line);
    key.possible = false;
  }

  #end(): void {
    if (this.#cursor.column > 0) this.#cursor.line++; // As if the last line had a line break.
    const { line } = this.#cursor;
    while (this.#indent > -1) {
      this.#add("blockEnd", line);
      this.#indent = this.#indents.pop() as number;
    }
    const key = this.#keys.at(-1);
    if (key?.required && key.possible) throw missingColon(line);
    this.#add("streamEnd", line);
    this.#ended = true;
  }

  #documentIndicator(type: "documentStart" | "documentEnd"): void {
    this.#unroll(-1);
    this.#dropKey();
    this.#keyAllowed = false;
    this.#add(type);
    this.#cursor.position += 3;
  }

  #open(type: "[" | "{"): void {
    this.#saveKey();
    this.#keys.push(undefined);
    if (this.#keys.length > depthMax) throw tooDeep(this.#cursor.line);
    this.#keyAllowed = true;
    this.#indicator(type);
  }

  #close(type: "]" | "}"): void {
    this.#dropKey();
    if (this.#inFlow) this.#keys.pop();
    this.#keyAllowed = false;
    this.#indicator(type);
  }

  #comma(): void {
    this.#dropKey();
    this.#keyAllowed = true;
    this.#indicator(",");
  }

  #indicator(type: TokenType): void {
    this.#add(type);
    this.#cursor.position++;
  }

  #entry(): void {
    const { column, line } = this.#cursor;
    if (!this.#inFlow) {
      if (!this.#keyAllowed) throw scannerError("block sequence entries are not allowed in this context", line);
      this.#roll(column, "blockSequence", this.#nextNumber, line);
    }
    this.#dropKey();
    this.#keyAllowed = true;
    this.#indicator("-");
  }

  #complexKey(): void {
    const { column, line } = this.#cursor;
    if (!this.#inFlow) {
      if (!this.#keyAllowed) throw scannerError("mapping keys are not allowed in this context", line);
      this.#roll(column, "blockMapping", this.#nextNumber, line);
    }
    this.#dropKey();
    this.#keyAllowed = !this.#inFlow;
    this.#indicator("?");
  }

  #value(): void {
    const { column, line } = this.#cursor;
    const key = this.#keys.at(-1);
    if (key?.possible && this.#isPossible(key)) {
      this.#insert("?", key.tokenNumber, key.line);
      this.#roll(key.column, "blockMapping", key.tokenNumber, key.line);
      key.possible = false;
      this.#keyAllowed = false;
    } else {
      if (!this.#inFlow) {
        if (!this.#keyAllowed) throw scannerError("mapping values are not allowed in this context", line);
        this.#roll(column, "blockMapping", this.#nextNumber, line);
      }
      this.#keyAllowed = !this.#inFlow;
    }
    this.#indicator(":");
  }

  #anchor(type: "alias" | "anchor"): void {
    this.#saveKey();
    this.#keyAllowed = false;
    const cursor = this.#cursor;
    const start = ++cursor.position;
    while (isWord(cursor.code())) cursor.position++;
    if (cursor.position === start || !(isSpaceOrEnd(cursor.code()) || afterAnchor.has(cursor.code()))) {
      throw scannerError("did not find expected alphabetic or numeric character", cursor.line);
    }
    this.#add(type, cursor.line, cursor.source.slice(start, cursor.position));
  }

  /** `!<uri>`, `!handle!suffix`, `!suffix` or `!`. */
  #tag(): void {
    this.#saveKey();
    this.#keyAllowed = false;
    const cursor = this.#cursor;
    const { line } = cursor;
    const isVerbatim = cursor.code(1) === 0x3c;
    if (isVerbatim) cursor.position += 2;
    const handle = isVerbatim ? "" : this.#tagHandle();
    const start = cursor.position;
    while (tagCharacters.test(cursor.source.charAt(cursor.position))) cursor.position++;
    const suffix = unescapeUri(cursor.source.slice(start, cursor.position), (problem) => scannerError(problem, line));
    if (isVerbatim) {
      if (suffix === "") throw scannerError("did not find expected tag URI", line);
      if (cursor.code() !== 0x3e) throw scannerError("did not find the expected '>'", line);
      cursor.position++;
    } else if (suffix === "" && handle.length > 1) throw scannerError("did not find expected tag URI", line);
    if (!isSpaceOrEnd(cursor.code())) throw scannerError("did not find expected whitespace or line break", line);
    if (suffix === "") this.#add("tag", line, "", "!");
    else this.#add("tag", line, handle, suffix);
  }

  #tagHandle(): string {
    const cursor = this.#cursor;
    let end = 1;
    while (isWord(cursor.code(end))) end++;
    const length = cursor.code(end) === 0x21 ? end + 1 : 1;
    const handle = cursor.source.slice(cursor.position, cursor.position + length);
    cursor.position += length;
    return handle;
  }

  #quoted(quote: number): void {
    this.#saveKey();
    this.#keyAllowed = false;
    const { line } = this.#cursor;
    this.#add("scalar", line, scanQuoted(this.#cursor, quote));
  }

  #block(): void {
    this.#dropKey();
    this.#keyAllowed = true;
    const { line } = this.#cursor;
    this.#add("scalar", line, scanBlock(this.#cursor, this.#indent));
  }

  #plain(): void {
    this.#saveKey();
    this.#keyAllowed = false;
    const { line } = this.#cursor;
    const { text, endsAfterBreak } = scanPlain(this.#cursor, { indent: this.#indent + 1, inFlow: this.#inFlow });
    this.#add("scalar", line, text, "", true);
    if (endsAfterBreak) this.#keyAllowed = true;
  }

  /** `%YAML 1.1` or `%TAG !e! tag:example.com,2000:`. */
  #directive(): void {
    this.#unroll(-1);
    this.#dropKey();
    this.#keyAllowed = false;
    const { line } = this.#cursor;
    const { type, text, suffix } = scanDirective(this.#cursor);
    this.#add(type, line, text, suffix);
  }
}

function missingColon(line: number): Error {
  return scannerError("could not find expected ':'", line);
}

function tooDeep(line: number): Error {
  return scannerError(`exceeded max depth of ${depthMax}`, line);
}
