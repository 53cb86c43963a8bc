/**
 * A process that runs test files one after the other, so that they share the modules that it has loaded.
 * Each file is a run of its own of node's test runner.
 */
import { createHook } from "node:async_hooks";
import { readFileSync } from "node:fs";
import { flushCompileCache } from "node:module";
import type { Socket } from "node:net";
import { join } from "node:path";
import { after, run } from "node:test";
import { inspect } from "node:util";
import { describeSocketOf, watchSockets } from "./failed-sockets.ts";
import { root } from "./files.ts";
import { forgetHandles, traceHandles } from "./handle-trace.ts";
import { findLeaks, readProcessState } from "./process-state.ts";
import type { Failure, FileResult, RunRequest } from "./protocol.ts";

const detailsMax = 20_000;

/** Errors that no test of the current file has caught. */
let uncaught: unknown[] = [];
for (const event of ["uncaughtException", "unhandledRejection"]) process.on(event, (error) => uncaught.push(error));

watchSockets();
if (process.argv.includes("--trace-handles")) traceHandles();
// node's test runner sets it at each run.
process.env.NODE_TEST_WORKER_ID = "1";
process.on("message", async (request: RunRequest) => process.send?.(await runFile(request)));
process.on("disconnect", () => process.exit());
// They are sockets, which keep the process running.
for (const output of [process.stdout, process.stderr] as Partial<Socket>[]) output.unref?.();

async function runFile(request: RunRequest): Promise<FileResult> {
  forgetHandles();
  const before = readProcessState();
  const [started, cpuBefore] = [performance.now(), cpuMs()];
  uncaught = [];
  const found = await runTests(request);
  flushCompileCache(); // The process is killed at the end, and would not write it.
  const { leaks, ends } = found === undefined ? { leaks: [], ends: true } : await findLeaks(before);
  const late = uncaught.map((error) =>
    failure([["an error that no test caught", describeSocketOf(error) ?? []].flat().join(", of an ")], error),
  );
  const left = leaks.map((leak) => failure(["the file changed its process"], leak));
  return {
    file: request.file,
    passed: 0,
    skipped: {},
    ...found,
    failures: found === undefined ? [] : [...found.failures, ...late, ...left],
    wallMs: performance.now() - started,
    cpuMs: cpuMs() - cpuBefore,
    rssBytes: process.memoryUsage.rss(),
    ends,
  };
}

interface FoundTests {
  passed: number;
  readonly failures: Failure[];
  readonly skipped: Record<string, number>;
}

/** How long a file may load, and its hooks run, before the first test with the chosen name. */
const firstTestMs = 30_000;

/**
 * Runs the tests of a file. Without a test of the chosen name, node's test runner runs the hooks all the same, some of
 * which then fail or wait: nothing is found in such a file.
 */
function runTests(request: RunRequest): Promise<FoundTests | undefined> {
  const found: FoundTests = { passed: 0, failures: [], skipped: {} };
  let hasBegun = request.name === undefined;
  return new Promise((resolve, reject) => {
    const waitMs = Math.min(firstTestMs, request.timeoutMs);
    const timer = setTimeout(() => !hasBegun && resolve(undefined), waitMs).unref();
    readEvents(request, found, () => (hasBegun = true))
      .finally(() => clearTimeout(timer))
      .then(() => resolve(hasBegun ? found : undefined), reject);
  });
}

const hookName = "a hook of the file";

async function readEvents({ file, timeoutMs, name }: RunRequest, found: FoundTests, begun: () => void): Promise<void> {
  const names: string[] = [];
  const events = withoutPromiseHooks(() =>
    run({
      files: [join(root, file)],
      isolation: "none",
      cwd: root,
      timeout: timeoutMs,
      ...(name === undefined ? {} : { testNamePatterns: [new RegExp(escapePattern(name), "i")] }),
    }),
  );
  const end = endOfRun();
  for await (const { type, data } of events) {
    if (type === "test:dequeue") {
      begun();
      end.started(data.nesting);
    } else if (type === "test:complete") end.finished(data.nesting);
    else if (type === "test:start") names.splice(data.nesting, names.length, data.name);
    else if (type === "test:pass" && data.details.type !== "suite") {
      if (data.skip === undefined) found.passed++;
      else found.skipped[reasonOf(data.skip)] = (found.skipped[reasonOf(data.skip)] ?? 0) + 1;
    } else if (type === "test:fail" && data.details.error.failureType !== "subtestsFailed") {
      const { error, type: kind } = data.details;
      const isHook = kind === undefined; // One of the file's, after its tests.
      found.failures.push(failure(isHook ? [hookName] : names.slice(0, data.nesting + 1), error.cause ?? error, data));
      if (isHook) end.hookFailed();
    } else if (type === "test:summary" && !data.success) {
      process.exitCode = undefined; // node's test runner has set it.
      if (found.failures.length + uncaught.length === 0) found.failures.push(failure([hookName], "failed"));
    }
  }
  end.close();
}

/**
 * Keeps the async hook of node's test runner from following promises (the option `trackPromises` of async hooks). With
 * it, an error that nothing catches fails its test; this process reports such errors itself. It would cost an eighth of
 * the CPU time of all tests.
 */
function withoutPromiseHooks<T>(start: () => T): T {
  const prototype = Object.getPrototypeOf(createHook({}));
  const { enable } = prototype;
  prototype.enable = function enableWithoutPromises(this: Record<symbol, boolean>) {
    for (const key of Object.getOwnPropertySymbols(this)) if (key.description === "kNoPromiseHook") this[key] = true;
    return enable.call(this);
  };
  try {
    return start();
  } finally {
    prototype.enable = enable;
  }
}

interface EndOfRun {
  started(nesting: number): void;
  finished(nesting: number): void;
  hookFailed(): void;
  close(): void;
}

/** How long hooks may run after the last test, if the last test has not waited for anything. */
const hooksMs = 30_000;

/**
 * A run of node's test runner ends with the event `beforeExit`, when nothing keeps the process running. So that a file
 * which leaves something open ends too, the event is also emitted when its hooks have ended, or one has failed, after
 * which no other runs.
 */
function endOfRun(): EndOfRun {
  let running = 0;
  let isHooked = false;
  let timer: NodeJS.Timeout | undefined;
  const emit = (): void => void process.emit("beforeExit", 0);
  process.channel?.unref();
  process.once("beforeExit", () => process.channel?.ref());
  return {
    started(nesting) {
      if (nesting > 0) return;
      running++;
      clearTimeout(timer);
      if (!isHooked) after(() => void setImmediate(emit)); // The last hook, since the file has been loaded.
      isHooked = true;
    },
    finished(nesting) {
      if (nesting === 0 && --running === 0) timer = setTimeout(emit, hooksMs).unref();
    },
    hookFailed: () => void setImmediate(emit),
    close: () => clearTimeout(timer),
  };
}

/** The CPU time so far. proc_pid_stat(5): fields 16 and 17 are that of ended children, in hundredths of a second. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  const own = (user + system) / 1000;
  if (process.platform !== "linux") return own;
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
  return own + 10 * (Number(fields[13]) + Number(fields[14]));
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function reasonOf(skip: string | boolean): string {
  return typeof skip === "string" && skip !== "" ? skip : "no reason given";
}

function failure(path: readonly string[], error: unknown, { line }: { line?: number } = {}): Failure {
  const details = typeof error === "string" ? error : inspect(error, { depth: 5, maxStringLength: detailsMax });
  const message = error instanceof Error ? error.message : details;
  return { path, line, message: firstLine(message), details: details.slice(0, detailsMax) };
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] as string;
}
