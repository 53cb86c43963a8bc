/** For start.ts: what tests wait for that use the packed test kit: servers, forks, snapshots of 10,000 objects, and memory of 200 servers. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { median } from "./median.ts";

interface Started {
  readonly startMs: readonly number[];
  readonly closeMs: readonly number[];
}

interface Speed {
  readonly importMs: number;
  readonly firstMs: number;
  readonly further: Started;
  readonly forks: Started;
  readonly snapshotMs: number;
  readonly restoreMs: { readonly few: readonly number[]; readonly all: number };
  readonly closeMs: number;
}

const rounds = 3;
const measuring = join(import.meta.dirname, "test-kit-process.ts");

/** Prints medians; start-library.ts measures a bare `node -e 0` and a bare server in the same run. */
export function testKitBench(file: string): void {
  const run = (what: string): string => execFileSync(process.execPath, [measuring, file, what], { encoding: "utf8" });
  const figures: Speed[] = Array.from({ length: rounds }, () => JSON.parse(run("speed")));
  const all = (of: (figure: Speed) => number | readonly number[]): number => median(figures.flatMap(of));
  const rows: [what: string, ms: number, goalMs?: number][] = [
    ["import", all((one) => one.importMs)],
    ["first server", all((one) => one.firstMs)],
    ["import and first server", all((one) => one.importMs + one.firstMs), 100],
    ["second server", all(({ further }) => further.startMs.slice(0, 1)), 15],
    ["a further server", all(({ further }) => further.startMs.slice(1)), 15],
    ["close", all(({ further }) => further.closeMs), 5],
    ["fork, 10,000 objects", all(({ forks }) => forks.startMs), 5],
    ["close of a fork", all(({ forks }) => forks.closeMs), 5],
    ["snapshot, 10,000 objects", all((one) => one.snapshotMs)],
    ["restore, 100 of 10,000 objects changed", all(({ restoreMs }) => restoreMs.few), 5],
    ["restore, 10,000 of 10,000 objects changed", all(({ restoreMs }) => restoreMs.all)],
  ];
  for (const [what, ms, goalMs] of rows)
    console.log(`test kit, ${what}: ${ms.toFixed(1)} ms${goalMs === undefined ? "" : `  goal: ${goalMs} ms`}`);
  for (const what of ["servers", "forks"]) {
    const { rssMiB } = JSON.parse(run(what));
    console.log(`test kit, 200 ${what} in one process: ${rssMiB.toFixed(0)} MiB  goal: 700 MiB`);
  }
}
