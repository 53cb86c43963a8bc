/** The test kit: a server for tests, and what tests can do to it. */
import type { RunningServer } from "../options.ts";

/** A server that `startTestServer` has started. */
export interface TestServer extends RunningServer {}
