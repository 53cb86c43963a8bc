/**
 * `node tools/patterns/check.ts [--write]`: fails for each regular expression of the product whose
 * time is not linear, unless a comment `Bounded:` at it names the limit of its input. The verdicts on
 * known patterns are in verdicts.json, because the analysis takes minutes; `--write` adds those on
 * new patterns, and removes those on patterns that are gone.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { analyze, safe } from "./analyze.ts";
import { productPatterns } from "./source-patterns.ts";

const root = join(import.meta.dirname, "../..");
const verdictsFile = join(import.meta.dirname, "verdicts.json");
const program = new Command("npm run patterns")
  .description("Fails for each regular expression of the product whose time is not linear.")
  .option("--write", "analyzes new ones, which takes minutes, and records the verdicts")
  .parse();
const doesWrite = program.opts<{ write?: true }>().write === true;
const timeoutMs = doesWrite ? 120_000 : 20_000;

const known = new Map(Object.entries(JSON.parse(readFileSync(verdictsFile, "utf8")) as Record<string, string>));
const { patterns, unknown } = await productPatterns(root);
const problems = unknown.map(
  (place) => `${place}: build this pattern while the module loads, or name the limit of its input: // Bounded: …`,
);
const used = new Map<string, string>();
for (const { place, source, flags, bound } of patterns) {
  const key = `/${source}/${flags}`;
  const verdict = used.get(key) ?? known.get(key) ?? analyzeNew(key, source, flags);
  used.set(key, verdict);
  if (verdict !== safe && bound === undefined)
    problems.push(`${place}: ${key} is not linear (${verdict}): use a scanner, or name the limit: // Bounded: …`);
}
const stale = [...known.keys()].filter((key) => !used.has(key));
const isCurrent = stale.length === 0 && used.size === known.size;
if (doesWrite) writeFileSync(verdictsFile, formatVerdicts(used));
else if (!isCurrent) problems.push("tools/patterns/verdicts.json is not current: npm run patterns");
for (const problem of problems) console.error(problem);
console.log(`${used.size} regular expressions, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

function analyzeNew(key: string, source: string, flags: string): string {
  console.error(`Analyzing ${key}`);
  return analyze(source, flags, timeoutMs);
}

function formatVerdicts(verdicts: ReadonlyMap<string, string>): string {
  const sorted = [...verdicts].sort(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`;
}
