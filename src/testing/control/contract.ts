/** Paths under `/testing/`, by which programs in any language control a test server. */

/** One path of the control of a test server. */
export interface ControlRoute {
  readonly method: "GET" | "POST" | "DELETE";
  /** The segments after `/testing/`; `*` matches one segment, such as `faults/*`. */
  readonly path: string;
  /** @throws ApiError */
  readonly handle: (request: ControlRequest) => ControlAnswer | Promise<ControlAnswer>;
}

/** A request for one of the paths. */
export interface ControlRequest {
  /** The decoded segments that `*` matched, in order. */
  readonly parameters: readonly string[];
  readonly query: URLSearchParams;
  /** Whether the client accepts JSON explicitly, so that it does not get text. */
  readonly acceptsJson: boolean;
  /** Is aborted when the client has gone. */
  readonly signal: AbortSignal;
  /**
   * Reads the body: JSON or YAML, at most 1 MiB.
   * @throws ApiError 400, 413
   */
  body(): Promise<unknown>;
  /** Reads the body without decoding it. @throws ApiError 413 when it has more bytes than that */
  bytes(bytesMax: number): Promise<Buffer>;
}

/** What a path answers: a JSON value, or text. */
export type ControlAnswer =
  | { readonly status?: number; readonly json: object }
  | { readonly status?: number; readonly text: string };
