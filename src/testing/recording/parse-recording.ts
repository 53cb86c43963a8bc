/** Reads a recording, also one whose recorder was stopped. */
import { parseEncoded } from "../../lib/json/parse.ts";
import { isObject } from "../../lib/json/values.ts";
import { retainedDepthMax } from "../../lib/schema/decode.ts";
import { isLine } from "./check-line.ts";
import { isWithinDepth } from "./depth.ts";
import { type Header, type Line, readVersions } from "./format.ts";

/** What a file contains. */
export interface Recording {
  readonly lines: readonly Line[];
  /** What is missing, for the user. */
  readonly warnings: readonly string[];
}

const newline = 10;
/** A body of a line has 3 levels around it. */
const depthMax = retainedDepthMax + 3;

/**
 * Reads the lines of a file. A last line without its end is left out: the recorder, or a copy of the
 * file, was stopped within it. After a loss of power, more lines at the end of a partial recording
 * can be damaged.
 *
 * @throws Error that names the line, when the bytes are no recording
 */
export function parseRecording(bytes: Buffer): Recording {
  const { lines: texts, hasTornLine } = splitLines(bytes);
  const { isPartial } = parseHeader(texts[0] ?? Buffer.alloc(0));
  const lines: Line[] = [];
  const warnings: string[] = [];
  if (isPartial === true)
    warnings.push("the recorder was stopped before the session ended: the end of the session is missing");
  const started = new Set<number>();
  for (const [index, text] of texts.entries()) {
    if (index === 0) continue;
    const line = parsedOrUndefined(text);
    if (isLine(line) && "request" in line !== started.has(line.n)) {
      started.add(line.n);
      lines.push(line);
      continue;
    }
    const problem = `line ${index + 1}: expected a request, or the body, answer, event or end of one before`;
    if (isPartial !== true) throw new Error(problem);
    warnings.push(`${problem}: it and ${texts.length - index - 1} lines after it are left out`);
    break;
  }
  if (hasTornLine) warnings.push(`line ${texts.length + 1} is incomplete, and left out`);
  return { lines, warnings };
}

function splitLines(bytes: Buffer): { lines: readonly Buffer[]; hasTornLine: boolean } {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return { lines, hasTornLine: start < bytes.length };
}

function parseHeader(text: Buffer): Partial<Header> {
  const header = parsedOrUndefined(text);
  if (!isObject(header) || header.format !== "coxswain-recording") throw new Error("line 1: this is not a recording");
  if (readVersions.includes(header.version)) return header;
  const versions = readVersions.join(" and ");
  throw new Error(`line 1: the recording has version ${header.version}, and this program reads ${versions}`);
}

function parsedOrUndefined(text: Buffer): unknown {
  try {
    const value = parseEncoded(text);
    return isWithinDepth(value, depthMax) ? value : undefined;
  } catch (error) {
    if ((error as Error).name === "JsonSyntaxError") return undefined;
    throw error;
  }
}
