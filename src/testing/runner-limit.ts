/** How long a test may take: test runners say it in different places, and some only by their default. */
import { isObject } from "./test-scopes.ts";

/** Of Vitest, Jest and Bun, where nothing else is found. */
const defaultLimitMs = 5000;

/** The state of jest-circus, which runs the tests of Jest. */
interface JestState {
  readonly testTimeout?: unknown;
  readonly currentlyRunningTest?: { readonly timeout?: unknown } | null;
}

/** A test of Vitest. */
interface VitestTask {
  readonly timeout?: unknown;
}

/**
 * @param context that the runner passes to hooks, if any
 * @returns milliseconds; undefined where a test has no limit, and where none can be found: node:test does not show
 *   the option `timeout` of a test
 */
export function runnerLimitMs(context?: unknown): number | undefined {
  return [vitestLimit(context), jestLimit(), bunLimit(), nodeLimit()].find((limit) => limit !== undefined)?.ms;
}

/** What a runner has said. */
interface Found {
  readonly ms: number | undefined;
}

function vitestLimit(context: unknown): Found | undefined {
  const task = (isObject(context) ? (context as { readonly task?: VitestTask }).task : undefined) ?? currentTask();
  if (typeof task?.timeout === "number") return { ms: positive(task.timeout) };
  return isVitest() ? { ms: defaultLimitMs } : undefined;
}

function currentTask(): VitestTask | undefined {
  return member(member(globalThis, vitestWorker), "current") as VitestTask | undefined;
}

function jestLimit(): Found | undefined {
  const symbol = jestState();
  if (symbol === undefined) return undefined;
  const state = Reflect.get(globalThis, symbol) as JestState | undefined;
  const ms = [state?.currentlyRunningTest?.timeout, state?.testTimeout].find((value) => typeof value === "number");
  return { ms: positive((ms as number | undefined) ?? defaultLimitMs) };
}

function bunLimit(): Found | undefined {
  const isBunTest = process.versions.bun !== undefined && process.env.NODE_ENV === "test";
  return isBunTest ? { ms: defaultLimitMs } : undefined;
}

function nodeLimit(): Found | undefined {
  const flag = process.execArgv.findLast((argument) => argument.startsWith("--test-timeout="));
  return flag === undefined ? undefined : { ms: positive(Number(flag.slice(flag.indexOf("=") + 1))) };
}

const vitestWorker = "__vitest_worker__";

function isVitest(): boolean {
  return member(globalThis, vitestWorker) !== undefined;
}

function jestState(): symbol | undefined {
  return Object.getOwnPropertySymbols(globalThis).find(({ description }) => description === "JEST_STATE_SYMBOL");
}

/**
 * Whether node:test, Vitest or Jest runs this process and decides about its end. Their environment variables do not say it:
 * programs that a test starts inherit them.
 */
export function isTestRunner(): boolean {
  return isNodeTest() || isVitest() || jestState() !== undefined;
}

/** Whether this process has loaded node:test. */
export function isNodeTest(): boolean {
  const { moduleLoadList } = process as { readonly moduleLoadList?: readonly string[] };
  return moduleLoadList?.includes("NativeModule internal/test_runner/harness") === true;
}

/** Zero and infinity are no limits. */
function positive(ms: number): number | undefined {
  return ms > 0 && Number.isFinite(ms) ? ms : undefined;
}

function member(value: unknown, name: string): unknown {
  return isObject(value) ? Reflect.get(value, name) : undefined;
}
