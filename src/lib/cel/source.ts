/** The text of an expression, with lines and columns for error messages. */

/** One error in the text of an expression. */
export interface Issue {
  /** In UTF-16 units from the start of the text; -1 for an error without a position. */
  readonly offset: number;
  readonly message: string;
}

const issuesShownMax = 100;
/** A longer line is left out of error messages. */
const lineBytesMax = 16_384;

/** The text of an expression, and the lines and columns in it. */
export class Source {
  readonly text: string;
  readonly #lineStarts: number[] = [0];

  constructor(text: string) {
    this.text = text;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) this.#lineStarts.push(at + 1);
  }

  /** @returns the line, counted from 1, and the column in code points, counted from 0 */
  locate(offset: number): { line: number; column: number } {
    let line = this.#lineStarts.length;
    while (line > 1 && (this.#lineStarts[line - 1] as number) > offset) line--;
    const start = this.#lineStarts[line - 1] as number;
    return { line, column: [...this.text.slice(start, offset)].length };
  }

  /**
   * Formats the first hundred issues by position, as cel-go does. Source: cel-go, common/errors.go
   */
  describe(issues: readonly Issue[]): string {
    const kept = issues.slice(0, issuesShownMax);
    const shown = kept.toSorted((left, right) => left.offset - right.offset).map((issue) => this.#describeOne(issue));
    if (issues.length > issuesShownMax) shown.push(`${issues.length - issuesShownMax} more errors were truncated`);
    return shown.join("\n");
  }

  #describeOne(issue: Issue): string {
    if (issue.offset < 0) return `ERROR: <input>:-1:0: ${issue.message}`;
    const { line, column } = this.locate(issue.offset);
    const start = this.#lineStarts[line - 1] as number;
    const end = this.text.indexOf("\n", start);
    const lineText = this.text.slice(start, end === -1 ? undefined : end).replaceAll("\t", " ");
    if (this.text === "") return `ERROR: <input>:1:0: ${issue.message}`; // cel-go finds no line in an empty text.
    const where = `ERROR: <input>:${line}:${column + 1}: ${issue.message}`;
    if (Buffer.byteLength(lineText) > lineBytesMax) return where;
    const points = [...lineText];
    const isWide = (at: number): boolean => (points[at]?.codePointAt(0) ?? 0) > 0x7f;
    let marks = "";
    for (let at = 0; at < column; at++) marks += isWide(at) ? "．" : ".";
    marks += isWide(column) ? "＾" : "^";
    return `${where}\n | ${lineText}\n | ${marks}`;
  }
}
