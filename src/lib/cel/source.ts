/** The text of an expression: lines and columns for people. */
import type { Issue } from "./errors.ts";

const issuesShownMax = 100;

export class Source {
  readonly text: string;
  readonly #lineStarts: number[] = [0];

  constructor(text: string) {
    this.text = text;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) this.#lineStarts.push(at + 1);
  }

  /** @returns the line from 1, and the column from 0 in code points */
  locate(offset: number): { line: number; column: number } {
    let line = this.#lineStarts.length;
    while (line > 1 && (this.#lineStarts[line - 1] as number) > offset) line--;
    const start = this.#lineStarts[line - 1] as number;
    return { line, column: [...this.text.slice(start, offset)].length };
  }

  /** All issues as upstream prints them, by place. Source: cel-go's common/errors.go and error.go */
  describe(issues: readonly Issue[]): string {
    const sorted = issues.toSorted((left, right) => left.offset - right.offset);
    const shown = sorted.slice(0, issuesShownMax).map((issue) => this.#describeOne(issue));
    if (sorted.length > issuesShownMax) shown.push(`${sorted.length - issuesShownMax} more errors were truncated`);
    return shown.join("\n");
  }

  #describeOne(issue: Issue): string {
    if (issue.offset < 0) return `ERROR: <input>:-1:0: ${issue.message}`;
    const { line, column } = this.locate(issue.offset);
    const start = this.#lineStarts[line - 1] as number;
    const end = this.text.indexOf("\n", start);
    const lineText = this.text.slice(start, end === -1 ? undefined : end).replaceAll("\t", " ");
    const points = [...lineText];
    const isWide = (at: number): boolean => (points[at]?.codePointAt(0) ?? 0) > 0x7f;
    let marks = "";
    for (let at = 0; at < column; at++) marks += isWide(at) ? "．" : ".";
    marks += isWide(column) ? "＾" : "^";
    return `ERROR: <input>:${line}:${column + 1}: ${issue.message}\n | ${lineText}\n | ${marks}`;
  }
}
