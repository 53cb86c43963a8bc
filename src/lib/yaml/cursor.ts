/** A place in a text of YAML, and what the characters there are. */

/** Ends every source; a text may not contain it. */
const endMark = "\0";

export class Cursor {
  readonly source: string;
  position = 0;
  /** Counted from 0. */
  line = 0;
  #lineStart = 0;

  constructor(text: string) {
    this.source = text + endMark;
  }

  get column(): number {
    return this.position - this.#lineStart;
  }

  /** The code unit so far ahead; 0 at the end, and beyond it. */
  code(ahead = 0): number {
    return this.source.charCodeAt(this.position + ahead) || 0;
  }

  /** Passes a line break, `\r\n` as one. @returns what it means: `\n`, or the separator itself */
  passBreak(): string {
    const code = this.code();
    this.position += code === 0x0d && this.code(1) === 0x0a ? 2 : 1;
    this.line++;
    this.#lineStart = this.position;
    return code === 0x2028 || code === 0x2029 ? String.fromCharCode(code) : "\n";
  }

  /** Passes what is left of the line, not its break. */
  passLine(): void {
    while (!isBreakOrEnd(this.code())) this.position++;
  }

  /** Whether `---` or `...` stands here, at the beginning of a line. */
  atDocumentIndicator(): boolean {
    if (this.position !== this.#lineStart) return false;
    const code = this.code();
    return (
      (code === 0x2d || code === 0x2e) && this.code(1) === code && this.code(2) === code && isSpaceOrEnd(this.code(3))
    );
  }
}

export function isBreak(code: number): boolean {
  return code === 0x0a || code === 0x0d || code === 0x85 || code === 0x2028 || code === 0x2029;
}

export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

export function isBreakOrEnd(code: number): boolean {
  return code === 0 || isBreak(code);
}

/** A blank, a break, or the end. */
export function isSpaceOrEnd(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0 || code === 0x09 || isBreak(code);
}

/** What may be in the name of an anchor or of a tag's handle. */
export function isWord(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x5f ||
    code === 0x2d
  );
}
