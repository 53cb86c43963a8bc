/**
 * Cuts a text of YAML into tokens. Where blocks begin and end is told by indentation, and that something was a key only by the colon after it; both
 * become tokens of their own here. Source: YAML 1.1 as go-yaml v2 reads it, errors and bounds included.
 */
import { Cursor, isBlank, isBreak, isSpaceOrEnd, isWord } from "./cursor.ts";
import { scanDirective, unescapeUri } from "./scan-directive.ts";
import { scanBlock, scanPlain, scanQuoted } from "./scan-scalar.ts";
import { scannerError } from "./yaml-error.ts";

/** `?` is a key, `:` a value, `-` an entry of a block list; a block ends with `blockEnd`. */
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

export interface Token {
  readonly type: TokenType;
  /** Counted from 0. */
  readonly line: number;
  /** Of a scalar; the name of an anchor or alias, the handle of a tag, the version of a directive. */
  readonly text: string;
  /** What follows the handle of a tag, or stands for it. */
  readonly suffix: string;
  /** Of a scalar without quotes, not in a block. */
  readonly plain: boolean;
  /** Where it may be the beginning of a key. */
  readonly key: SimpleKey | undefined;
}

/** Levels of brackets, and of indentation. */
export const depthMax = 1000;

/** Where a key may have begun that only a colon would show. */
interface SimpleKey {
  possible: boolean;
  readonly tokenNumber: number;
  /** Whether it must be one: at the column of a block mapping nothing else may stand. */
  readonly required: boolean;
  readonly position: number;
  readonly line: number;
  readonly column: number;
}

/** Characters between the beginning of a key and its colon. */
const keyLengthMax = 1024;

const codeOf = (character: string): number => character.charCodeAt(0);
/** What no plain scalar begins with. */
const indicators: ReadonlySet<number> = new Set([..."-?:,[]{}#&*!|>'\"%@`"].map(codeOf));
/** What may follow the name of an anchor without a space. */
const afterAnchor: ReadonlySet<number> = new Set([..."?:,]}%@`"].map(codeOf));
const tagCharacters = /[\w\-;/?:@&=+$,.!~*'()[\]%]/;

export class Scanner {
  readonly #cursor: Cursor;
  #tokens: Token[] = [];
  #head = 0;
  /** Tokens that were taken. */
  #taken = 0;
  #indent = -1;
  readonly #indents: number[] = [];
  /** One for each level of brackets and one for what is outside. */
  readonly #keys: (SimpleKey | undefined)[] = [undefined];
  /** Of the token that is added next. */
  #nextKey: SimpleKey | undefined;
  #keyAllowed = true;
  #ended = false;

  constructor(text: string) {
    this.#cursor = new Cursor(text);
  }

  /** @throws YamlError */
  peek(): Token {
    while (this.#needsMore()) this.#fetch();
    return this.#tokens[this.#head] as Token;
  }

  /** @throws YamlError */
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

  /** The next token may turn out to be preceded by one that says it is a key. */
  #needsMore(): boolean {
    if (this.#head === this.#tokens.length) return !this.#ended;
    const { key } = this.#tokens[this.#head] as Token;
    return key?.possible === true && this.#isPossible(key) && !this.#ended;
  }

  /** @throws YamlError when it is too late for a key that must be one */
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
    this.#passSpace();
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

  /** Passes spaces, comments and breaks. Tabs are no indentation. */
  #passSpace(): void {
    const cursor = this.#cursor;
    for (;;) {
      while (cursor.code() === 0x20 || (cursor.code() === 0x09 && (this.#inFlow || !this.#keyAllowed)))
        cursor.position++;
      if (cursor.code() === 0x23) cursor.passLine();
      if (!isBreak(cursor.code())) {
        if (isBlank(cursor.code())) throw scannerError("found character that cannot start any token", cursor.line);
        return;
      }
      cursor.passBreak();
      if (!this.#inFlow) this.#keyAllowed = true;
    }
  }

  /** Begins a block when this column is beyond the present one. @param tokenNumber before which it begins */
  #roll(column: number, type: TokenType, tokenNumber: number, line: number): void {
    if (this.#inFlow || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    if (this.#indents.length > depthMax) throw tooDeep(line);
    this.#insert(type, tokenNumber, line);
  }

  /** Ends the blocks that are beyond this column. */
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

  /** @throws YamlError when it must be one */
  #dropKey(): void {
    const key = this.#keys.at(-1);
    if (key === undefined || !key.possible) return;
    if (key.required) throw missingColon(this.#cursor.line);
    key.possible = false;
  }

  #end(): void {
    if (this.#cursor.column > 0) this.#cursor.line++; // As if the last line had its break.
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
