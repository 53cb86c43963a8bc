/** Starts a script in a separate process, and queries its CPU time and memory. */
import { type ChildProcess, fork } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

export interface Usage {
  /** User and system CPU time of the process, in milliseconds. */
  readonly cpuMs: number;
  readonly rssMiB: number;
  /** Anonymous memory, and mapped file pages (Linux; 0 elsewhere). */
  readonly rssAnonMiB: number;
  readonly rssFileMiB: number;
  /** The longest time the event loop was blocked since the last query, in milliseconds. */
  readonly heldMs: number;
}

export interface Child {
  /** The message that the script sent when it was ready. */
  readonly ready: Record<string, string>;
  readonly readyMs: number;
  usage(): Promise<Usage>;
  /** Bytes of objects and buffers after a garbage collection. */
  liveMiB(): Promise<number>;
  stop(): Promise<void>;
}

/** @param core the only core on which the process runs; default: all (Linux) */
export function startChild(script: URL, args: readonly string[], { core }: { core?: number } = {}): Promise<Child> {
  const startedAt = performance.now();
  const flags = ["--max-semi-space-size=8", "--expose-gc"]; // As `npm start` runs it.
  const child = fork(script, args, {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    ...(core === undefined
      ? { execArgv: flags }
      : { execPath: "taskset", execArgv: ["-c", String(core), process.execPath, ...flags] }),
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${script.pathname} exited with ${code} before it was ready`)));
    child.once("message", (ready) => {
      child.removeAllListeners("exit");
      resolve({
        ready: ready as Record<string, string>,
        readyMs: performance.now() - startedAt,
        usage: () => ask<Usage>(child, "usage"),
        liveMiB: () => ask<number>(child, "live"),
        stop: () => stop(child),
      });
    });
  });
}

function ask<Answer>(child: ChildProcess, question: "usage" | "live"): Promise<Answer> {
  return new Promise((resolve) => {
    child.once("message", (answer) => resolve(answer as Answer));
    child.send(question);
  });
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}

/** Called by the script: reports that it is ready, and answers queries about its usage. */
export function serveParent(ready: Record<string, string>): void {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  process.on("message", (question) => {
    if (question === "live") return void process.send?.(liveMiB());
    const { user, system } = process.cpuUsage();
    const heldMs = delay.max / 1e6;
    delay.reset();
    const rssMiB = process.memoryUsage.rss() / (1 << 20);
    process.send?.({
      cpuMs: (user + system) / 1000,
      rssMiB,
      rssAnonMiB: statusMiB("RssAnon"),
      rssFileMiB: statusMiB("RssFile"),
      heldMs,
    } satisfies Usage);
  });
  process.send?.(ready);
}

function liveMiB(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / (1 << 20);
}

function statusMiB(field: string): number {
  const file = "/proc/self/status";
  if (!existsSync(file)) return 0;
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(file, "latin1"))?.[1] ?? 0) / 1024;
}
