/**
 * Email addresses as Go's `mail.ParseAddress` reads them: RFC 5322 with display names, comments and
 * groups. A scanner, because patterns for display names take exponential time.
 * Source: Go's net/mail/message.go and mime/encodedword.go.
 */
import { ipVersion } from "../../ip-range/ip-version.ts";

/** Whether the text is one email address, with or without a display name. */
export function isEmail(text: string): boolean {
  const scanner = new AddressScanner(text);
  return scanner.addresses({ groups: true }) === 1 && scanner.skipComments() && scanner.isAtEnd;
}

/** The syntax is wrong here; only `addresses` reports it to its caller. */
const invalid = -1;

const atomText = /[!#-'*+\-./\d=?A-Z^-~\u0080-\uffff]+/y;
const quotedText = /"(?:[\t !#-[\]-~\u0080-\uffff]|\\[\t -~\u0080-\uffff])*"/y;
const domainText = /\[([!-Z^-~\u0080-\uffff]*)\]/y;

class AddressScanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** @returns the number of addresses: one, or those of a group; `invalid` for wrong syntax */
  addresses({ groups }: { readonly groups: boolean }): number {
    this.#skipSpace();
    if (this.isAtEnd) return invalid;
    if (this.#address()) {
      this.#skipSpace();
      return this.#peek() === "(" && !this.#nameComment() ? invalid : 1;
    }
    if (this.#peek() !== "<" && !this.#phrase()) return invalid;
    this.#skipSpace();
    if (groups && this.#takes(":")) return this.#group();
    return this.#takes("<") && this.#address() && this.#takes(">") ? 1 : invalid;
  }

  #group(): number {
    this.#skipSpace();
    if (this.#takes(";")) return this.skipComments() ? 0 : invalid;
    for (let count = 0; ; ) {
      if (this.addresses({ groups: false }) === invalid) return invalid;
      count++;
      if (!this.skipComments()) return invalid;
      if (this.#takes(";")) return this.skipComments() ? count : invalid;
      if (!this.#takes(",")) return invalid;
    }
  }

  /** Reads an address without a display name. Stays where it is when there is none. */
  #address(): boolean {
    const start = this.#at;
    this.#skipSpace();
    if (this.#localPart() && this.#takes("@") && this.#domain()) return true;
    this.#at = start;
    return false;
  }

  #localPart(): boolean {
    if (this.#peek() !== '"') return isStrictAtom(this.#match(atomText));
    return this.#match(quotedText).length > '""'.length;
  }

  #domain(): boolean {
    this.#skipSpace();
    if (this.#peek() !== "[") return isStrictAtom(this.#match(atomText));
    const literal = this.#match(domainText).slice(1, -1);
    return !literal.includes("%") && ipVersion(literal) !== 0;
  }

  /** Reads the words of a display name; encoded ones without space between them are one word. */
  #phrase(): boolean {
    let words = 0;
    let hasEncoded = false;
    for (;;) {
      if (words > 0 && !this.skipComments()) return false;
      this.#skipSpace();
      const isQuoted = this.#peek() === '"';
      const word = this.#match(isQuoted ? quotedText : atomText);
      const encoded = isQuoted ? undefined : encodedWord(word);
      if (word === "" || encoded?.isKnown === false)
        return this.isAtEnd && word === "" ? true : words > 0 || hasEncoded;
      if (encoded !== undefined) hasEncoded ||= encoded.hasText;
      else {
        words += hasEncoded ? 2 : 1;
        hasEncoded = false;
      }
    }
  }

  /** Reads the comment behind an address. */
  #nameComment(): boolean {
    const start = this.#at + 1;
    if (!this.#comment()) return false;
    const words = this.#text.slice(start, this.#at - 1).split(/[ \t]/);
    return words.every((word) => encodedWord(word)?.isKnown !== false);
  }

  /** @returns false for a comment without an end */
  skipComments(): boolean {
    this.#skipSpace();
    while (this.#peek() === "(") {
      if (!this.#comment()) return false;
      this.#skipSpace();
    }
    return true;
  }

  /** Reads a comment, with those inside it. */
  #comment(): boolean {
    this.#at++;
    for (let depth = 1; depth > 0; this.#at++) {
      if (this.isAtEnd) return false;
      const character = this.#peek();
      if (character === "\\" && this.#at + 1 < this.#text.length) this.#at++;
      else if (character === "(") depth++;
      else if (character === ")") depth--;
    }
    return true;
  }

  #skipSpace(): void {
    while (this.#peek() === " " || this.#peek() === "\t") this.#at++;
  }

  #peek(): string {
    return this.#text[this.#at] ?? "";
  }

  #takes(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }
}

function isStrictAtom(atom: string): boolean {
  return atom !== "" && !atom.startsWith(".") && !atom.endsWith(".") && !atom.includes("..");
}

interface EncodedWord {
  readonly hasText: boolean;
  /** Whether Go decodes its character set. */
  readonly isKnown: boolean;
}

const characterSets: ReadonlySet<string> = new Set(["utf-8", "iso-8859-1", "us-ascii"]);

/** Reads a word such as `=?utf-8?q?caf=C3=A9?=` (RFC 2047). @returns undefined for other words */
function encodedWord(word: string): EncodedWord | undefined {
  if (!word.startsWith("=?") || !word.endsWith("?=")) return undefined;
  const [, characterSet = "", encoding = "", text = "", ...rest] = word.split("?", 6);
  if (characterSet === "" || rest.length !== 1 || word.length < "=?a?q??=".length) return undefined;
  const isRight = encoding.toLowerCase() === "b" ? isBase64(text) : encoding.toLowerCase() === "q" && isQuoted(text);
  if (!isRight) return undefined;
  return { hasText: text !== "", isKnown: characterSets.has(characterSet.toLowerCase()) };
}

function isBase64(word: string): boolean {
  const text = word.replace(/[\r\n]+/g, "");
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

function isQuoted(text: string): boolean {
  return /^(?:[ -<>-~\t\r\n]|=[0-9A-Fa-f]{2})*$/.test(text);
}
