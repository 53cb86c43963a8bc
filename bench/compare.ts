/**
 * `npm run bench -- --compare BASE`: which lines of the bench a change has moved. Builds the revision BASE and the working tree, and runs
 * their servers in turns, so that what else the machine does concerns both. On Linux.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Costs, costsInTurns, startBuilt } from "./cost-lines.ts";
import { type Comparison, compare, criticalT } from "./paired-ratio.ts";

/** The probability that any line of two equal trees gets a verdict. */
const mistakes = 0.05;

interface CompareOptions {
  /** The size of the collection. */
  readonly objects: number;
  readonly pairs: number;
}

const root = join(import.meta.dirname, "..");

/** Prints a row for each line. @param revision of Git */
export async function compareBench(revision: string, { objects, pairs }: CompareOptions): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-compare-"));
  try {
    const base = buildRevision(revision, join(directory, "base"));
    const now = buildTree(join(directory, "now"));
    const runs: { base: Costs; now: Costs }[] = [];
    for (let pair = 0; pair < pairs; pair++) {
      console.error(`Pair ${pair + 1} of ${pairs} …`);
      const [before, after] = await costsInTurns([await startBuilt(base), await startBuilt(now)], objects);
      runs.push({ base: before as Costs, now: after as Costs });
    }
    print(runs);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @returns its main.js */
function buildRevision(revision: string, directory: string): string {
  mkdirSync(directory);
  const archive = execFileSync("git", ["archive", revision], { cwd: root, maxBuffer: 1 << 30 });
  execFileSync("tar", ["-x", "-C", directory], { input: archive });
  const lockOf = (folder: string): string => readFileSync(join(folder, "package-lock.json"), "utf8");
  for (const folder of ["", "tools/docs"]) {
    const [ours, theirs] = [join(root, folder), join(directory, folder)];
    if (lockOf(ours) === lockOf(theirs)) symlinkSync(join(ours, "node_modules"), join(theirs, "node_modules"));
    else execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: theirs, stdio: ["ignore", 2, 2] });
  }
  return build(directory, directory);
}

/** Later changes of the tree concern neither server. @returns main.js of a copy */
function buildTree(directory: string): string {
  return build(root, directory);
}

function build(folder: string, target: string): string {
  console.error(`Building ${folder === root ? "the working tree" : "the base"} …`);
  execFileSync(process.execPath, [join(folder, "tools/build.ts")], { stdio: ["ignore", 2, 2] });
  const copy = join(target, "built/dist");
  cpSync(join(folder, "dist"), copy, { recursive: true });
  cpSync(join(folder, "package.json"), join(target, "built/package.json"));
  symlinkSync(join(folder, "node_modules"), join(target, "built/node_modules"));
  return join(copy, "main.js");
}

function print(runs: readonly { readonly base: Costs; readonly now: Costs }[]): void {
  const lines = [...(runs[0] as { now: Costs }).now.keys()];
  const critical = criticalT(runs.length - 1, mistakes / lines.length);
  console.log(row("ms of CPU time", ["base", "now", "ratio", "interval", "verdict"]));
  for (const line of lines) {
    const pairs = runs.map(({ base, now }) => ({ base: base.get(line) as number, now: now.get(line) as number }));
    const mean = (side: "base" | "now"): string =>
      (pairs.reduce((sum, pair) => sum + pair[side], 0) / pairs.length).toPrecision(3);
    const { ratio, low, high, verdict }: Comparison = compare(pairs, critical);
    const interval = `${low.toFixed(2)} to ${high.toFixed(2)}`;
    console.log(row(line, [mean("base"), mean("now"), ratio.toFixed(3), interval, verdict]));
  }
}

function row(line: string, cells: readonly string[]): string {
  const [base = "", now = "", ratio = "", interval = "", verdict = ""] = cells;
  return `${line.padEnd(36)} ${base.padStart(9)} ${now.padStart(9)} ${ratio.padStart(7)} ${interval.padStart(14)}   ${verdict}`;
}
