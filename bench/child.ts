/** Starts a script in a separate process, and queries its CPU time and memory. */
import { type ChildProcess, fork } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { type Profiler, Session } from "node:inspector/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { type Stall, watchLoop } from "./loop-stalls.ts";

export interface Usage {
  /** User and system CPU time of the process, in milliseconds. */
  readonly cpuMs: number;
  /** The part of the main thread. */
  readonly mainCpuMs: number;
  readonly rssMiB: number;
  /** Anonymous memory, and mapped file pages (Linux; 0 elsewhere). */
  readonly rssAnonMiB: number;
  readonly rssFileMiB: number;
  /** The longest time the event loop was blocked since the last query, in milliseconds. */
  readonly heldMs: number;
  /** The same since the start. */
  readonly heldMaxMs: number;
}

export interface Child {
  /** The message that the script sent when it was ready. */
  readonly ready: Record<string, string>;
  readonly readyMs: number;
  readonly pid: number;
  usage(): Promise<Usage>;
  /** Bytes of objects and buffers after a garbage collection. */
  liveMiB(): Promise<number>;
  startProfile(): Promise<void>;
  stopProfile(): Promise<Profiler.Profile>;
  /** Runs something, and returns the longest turn of the event loop meanwhile. */
  stallDuring(run: () => Promise<unknown>): Promise<Stall>;
  stop(): Promise<void>;
}

/** @param core the only core on which the process runs; default: all (Linux) */
export function startChild(script: URL, args: readonly string[], { core }: { core?: number } = {}): Promise<Child> {
  const startedAt = performance.now();
  const flags = ["--max-semi-space-size=8", "--heap-growing-percent=60", "--expose-gc"]; // As the command runs.
  const child = fork(script, args, {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: { ...process.env, MALLOC_ARENA_MAX: "1" },
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
        pid: child.pid as number,
        usage: () => ask<Usage>(child, "usage"),
        liveMiB: () => ask<number>(child, "live"),
        startProfile: () => ask<void>(child, "startProfile"),
        stopProfile: () => ask<Profiler.Profile>(child, "stopProfile"),
        async stallDuring(run) {
          await ask<Stall>(child, "stall");
          await run();
          return ask<Stall>(child, "stall");
        },
        async stop() {
          const { heldMaxMs } = await ask<Usage>(child, "usage");
          if (!isBaseline(script))
            console.log(`The event loop of the server was held for at most ${heldMaxMs.toFixed(0)} ms.`);
          await stop(child);
        },
      });
    });
  });
}

/** Whether the script has no server of this project. */
function isBaseline({ pathname }: URL): boolean {
  return pathname.endsWith("server-bare.ts");
}

type Question = "usage" | "live" | "startProfile" | "stopProfile" | "stall";

function ask<Answer>(child: ChildProcess, question: Question): Promise<Answer> {
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
  const delays = { recent: monitorEventLoopDelay({ resolution: 1 }), longestMs: 0 };
  delays.recent.enable();
  const session = new Session();
  let endWatch: (() => Stall) | undefined;
  const answers: Readonly<Record<Question, () => unknown>> = {
    usage: () => usageOf(delays),
    live: liveMiB,
    startProfile: () => startProfile(session),
    stall() {
      const stall = endWatch?.();
      endWatch = endWatch === undefined ? watchLoop() : undefined;
      return stall;
    },
    stopProfile: async () => (await session.post("Profiler.stop")).profile,
  };
  process.once("disconnect", () => process.exit()); // The bench was interrupted.
  process.on("message", async (question: Question) => process.send?.((await answers[question]()) ?? null));
  process.send?.(ready);
}

async function startProfile(session: Session): Promise<void> {
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: 200 });
  await session.post("Profiler.start");
}

/** The delays of an event loop since the last query, and the longest before. */
interface LoopDelays {
  readonly recent: ReturnType<typeof monitorEventLoopDelay>;
  longestMs: number;
}

function usageOf(delays: LoopDelays): Usage {
  const { user, system } = process.cpuUsage();
  const main = process.threadCpuUsage();
  const heldMs = delays.recent.max / 1e6;
  delays.longestMs = Math.max(delays.longestMs, heldMs);
  delays.recent.reset();
  const rssMiB = process.memoryUsage.rss() / (1 << 20);
  return {
    cpuMs: (user + system) / 1000,
    mainCpuMs: (main.user + main.system) / 1000,
    rssMiB,
    rssAnonMiB: statusMiB("RssAnon"),
    rssFileMiB: statusMiB("RssFile"),
    heldMs,
    heldMaxMs: delays.longestMs,
  };
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
