/** Runs the server as a command: flags, signals, exit codes. */
import { existsSync } from "node:fs";
import nodeModule from "node:module";
import { constants } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { systemClock } from "../apimachinery/clock.ts";
import { keepCompiledModules } from "../apimachinery/compile-cache.ts";
import { type Logger, stackOf } from "../apimachinery/logger.ts";
import type { RunningServer, ServerOptions } from "../server/options.ts";
import { startServer } from "../server/start-server.ts";
import { hasColors } from "./colors.ts";
import { exitDamagedStore, exitNotStarted, exitSignal } from "./exit-codes.ts";
import { type CommandOptions, FlagError, type LogOptions, type Settings } from "./flags/contract.ts";
import { parseFlags } from "./flags/parse-flags.ts";
import { logOutput } from "./log-output.ts";
import { createLogger } from "./logger.ts";
import { reportError } from "./output.ts";
import { starting, welcome, welcomeDetails } from "./welcome.ts";

/**
 * Serves until a signal ends the process. The exit code is 1 if the start fails, 3 if the store is
 * damaged.
 *
 * @param beforeStart called with the settings of the command line
 */
export async function serve(argv: readonly string[], beforeStart?: (settings: Settings) => void): Promise<void> {
  try {
    const line = parseFlags(argv);
    if (line.run === "print") process.stdout.write(line.text);
    else {
      beforeStart?.(line.settings);
      await run(line.settings);
    }
  } catch (error) {
    await printProblem(error);
    process.exit(isDamage(error) ? exitDamagedStore : exitNotStarted);
  }
}

/** By its name: in the package, the server has classes of its own, because it is bundled separately. */
function isDamage(error: unknown): boolean {
  return error instanceof Error && error.name === "DamagedStore";
}

async function printProblem(error: unknown): Promise<void> {
  const err = (text: string): void => void process.stderr.write(text);
  await reportError(error, { out: err, err, errColors: hasColors("auto", process.stderr, process.env) });
  if (error instanceof FlagError) err("Run coxswain serve --help for its flags.\n");
}

async function run({ server: options, command, flags, warnings }: Settings): Promise<void> {
  for (const warning of warnings) process.stderr.write(`${warning}\n`);
  limitHeapGrowth();
  keepCompileCache(options.dataDir);
  const { logger, flush } = openLog(command.log);
  const isColored = hasColors(command.color, process.stdout, process.env);
  const terminal = (text: string): void => void (process.stdout.isTTY && process.stdout.write(text));
  terminal(starting(options));
  const verbosity = { level: 0, modules: [], ...options.verbosity }; // It changes while the server runs.
  const server = await start({ ...options, flags, logger, verbosity }, command).finally(flush);
  process.on("exit", flush);
  closeOnSignal(server);
  serveOn(logger);
  terminal(welcomeDetails(options, { isColored }));
  process.stdout.write(welcome(server));
}

function openLog(options: LogOptions): { readonly logger: Logger; readonly flush: () => void } {
  const streams = {
    out: (text: string) => void process.stdout.write(text),
    err: (text: string) => void process.stderr.write(text),
  };
  const output = logOutput(options, streams, (ms, run) => void setInterval(run, ms).unref());
  return {
    logger: createLogger({ format: options.format, now: systemClock.now, write: output.write }),
    flush: output.flush,
  };
}

/**
 * How much the heap grows, in relation to the live objects after a collection of all garbage, before the next one. V8
 * would let a heap of this size grow to three times of them, and keeps the memory.
 */
const heapGrowthPercent = 60;

/** Only in Node.js: other runtimes have no such function, or another collector. */
function limitHeapGrowth(): void {
  const { bun, deno } = process.versions;
  if (bun === undefined && deno === undefined) setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent}`);
}

/** Loads the test kit when the server needs it. */
async function start(
  options: Partial<ServerOptions>,
  { testControl, virtualClock: isVirtual }: CommandOptions,
): Promise<RunningServer> {
  if (!testControl) return startServer(options);
  const { startControlledServer, virtualClock } = await import("../testing/index.ts");
  return startControlledServer({ ...options, ...(isVirtual && { clock: virtualClock() }) });
}

/**
 * Keeps what V8 compiles in `compiled` of the data directory, which only its owner can write, so that it needs no home directory. On the first start,
 * which has yet to create the data directory with these permissions, and without one, it is kept in a directory of the user.
 */
function keepCompileCache(dataDir: string | undefined): void {
  if (dataDir === undefined || !existsSync(dataDir)) keepCompiledModules();
  else nodeModule.enableCompileCache?.(join(dataDir, "compiled"));
}

/** npm forwards a signal that the terminal has also sent to this process; both count as one. */
const echoMs = process.env.npm_lifecycle_event === undefined ? 0 : 200;

/**
 * The first signal drains; the second exits at once with the shell's code for a process that a
 * signal ended.
 */
function closeOnSignal(server: RunningServer): void {
  let firstAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    const now = performance.now();
    if (firstAt !== undefined) {
      if (now - firstAt >= echoMs) process.exit(exitSignal + constants.signals[signal]);
      return;
    }
    firstAt = now;
    server.close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`Error: ${stackOf(error)}\n`);
        process.exit(exitNotStarted);
      },
    );
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}

/**
 * The last boundary: what no other one has caught is logged, and the server goes on. It is not installed before the
 * start has succeeded, which reports its own errors.
 */
function serveOn(logger: Logger): void {
  const report = (error: unknown): void => logger.error("Unexpected error", { error: stackOf(error) });
  process.on("uncaughtException", report);
  process.on("unhandledRejection", report);
  // The reader of the log has gone: the log is lost, not the server.
  for (const output of [process.stdout, process.stderr]) output.on("error", () => {});
}
