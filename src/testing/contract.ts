/** The test kit: a server for tests, and what tests can do to it. */
import type { RunningServer } from "../options.ts";
import type { Timeline } from "./timeline/contract.ts";

/** A server that `startTestServer` has started. */
export interface TestServer extends RunningServer {
  /** What clients asked of the server since its start, what it answered, and what changed. */
  readonly timeline: Timeline;
}
