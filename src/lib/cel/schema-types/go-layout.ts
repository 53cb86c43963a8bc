/** Error messages of Go's time.Parse. Source: https://pkg.go.dev/time#Parse. */
import { quoteGo } from "../../json/quote.ts";

interface Part {
  /** The text in the layout. */
  readonly written: string;
  readonly pattern: RegExp;
  readonly name?: string;
  readonly max?: number;
}

const parts: readonly Part[] = [
  { written: "2006", pattern: /^[0-9]{4}/ },
  { written: "-", pattern: /^-/ },
  { written: "01", pattern: /^[0-9]{2}/, name: "month", max: 12 },
  { written: "-", pattern: /^-/ },
  { written: "02", pattern: /^[0-9]{2}/, name: "day", max: 31 },
  { written: "T", pattern: /^T/ },
  { written: "15", pattern: /^[0-9]{1,2}/, name: "hour", max: 23 },
  { written: ":", pattern: /^:/ },
  { written: "04", pattern: /^[0-9]{2}/, name: "minute", max: 59 },
  { written: ":", pattern: /^:/ },
  { written: "05", pattern: /^[0-9]{2}(?:[.,][0-9]+)?/, name: "second", max: 59 },
];

/** Returns Go's message for an invalid time. @param layout `2006-01-02` or `2006-01-02T15:04:05` */
export function timeParseError(text: string, layout: string): string {
  const outOfRange = (name: string): string => `parsing time ${quoteGo(text)}: ${name} out of range`;
  let rest = text;
  for (const { written, pattern, name, max } of layout.length > 10 ? parts : parts.slice(0, 5)) {
    const found = pattern.exec(rest)?.[0];
    if (found === undefined)
      return `parsing time ${quoteGo(text)} as ${quoteGo(layout)}: cannot parse ${quoteGo(rest)} as ${quoteGo(written)}`;
    const value = Number.parseInt(found, 10);
    if (name !== undefined && name !== "day" && (value > (max as number) || (name === "month" && value < 1)))
      return outOfRange(name);
    rest = rest.slice(found.length);
  }
  return rest === "" ? outOfRange("day") : `parsing time ${quoteGo(text)}: extra text: ${quoteGo(rest)}`;
}
