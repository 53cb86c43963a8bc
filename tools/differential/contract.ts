/**
 * What the differential tester sends, and what it receives. A sequence is data: it repeats from a file, and shrinks.
 *
 * In the texts of a step, `$ns` is the namespace of the sequence, and `{{ID.PATH}}` a field of the answer to the step
 * with that ID, such as `{{a.metadata.resourceVersion}}`: such values differ between the servers.
 */
import type { Random } from "./random.ts";

/** The encodings of request bodies. */
export type BodyEncoding = "json" | "yaml" | "protobuf" | "cbor";

export interface Step {
  /** For references from later steps. */
  readonly id?: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** See body-text.ts for values that JSON.stringify cannot write. */
  readonly body?: unknown;
  /** JSON by default; an object that an encoding cannot express is sent as JSON. */
  readonly encoding?: BodyEncoding;
  /** Reads a stream until it has an event of an object with this name, or ends. */
  readonly watchUntil?: string;
  /** Repeats the request, at most for some seconds, until the answer has this status. */
  readonly until?: number;
  /** Repeats only if the step with this ID has succeeded. */
  readonly after?: string;
  /** Sent to both servers and not compared. */
  readonly silent?: boolean;
}

export interface Sequence {
  /** The name of its area. */
  readonly area: string;
  readonly steps: readonly Step[];
}

/** An answer as it was received. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** A subject whose requests are generated. */
export interface Area {
  readonly name: string;
  /** Only the status of answers is compared: which of several errors a server reports is of no interest. */
  readonly comparesOnlyStatus?: boolean;
  /** Makes the steps of one sequence from random numbers alone. */
  make(random: Random): Step[];
}
