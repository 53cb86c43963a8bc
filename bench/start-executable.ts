/** For start.ts: the size of the single executable, and its start time and those of the packed command and of a bare `node -e 0`. */
import { execFileSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { median } from "./median.ts";

const rounds = 5;
const executable = join(import.meta.dirname, "../executable/coxswain");

/** Prints medians of some runs of each, which alternate. @param main the file of the packed command */
export function executableBench(main: string): void {
  if (!existsSync(executable)) {
    console.log("no single executable: npm run executable builds it");
    return;
  }
  console.log(`the single executable: ${(statSync(executable).size / 1e6).toFixed(0)} MB`);
  const server = ["test", "--", "true"];
  const rows: [what: string, program: readonly string[]][] = [
    ["node -e 0", [process.execPath, "-e", "0"]],
    ["coxswain version, single executable", [executable, "version"]],
    ["coxswain version, package", [process.execPath, main, "version"]],
    ["coxswain test -- true, single executable", [executable, ...server]],
    ["coxswain test -- true, package", [process.execPath, main, ...server]],
  ];
  const times = rows.map((): number[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [index, [, program]] of rows.entries()) times[index]?.push(timed(program));
  for (const [index, [what]] of rows.entries()) console.log(`${what}: ${median(times[index] ?? []).toFixed(0)} ms`);
}

function timed([program = "", ...args]: readonly string[]): number {
  const from = performance.now();
  execFileSync(program, args, { stdio: "ignore" });
  return performance.now() - from;
}
