/**
 * Bundles the command for tests that start it as a process, which halves the time of a start, and prints the path of
 * its file. A bundle is used again until a source changes.
 */
import { createHash } from "node:crypto";
import { globSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { writeBundles } from "./bundles.ts";
import { writeDescriptions } from "./generate/descriptions.ts";

const root = join(import.meta.dirname, "..");
/** Below node_modules, where the bundles find the packages that they import. */
const cache = join(root, "node_modules/.cache/program");
/** Bundles of other sources that stay. */
const newestKept = 4;

const directory = join(cache, sourcesHash());
mkdirSync(cache, { recursive: true });
if (!readdirSync(cache).includes(basename(directory))) await build();
console.log(join(directory, "main.js"));

/** Several processes may build at the same time: the first that finishes wins, and the others remove their copy. */
async function build(): Promise<void> {
  const building = mkdtempSync(join(cache, "building-"));
  try {
    await writeBundles(relative(root, building));
    await writeDescriptions(building);
    for (const old of olderBundles()) rmSync(join(cache, old), { recursive: true, force: true });
    renameSync(building, directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
}

/** Other runs may still use the newest bundles of other sources. */
function olderBundles(): string[] {
  const byAge = readdirSync(cache).sort((a, b) => modifiedMs(join(cache, b)) - modifiedMs(join(cache, a)));
  return byAge.filter((name) => !name.startsWith("building-")).slice(newestKept);
}

function sourcesHash(): string {
  const hash = createHash("sha256");
  const files = globSync("{src,tools}/**/*.{ts,json}", { cwd: root, exclude: ["**/node_modules/**", "**/*.test.ts"] });
  for (const file of [...files.sort(), "package-lock.json"]) {
    const { mtimeMs, size } = statSync(join(root, file));
    hash.update(`${file} ${mtimeMs} ${size}\n`);
  }
  return hash.digest("hex").slice(0, 16);
}

function modifiedMs(path: string): number {
  return statSync(path).mtimeMs;
}
