/**
 * `npm test`: runs the test files in long-lived processes, two more than there are cores: files often wait for kubectl
 * and other processes that they start.
 * docs/how-to/run-tests.md describes it for contributors.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { chooseFiles, findTestFiles, root, type TestFile } from "./files.ts";
import { runPool } from "./pool.ts";
import { progress } from "./progress.ts";
import type { FileResult } from "./protocol.ts";
import { recordedSeconds, summarize } from "./summary.ts";

/** The reasons for skipped tests in the last run of each file. */
const lastRunFile = join(root, "node_modules/.cache/tests/last-run.json");

interface LastRun {
  [path: string]: { readonly skipped: readonly string[] };
}

interface Options {
  readonly full?: boolean;
  readonly from?: string;
  readonly skipped?: true;
  readonly workers: number;
  readonly list?: true;
  readonly traceHandles?: boolean;
  readonly recordTimes?: true;
}

const program = new Command("npm test --")
  .description("Runs the tests.")
  .argument("[words...]", "parts of paths of test files, or else of names of tests; all files without one")
  .option("--full", "full sizes of random, kill, fuzz and model tests, as `npm run test:full`")
  .option("--from <path>", "continues a run with --full at this file")
  .option("--skipped", "only files of which the last run skipped tests because something was not installed")
  .option("--list", "prints the chosen files and runs nothing")
  .option("--trace-handles", "names the places where handles that a file left open were created")
  .option("--record-times", "writes the CPU time of each file to tools/test/file-seconds.json")
  .option("--workers <count>", "processes that run at the same time", parseCount, availableParallelism() + 2);
program.parse();
process.exitCode = await main(program.args, program.opts<Options>());

async function main(words: readonly string[], options: Options): Promise<number> {
  const lastRun = readLastRun();
  const chosen = chooseFiles(findTestFiles(), words)
    .filter(({ path }) => options.skipped === undefined || lastRun[path]?.skipped.some(isOfMachine))
    .filter(({ path }) => options.from === undefined || path >= options.from);
  if (chosen.length === 0 && options.skipped) {
    console.log("The last run skipped no test.");
    return 0;
  }
  if (chosen.length === 0) {
    console.error("No test file and no test matches.");
    return 2;
  }
  if (words.length > 0 || options.list) for (const file of chosen) console.log(describe(file));
  if (options.list) return 0;
  const full = options.full === true || process.env.COXSWAIN_TEST_FULL === "1";
  const { results, stopped } = await runFiles(full ? chosen : longestFirst(chosen), { ...options, full });
  writeLastRun(lastRun, results);
  if (options.recordTimes) recordTimes(results);
  for (const line of summarize(results, { chosen, full, stopped })) console.log(line);
  return stopped || results.some(({ failures }) => failures.length > 0) ? 1 : 0;
}

async function runFiles(
  files: readonly TestFile[],
  { full, workers, traceHandles = false }: Options,
): Promise<{ results: FileResult[]; stopped: boolean }> {
  const results: FileResult[] = [];
  let stopped = false;
  const show = progress(files.length);
  const pool = runPool(files, {
    workers: Math.min(workers, files.length),
    testTimeoutMs: full ? 1_800_000 : 300_000,
    environment: full ? { ...process.env, COXSWAIN_TEST_FULL: "1" } : process.env,
    traceHandles,
    started: show.started,
    finished(result, output) {
      results.push(result);
      show.finished(result, output);
    },
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      stopped = true;
      pool.stop();
    });
  }
  await pool.ended;
  show.end();
  return { results, stopped };
}

/** Whether a test was skipped because something is not installed, and not because of its size. */
function isOfMachine(reason: string): boolean {
  return !reason.includes("COXSWAIN_TEST_FULL");
}

/** The longest files begin, so that no process works alone at the end; a new file counts as long. */
function longestFirst(files: readonly TestFile[]): TestFile[] {
  const secondsOf = ({ path }: TestFile): number => recordedSeconds[path] ?? 10;
  return [...files].sort((a, b) => secondsOf(b) - secondsOf(a));
}

function describe({ path, name }: TestFile): string {
  return name === undefined ? path : `${path}: tests with “${name}” in their name`;
}

function readLastRun(): LastRun {
  try {
    return JSON.parse(readFileSync(lastRunFile, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || error instanceof SyntaxError) return {};
    throw error;
  }
}

function writeLastRun(lastRun: LastRun, results: readonly FileResult[]): void {
  const ran = results.map(({ file, skipped }) => [file, { skipped: Object.keys(skipped) }]);
  mkdirSync(dirname(lastRunFile), { recursive: true });
  writeFileSync(lastRunFile, JSON.stringify({ ...lastRun, ...Object.fromEntries(ran) }));
}

/** Writes the times of the files that ran, and keeps those of the others that still exist. */
function recordTimes(results: readonly FileResult[]): void {
  const seconds = { ...recordedSeconds };
  for (const { file, cpuMs } of results) seconds[file] = Math.round(cpuMs / 100) / 10;
  const sorted = Object.fromEntries(findTestFiles().map(({ path }) => [path, seconds[path] ?? 0]));
  writeFileSync(join(import.meta.dirname, "file-seconds.json"), `${JSON.stringify(sorted, undefined, 2)}\n`);
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new InvalidArgumentError("is not a number from 1 to 999");
  return Number(text);
}
