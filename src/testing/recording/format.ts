/**
 * The format of a recording: JSON lines. The first line is a {@link Header}; each other line is
 * something that happened, in the order in which it happened.
 */

/** The version that this program writes. */
export const formatVersion = 2;
/** Version 1 has the bodies of requests in their lines. */
export const readVersions: readonly unknown[] = [1, formatVersion];

/** The first line. */
export interface Header {
  readonly format: "coxswain-recording";
  readonly version: number;
  /** The session has not ended. */
  readonly isPartial?: true;
}

/** The body of a request or an answer, without secrets. */
export type RecordedBody =
  /** The object, whatever its encoding was. */
  | { readonly json: unknown }
  | { readonly text: string }
  /** Documents in protobuf that are public, such as OpenAPI. */
  | { readonly base64: string }
  /** Why there is none: it was too long, or could not be decoded, so that it can hold secrets. */
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
    /** In its own line, see {@link BodyLine}. */
    readonly body?: RecordedBody;
  };
}

/** The client sent the body of its request, which ends after the request has begun. */
export interface BodyLine {
  readonly n: number;
  readonly body: RecordedBody;
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

export type Line = RequestLine | BodyLine | AnswerLine | EventLine | EndLine;

/** The headers of answers that are recorded. No header with a credential is among them. */
export const recordedHeaders: readonly string[] = [
  "cache-control",
  "content-type",
  "date",
  "etag",
  "expires",
  "last-modified",
  "retry-after",
  "vary",
  "warning",
];
