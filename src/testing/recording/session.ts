/** A session with a server, kept in memory until it ends: then all secrets are known. */
import { encodeAny } from "../../lib/json/encode-any.ts";
import { parseEncoded } from "../../lib/json/parse.ts";
import {
  type AnswerLine,
  formatVersion,
  type Header,
  type Line,
  type RecordedBody,
  type RequestLine,
} from "./format.ts";
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

/** Collects lines. */
export interface Session {
  readonly secrets: Secrets;
  begin(request: RequestLine["request"]): RecordedExchange;
  /** @returns the recording, with a newline after each line */
  format(): string;
}

/** The size of a session, in characters. Bodies that do not fit are omitted. */
export const sessionLengthMax = 128 << 20;
/** The lines of a session; further requests and events are not recorded. */
const linesMax = 1_000_000;

export function newSession(secrets: Secrets, lengthMax = sessionLengthMax): Session {
  const lines: string[] = [];
  let length = 0;
  let requests = 0;

  function store(line: Line, omitting: (omitted: RecordedBody) => Line, at = lines.length): void {
    const text = encodeAny(line);
    const isLong = length + text.length > lengthMax;
    const stored = isLong ? encodeAny(omitting({ omitted: "the recording is full" })) : text;
    length += stored.length;
    lines[at] = stored;
  }

  return {
    secrets,
    begin(request) {
      const at = lines.length;
      requests++;
      const n = requests;
      if (at >= linesMax) throw new Error(`the session has more than ${linesMax} requests, answers and events`);
      store({ n, request }, () => ({ n, request }));
      return {
        body: (body) =>
          store({ n, request: { ...request, body } }, (omitted) => ({ n, request: { ...request, body: omitted } }), at),
        answer: (answer) => store({ n, answer }, (body) => ({ n, answer: { ...answer, body } })),
        event: (event) => store({ n, event }, (omitted) => ({ n, event: omitted })),
        end: () => store({ n, end: true }, () => ({ n, end: true })),
      };
    },
    format() {
      const header: Header = { format: "coxswain-recording", version: formatVersion };
      const cleaned = lines.map((line) => encodeAny(cleanValue(parseEncoded(Buffer.from(line)), secrets)));
      return [JSON.stringify(header), ...cleaned, ""].join("\n");
    },
  };
}
