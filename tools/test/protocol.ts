/** What the test runner and its worker processes send each other. */

/** Asks a worker to run a file. */
export interface RunRequest {
  /** The path from the root of the repository. */
  readonly file: string;
  /** How long a test may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Runs only tests whose name has this text. */
  readonly name?: string | undefined;
}

/** A failed test, or something that a file did to the process. */
export interface Failure {
  /** The names of the suites and the test, outermost first. */
  readonly path: readonly string[];
  readonly line?: number | undefined;
  /** The first line of the error. */
  readonly message: string;
  /** The error as text, with its stack. */
  readonly details: string;
}

/** What a worker reports about a file. */
export interface FileResult {
  readonly file: string;
  readonly passed: number;
  readonly failures: readonly Failure[];
  /** The number of skipped tests by their reason. */
  readonly skipped: Readonly<Record<string, number>>;
  readonly wallMs: number;
  /** The CPU time of the worker and, on Linux, of the processes that it started, in milliseconds. */
  readonly cpuMs: number;
  /** The memory of the worker after the file, in bytes. */
  readonly rssBytes: number;
  /** The worker cannot run another file, because this one left something in the process. */
  readonly ends: boolean;
}
