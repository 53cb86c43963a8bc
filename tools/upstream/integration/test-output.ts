/** Results in the output of a Go test program with `-test.v`. */

export type State = "passed" | "failed" | "skipped";

export interface TestResult {
  /** The names of the test and its subtests, joined by slashes. */
  readonly name: string;
  readonly state: State;
}

const states: Readonly<Record<string, State>> = { PASS: "passed", FAIL: "failed", SKIP: "skipped" };

/**
 * The results of the tests without subtests. A test that began and did not end, because its program ended before, has failed.
 *
 * @param output all that the program printed
 */
export function readResults(output: string): TestResult[] {
  const results = new Map<string, State>();
  for (const [, name] of output.matchAll(/^=== RUN {3}(\S+)$/gm)) results.set(name as string, "failed");
  for (const [, state, name] of output.matchAll(/--- (PASS|FAIL|SKIP): (\S+) \(\d/g))
    results.set(name as string, states[state as string] as State);
  const parents = new Set([...results.keys()].flatMap(parentsOf));
  return [...results].filter(([name, state]) => !parents.has(name) || failedItself(name, state, results)).map(toResult);
}

/** A parent fails itself when it fails and none of its subtests does. */
function failedItself(name: string, state: State, results: ReadonlyMap<string, State>): boolean {
  return state === "failed" && ![...results].some(([other, its]) => other.startsWith(`${name}/`) && its === "failed");
}

function parentsOf(name: string): string[] {
  const parts = name.split("/");
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join("/"));
}

function toResult([name, state]: [string, State]): TestResult {
  return { name, state };
}
