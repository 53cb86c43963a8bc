/**
 * The tests that run in this process, so that a wait knows how much time its test has, and what to report. It belongs to no
 * server, as the open servers and the states with which servers begin.
 */
import { isNodeTest } from "./runner-limit.ts";

/** A test that runs. */
export interface RunningTest {
  /** What the runner passes to hooks; undefined if nothing. */
  readonly context: unknown;
  /** Milliseconds as those of `performance.now`. */
  readonly startedAt: number;
  /** Undefined if the runner has none, or does not say it. */
  readonly limitMs: number | undefined;
  /** What happened on its servers. */
  report(): string;
  /** Waits that have not ended. */
  readonly waits: Set<Wait>;
}

/** A wait that can say why it has not ended. */
export interface Wait {
  describe(): string;
  /** Ends it with its error. */
  stop(): void;
}

const running = new Set<RunningTest>();

/** @returns a function that ends the test */
export function testStarts({
  context,
  limitMs,
  report,
}: Pick<RunningTest, "context" | "limitMs" | "report">): () => void {
  const test: RunningTest = { context, startedAt: performance.now(), limitMs, report, waits: new Set() };
  running.add(test);
  const { signal } = (context ?? {}) as { readonly signal?: AbortSignal };
  const aborted = (): void => {
    for (const wait of test.waits) {
      console.error(`The test ended during a wait: ${wait.describe()}`);
      wait.stop();
    }
  };
  signal?.addEventListener?.("abort", aborted);
  return () => {
    running.delete(test);
    signal?.removeEventListener?.("abort", aborted);
  };
}

/** Returns the test that calls; of several that run at once, and if the runner does not say which, the newest one. */
export function currentTest(): RunningTest | undefined {
  if (running.size < 2) return [...running][0];
  const context = contextOfNode();
  const all = [...running];
  return all.find((one) => one.context === context && context !== undefined) ?? all.at(-1);
}

/** node:test knows which test runs. */
function contextOfNode(): unknown {
  if (!isNodeTest()) return undefined;
  const { getTestContext } = process.getBuiltinModule("node:test") as { getTestContext?: () => unknown };
  return getTestContext?.();
}
