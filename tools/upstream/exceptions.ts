/** Tests of upstream that fail with this server, and why: data that each run is compared with. */

/** Why a test fails. */
export const kinds = {
  containers: "needs containers, nodes or their network",
  timing: "measures time, so it depends on the machine",
  process: "reads metrics, the identity or variables of its own process",
  files: "needs files that the module does not have",
  decided: "differs on purpose, as the named document says",
  waits: "waits for work that is planned, named by its title",
} as const;

export interface Exception {
  /** The name of the test, or of the parent of all tests that are meant. */
  readonly test: string;
  readonly kind: keyof typeof kinds;
  /** What is missing or different. For `decided`, it names the document; for `waits`, the planned work. */
  readonly reason: string;
}

export interface Outcome {
  readonly name: string;
  readonly state: "passed" | "failed" | "skipped";
}

export interface Comparison {
  readonly passed: number;
  readonly skipped: number;
  /** Failed tests that are listed. */
  readonly listed: readonly string[];
  /** Failed tests that are not listed. */
  readonly unlisted: readonly string[];
  /** Listed tests that ran, and none of which failed. Those that measure time may pass. */
  readonly unexpectedPasses: readonly string[];
}

export function compareWithExceptions(outcomes: readonly Outcome[], exceptions: readonly Exception[]): Comparison {
  const failed = outcomes.filter(({ state }) => state === "failed").map(({ name }) => name);
  const isListed = (name: string): boolean => findException(exceptions, name) !== undefined;
  const passed = outcomes.filter(({ state }) => state === "passed");
  return {
    passed: passed.length,
    skipped: outcomes.filter(({ state }) => state === "skipped").length,
    listed: failed.filter(isListed),
    unlisted: failed.filter((name) => !isListed(name)),
    unexpectedPasses: exceptions
      .filter(({ kind }) => kind !== "timing")
      .map(({ test }) => test)
      .filter((test) => passed.some(({ name }) => covers(test, name)) && !failed.some((name) => covers(test, name))),
  };
}

/** The first that is listed for the test or a parent of it. */
export function findException(exceptions: readonly Exception[], name: string): Exception | undefined {
  return exceptions.find(({ test }) => covers(test, name));
}

function covers(test: string, name: string): boolean {
  return name === test || name.startsWith(`${test}/`);
}
