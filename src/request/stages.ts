/** The stages of requests, at each of which a test throws. Traces are made from them, see http/tracing/. */

/**
 * All stages of all requests, in about the order in which a request passes them. A part that runs
 * code of a request outside of its promise (in a timer, an event of a stream, a subscriber) adds a
 * stage here, and runs the code with `guarded` of request/boundary.ts.
 */
export const requestStages = [
  "parse",
  "filter",
  "route",
  "read body",
  "decode",
  "mutate",
  "authorize",
  "validate",
  "store",
  "commit",
  "committed",
  "open backend",
  "read backend",
  "upgrade",
  "upgraded data",
  "encode",
  "respond",
  "compressed",
  "recorded",
  "write piece",
  "start watch",
  "initial events",
  "watch listed",
  "watch event",
  "watch progress",
  "watch timer",
  "watch drained",
  "returned",
  "close",
  "report error",
] as const;

/** A stage of a request. */
export type RequestStage = (typeof requestStages)[number];

/** Is called when a request enters a stage. @param key of the object in the store, at `store` */
export type StageObserver = (stage: RequestStage, key?: string) => void;
