/**
 * The servers that are open in this process, so that those which tests forget to close are named, and do not hold the process
 * of a test runner.
 */
import { currentTest } from "./running-tests.ts";
import type { Timeline } from "./timeline/contract.ts";
import { formatEntries } from "./timeline/format.ts";

/** Where something was opened. */
export interface Opener {
  /** Its first line of a frame is the caller. */
  stack?: string;
}

interface Opened {
  readonly what: string;
  readonly opener: Opener;
  /** Whether a test was running: what hooks open, hooks that are registered later may close. */
  readonly isOfTest: boolean;
}

const open = new Map<object, Opened>();
/** Watches that were open when their servers were closed, as lines of a timeline. */
let cutWatches: string[] = [];
let held: ReturnType<typeof setTimeout> | undefined;
const shownMax = 20;

/** Remembers a server until {@link forgetServer}. @param what such as `server` */
export function rememberServer(server: object, what: string, opener: Opener): void {
  if (!isTestRunner()) return;
  if (open.size === 0) process.once("exit", reportAll);
  open.set(server, { what, opener, isOfTest: currentTest() !== undefined });
}

/** Must be called before a server is closed. */
export function forgetServer(server: object, timeline: Timeline): void {
  if (open.delete(server) && open.size === 0) process.removeListener("exit", reportAll);
  if (!isTestRunner()) return;
  const watches = timeline.openWatches().map((watch) => formatEntries([watch]).trimEnd());
  cutWatches = [...cutWatches, ...watches].slice(-shownMax);
}

/** Prints which servers are open. */
function reportAll(): void {
  report(() => true);
}

/** @param more lines about other things */
function report(isMeant: (opened: Opened) => boolean, more: readonly string[] = []): void {
  const found = [...open].filter(([, opened]) => isMeant(opened));
  for (const [server] of found) open.delete(server);
  if (open.size === 0) process.removeListener("exit", reportAll);
  if (found.length + more.length === 0) return;
  const lines = found.map(([, { what, opener }]) => `  a ${what} opened ${placeOf(opener)}`);
  console.error(["Not closed at the end of the tests:", ...lines.slice(0, shownMax), ...more].join("\n"));
}

const heldMs = 3000;

/** Must be called when the tests of a file begin: the process may go on. */
export function testsBegin(): void {
  clearTimeout(held);
  cutWatches = [];
}

/**
 * Must be called after the tests of a file: prints what they left open, and what may hold the process a while later.
 * @param openWatches as lines of the timeline
 */
export function testsEnd(openWatches: readonly string[]): void {
  if (!isTestRunner()) return;
  report(
    ({ isOfTest }) => isOfTest,
    openWatches.slice(0, shownMax).map((line) => `  a watch: ${line}`),
  );
  held = setTimeout(() => {
    reportAll();
    if (cutWatches.length > 0) console.error([stillRuns, ...cutWatches].join("\n"));
  }, heldMs);
  held.unref();
}

const stillRuns = `The tests ended ${heldMs / 1000} s ago and the process still runs. These watches were open when their server was closed; stop their clients:`;

/** Whether a test runner decides about the end of the process. */
export function isTestRunner(): boolean {
  const { NODE_TEST_CONTEXT, VITEST, JEST_WORKER_ID } = process.env;
  if ((NODE_TEST_CONTEXT ?? VITEST ?? JEST_WORKER_ID) !== undefined) return true;
  const { moduleLoadList } = process as { readonly moduleLoadList?: readonly string[] };
  return moduleLoadList?.includes("NativeModule internal/test_runner/harness") === true;
}

function placeOf({ stack = "" }: Opener): string {
  const frame = stack.split("\n").find((line) => line.trimStart().startsWith("at "));
  return frame === undefined ? "somewhere" : frame.trim();
}
