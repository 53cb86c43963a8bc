/** A session with a server: what happens becomes lines without secrets. */
import { encodeAny } from "../../lib/json/encode-any.ts";
import { parseEncoded } from "../../lib/json/parse.ts";
import type { AnswerLine, Line, RecordedBody, RequestLine } from "./format.ts";
import { cleanValue } from "./redact.ts";
import type { Secrets } from "./secrets.ts";

/** What is recorded of one request. */
export interface RecordedExchange {
  /** Adds the body, which arrives after the request has started. */
  body(body: RecordedBody): void;
  answer(answer: AnswerLine["answer"]): void;
  event(event: RecordedBody): void;
  end(): void;
}

/** A session that is recorded. */
export interface Session {
  readonly secrets: Secrets;
  begin(request: RequestLine["request"]): RecordedExchange;
  /** Removes the secrets that the session has shown since from a line. */
  clean(line: string): string;
}

export interface SessionOptions {
  readonly secrets: Secrets;
  /** Is called with each line, without the secrets that are known by then. */
  readonly append: (line: string) => void;
  readonly lengthMax?: number;
}

/** The size of a session, in characters. Bodies that do not fit are omitted. */
const sessionLengthMax = 128 << 20;
/** The lines of a session; more are an error. */
const linesMax = 1_000_000;

export function newSession({ secrets, append, lengthMax = sessionLengthMax }: SessionOptions): Session {
  let [lines, length, requests] = [0, 0, 0];

  function add(line: Line, omitting: (omitted: RecordedBody) => Line): void {
    if (lines >= linesMax) throw new Error(`the session has more than ${linesMax} requests, answers and events`);
    const text = encodeAny(cleanValue(line, secrets));
    const isLong = length + text.length > lengthMax;
    const added = isLong ? encodeAny(cleanValue(omitting({ omitted: "the recording is full" }), secrets)) : text;
    lines++;
    length += added.length;
    append(added);
  }

  return {
    secrets,
    begin(request) {
      requests++;
      const n = requests;
      add({ n, request }, () => ({ n, request }));
      return {
        body: (body) => add({ n, body }, (omitted) => ({ n, body: omitted })),
        answer: (answer) => add({ n, answer }, (body) => ({ n, answer: { ...answer, body } })),
        event: (event) => add({ n, event }, (omitted) => ({ n, event: omitted })),
        end: () => add({ n, end: true }, () => ({ n, end: true })),
      };
    },
    clean: (line) => encodeAny(cleanValue(parseEncoded(Buffer.from(line)), secrets)),
  };
}
