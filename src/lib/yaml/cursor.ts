/** Ends every source; YAML text cannot contain it. */
const endMark = "\0";

/** The position of the scanner in a YAML text. */
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

  /** The code unit at an offset from the position; 0 at and beyond the end. */
  code(ahead = 0): number {
    return this.source.charCodeAt(this.position + ahead) || 0;
  }

  /**
   * Skips a line break; `\r\n` is one.
   * @returns its value: `\n`, or the Unicode separator itself
   */
  skipBreak(): string {
    const code = this.code();
    this.position += code === 0x0d && this.code(1) === 0x0a ? 2 : 1;
    this.line++;
    this.#lineStart = this.position;
    return code === 0x2028 || code === 0x2029 ? String.fromCharCode(code) : "\n";
  }

  /** Skips the rest of the line, without its break. */
  skipLine(): void {
    while (!isBreakOrEnd(this.code())) this.position++;
  }

  /** Whether `---` or `...` is here, at the beginning of a line. */
  atDocumentIndicator(): boolean {
    if (this.position !== this.#lineStart) return false;
    const code = this.code();
    return (
      (code === 0x2d || code === 0x2e) && this.code(1) === code && this.code(2) === code && isSpaceOrEnd(this.code(3))
    );
  }
}

/** Whether a character is a line break. */
export function isBreak(code: number): boolean {
  return code === 0x0a || code === 0x0d || code === 0x85 || code === 0x2028 || code === 0x2029;
}

/** Whether a character is a space or tab. */
export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Whether a character is a line break, or the end. */
export function isBreakOrEnd(code: number): boolean {
  return code === 0 || isBreak(code);
}

/** Whether a character is a space, tab or line break, or the end. */
export function isSpaceOrEnd(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0 || code === 0x09 || isBreak(code);
}

/** Whether a character may be in the name of an anchor, or in the handle of a tag. */
export function isWord(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x5f ||
    code === 0x2d
  );
}
