/** Runs test files in a few processes that live long, each of which runs many files. */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import type { TestFile } from "./files.ts";
import type { FileResult, RunRequest } from "./protocol.ts";

/** A worker with more memory is replaced after its file. */
const rssBytesMax = 1_500 * 1024 * 1024;
/** The last output of a file that is kept. */
const outputMax = 200_000;

export interface PoolOptions {
  readonly workers: number;
  readonly testTimeoutMs: number;
  readonly environment: NodeJS.ProcessEnv;
  /** Whether leaks are reported with the places where handles were created. */
  readonly traceHandles: boolean;
  /** Is called before a file runs. */
  started(file: string): void;
  /** Is called with the result of each file, and with what it printed. */
  finished(result: FileResult, output: string): void;
}

interface Worker {
  run(request: RunRequest): Promise<{ result: FileResult; output: string }>;
  end(): void;
}

/** Runs all files. @returns a promise for the end, and a function that ends all processes at once */
export function runPool(files: readonly TestFile[], options: PoolOptions): { ended: Promise<void>; stop(): void } {
  const queue = [...files];
  const running = new Set<Worker>();
  async function work(): Promise<void> {
    let worker: Worker | undefined;
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      if (file.ownProcess !== undefined || worker === undefined) {
        worker?.end();
        worker = startWorker(options, running, file.nodeFlags);
      }
      options.started(file.path);
      const request = { file: file.path, name: file.name, timeoutMs: options.testTimeoutMs };
      const { result, output } = await worker.run(request);
      options.finished(result, output);
      if (file.ownProcess !== undefined || result.ends || result.rssBytes > rssBytesMax) {
        worker.end();
        worker = undefined;
      }
    }
    worker?.end();
  }
  const ended = Promise.all(Array.from({ length: options.workers }, work)).then(() => undefined);
  return {
    ended,
    stop() {
      queue.length = 0;
      for (const worker of running) worker.end();
    },
  };
}

function startWorker(
  { environment, traceHandles, testTimeoutMs }: PoolOptions,
  running: Set<Worker>,
  nodeFlags: readonly string[] = [],
): Worker {
  const child = fork(join(import.meta.dirname, "worker.ts"), traceHandles ? ["--trace-handles"] : [], {
    env: environment,
    execArgv: [...nodeFlags, "--import", join(import.meta.dirname, "../../test/support/compile-cache.ts")],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    detached: hasGroups,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (piece) => {
      output = `${output}${piece}`.slice(-outputMax);
    });
  }
  const worker: Worker = {
    async run(request) {
      output = "";
      const result = await resultOf(child, request, 2 * testTimeoutMs);
      return { result, output };
    },
    end() {
      running.delete(worker);
      endGroup(child);
    },
  };
  running.add(worker);
  return worker;
}

/** Whether a process can be ended with those that it started. */
const hasGroups = process.platform !== "win32";

/** Ends a worker and the processes that its files left. */
function endGroup(child: ChildProcess): void {
  if (!hasGroups || child.pid === undefined) return void child.kill("SIGKILL");
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function resultOf(child: ChildProcess, request: RunRequest, timeoutMs: number): Promise<FileResult> {
  const started = performance.now();
  return new Promise((resolve) => {
    const finish = (result: FileResult): void => {
      clearTimeout(timer);
      child.off("message", finish);
      child.off("exit", exited);
      resolve(result);
    };
    const fail = (message: string): void => finish(failed(request.file, message, performance.now() - started));
    const exited = (code: number | null, signal: string | null): void =>
      fail(`the process of the file ended with ${signal ?? `code ${code}`}`);
    const timer = setTimeout(() => fail(`the file did not end within ${timeoutMs / 1000} s`), timeoutMs);
    child.once("message", finish);
    child.once("exit", exited);
    child.send(request);
  });
}

function failed(file: string, message: string, wallMs: number): FileResult {
  const failures = [{ path: ["the file"], message, details: message }];
  return { file, passed: 0, failures, skipped: {}, wallMs, cpuMs: 0, rssBytes: 0, ends: true };
}
