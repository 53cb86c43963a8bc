/** The end of a test run: skipped tests, the slowest files, the time of each area, and the failures last. */
import recorded from "./file-seconds.json" with { type: "json" };
import { areaOf, type TestFile } from "./files.ts";
import { indent } from "./progress.ts";
import type { FileResult } from "./protocol.ts";

const slowFiles = 20;
/** The CPU time of each file when it was last recorded, in seconds. */
export const recordedSeconds: Readonly<Record<string, number>> = recorded;

interface RunOptions {
  readonly chosen: readonly TestFile[];
  readonly full: boolean;
  readonly stopped: boolean;
}

/** @returns the lines to print */
export function summarize(results: readonly FileResult[], { chosen, full, stopped }: RunOptions): string[] {
  const isWhole = results.length > slowFiles;
  const sum = (count: (result: FileResult) => number): number =>
    results.reduce((total, result) => total + count(result), 0);
  const skipped = skippedByReason(results);
  const all = [
    ...(isWhole ? slowest(results) : []),
    ...(isWhole ? areas(results) : []),
    ...section(
      "Skipped tests:",
      skipped.map(([reason, count]) => `  ${String(count).padStart(6)}  ${reason}`),
    ),
    ...section("Failures:", results.flatMap(failuresOf)),
    ...(full ? whereToContinue(results, chosen, stopped) : []),
    "",
    `${sum(({ passed }) => passed)} passed, ${sum(({ failures }) => failures.length)} failed, ${sum(countSkipped)} skipped`,
  ];
  return all;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", title, ...lines];
}

function countSkipped({ skipped }: FileResult): number {
  return Object.values(skipped).reduce((sum, count) => sum + count, 0);
}

function skippedByReason(results: readonly FileResult[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { skipped } of results) {
    for (const [reason, count] of Object.entries(skipped)) counts.set(reason, (counts.get(reason) ?? 0) + count);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}

function slowest(results: readonly FileResult[]): string[] {
  const files = [...results].sort((a, b) => b.cpuMs - a.cpuMs).slice(0, slowFiles);
  return section(
    `The slowest ${slowFiles} files, in seconds of CPU time:`,
    files.map(({ file, cpuMs }) => `  ${seconds(cpuMs)}  ${file}`),
  );
}

function areas(results: readonly FileResult[]): string[] {
  const times = new Map<string, { now: number; recorded: number }>();
  for (const { file, cpuMs } of results) {
    const { now, recorded } = times.get(areaOf(file)) ?? { now: 0, recorded: 0 };
    times.set(areaOf(file), { now: now + cpuMs, recorded: recorded + (recordedSeconds[file] ?? 0) });
  }
  const lines = [...times]
    .sort(([, a], [, b]) => b.now - a.now)
    .map(([area, { now, recorded }]) => `  ${seconds(now)}  ${area} (recorded: ${Math.round(recorded)})`);
  return section("Seconds of CPU time of each area:", lines);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1).padStart(6);
}

/** One line with the place and the message, the error, and the command that repeats the file. */
function failuresOf({ file, failures }: FileResult): string[] {
  if (failures.length === 0) return [];
  const lines = failures.map(({ path, line, message, details }) => {
    const place = line === undefined ? file : `${file}:${line}`;
    return `\n  ${place}: ${path.join(" › ")}: ${message}\n${indent(details)}`;
  });
  return [...lines, `  Repeat: npm test -- ${file}`];
}

function whereToContinue(results: readonly FileResult[], chosen: readonly TestFile[], stopped: boolean): string[] {
  if (!stopped) return [];
  const passed = new Set(results.filter(({ failures }) => failures.length === 0).map(({ file }) => file));
  const next = chosen.find(({ path }) => !passed.has(path));
  return next === undefined ? [] : ["", `Continue: npm run test:full -- --from ${next.path}`];
}
