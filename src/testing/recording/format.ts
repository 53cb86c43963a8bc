/**
 * The format of a recording: JSON lines. The first line is a {@link Header}; each other line is
 * something that happened, in the order in which it happened.
 */
import { parseEncoded } from "../../lib/json/parse.ts";
import { isObject } from "../../lib/json/values.ts";

/** The version that this program writes and reads. */
export const formatVersion = 1;

/** The first line. */
export interface Header {
  readonly format: "coxswain-recording";
  readonly version: number;
}

/** The body of a request or an answer, without secrets. */
export type RecordedBody =
  /** The object, whatever its encoding was. */
  | { readonly json: unknown }
  | { readonly text: string }
  /** Documents in protobuf that are public, such as OpenAPI. */
  | { readonly base64: string }
  /** Why there is none: it was too long, or its encoding is not known, so that it can hold secrets. */
  | { readonly omitted: string };

/** A client sent a request. */
export interface RequestLine {
  /** Numbers the requests from 1; other lines of the same request have the same number. */
  readonly n: number;
  readonly request: {
    readonly method: string;
    readonly path: string;
    /** Decoded names and values, in their order. */
    readonly query: readonly (readonly [name: string, value: string])[];
    readonly accept?: string;
    readonly contentType?: string;
    readonly userAgent?: string;
    readonly body?: RecordedBody;
  };
}

/** The server answered: for a watch when it starts, otherwise with the whole answer. */
export interface AnswerLine {
  readonly n: number;
  readonly answer: {
    readonly status: number;
    /** Those of {@link recordedHeaders}. */
    readonly headers: Readonly<Record<string, string>>;
    /** Events follow. */
    readonly isWatch?: true;
    /** The protocol to which the connection was upgraded; its bytes are not recorded. */
    readonly upgrade?: string;
    readonly body?: RecordedBody;
  };
}

/** The server sent an event of a watch. */
export interface EventLine {
  readonly n: number;
  readonly event: RecordedBody;
}

/** The server ended a watch, or a connection that was upgraded. */
export interface EndLine {
  readonly n: number;
  readonly end: true;
}

export type Line = RequestLine | AnswerLine | EventLine | EndLine;

/** The headers of answers that are recorded. No header with a credential is among them. */
export const recordedHeaders: readonly string[] = ["content-type", "date", "etag", "retry-after", "warning"];

/** The longest line that is read, in characters. */
const lineLengthMax = 256 << 20;

/** @throws Error that names the line, when the text is no recording */
export function parseRecording(text: string): readonly Line[] {
  const [first = "", ...rest] = text.split("\n");
  const header = parseLine(first, 1) as Partial<Header>;
  if (header.format !== "coxswain-recording") throw new Error("line 1: this is not a recording");
  if (header.version !== formatVersion)
    throw new Error(`line 1: the recording has version ${header.version}, and this program reads ${formatVersion}`);
  if (rest.pop() !== "") throw new Error("the last line is incomplete");
  const started = new Set<number>();
  return rest.map((one, index) => {
    const line = parseLine(one, index + 2) as unknown as Line;
    const isStart = "request" in line;
    if (!isKnown(line) || isStart === started.has(line.n))
      throw new Error(`line ${index + 2}: expected a request, or an answer, event or end of one before`);
    if (isStart) started.add(line.n);
    return line;
  });
}

function isKnown(line: Partial<RequestLine & AnswerLine & EventLine & EndLine>): boolean {
  const { request, answer, event, end } = line;
  if (!Number.isSafeInteger(line.n)) return false;
  if (isObject(request)) return typeof request.path === "string" && Array.isArray(request.query);
  if (isObject(answer)) return Number.isInteger(answer.status) && isObject(answer.headers);
  return isObject(event) || end === true;
}

function parseLine(text: string, number: number): Record<string, unknown> {
  if (text.length > lineLengthMax) throw new Error(`line ${number}: it is too long`);
  const value = parsedOrUndefined(text);
  if (!isObject(value)) throw new Error(`line ${number}: this is not a JSON object`);
  return value;
}

function parsedOrUndefined(text: string): unknown {
  try {
    return parseEncoded(Buffer.from(text));
  } catch (error) {
    if ((error as Error).name === "JsonSyntaxError") return undefined;
    throw error;
  }
}
