/**
 * Writes the committed tables of src/data from the facts about the built-in API: `node tools/generate/main.ts FACTS_DIR`.
 * One part a table; each reads what it needs of the directory and writes one file.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { generateGates } from "./gates.ts";
import { generateResources } from "./resources.ts";
import { generateTypes } from "./types.ts";

/** @param factsDir the directory with types.json, resources.json … @param dataDir where the tables go */
type Part = (factsDir: string, dataDir: string) => void;

const parts: readonly Part[] = [generateTypes, generateResources, generateGates];

const [factsDir] = parseArgs({ allowPositionals: true }).positionals;
if (factsDir === undefined) {
  console.error("usage: node tools/generate/main.ts FACTS_DIR");
  process.exit(2);
}
const dataDir = join(import.meta.dirname, "../../src/data");
for (const part of parts) part(factsDir, dataDir);
