/** Writes the tables in src/apimachinery/data from the facts in data/, one module for each table. */
import { join } from "node:path";
import { generateGates } from "./gates.ts";
import { generateResources } from "./resources.ts";
import { generateTypes } from "./types.ts";

/** Writes gates.json, resources.json and types.json into a directory. */
export function generateTables(dataDir: string): void {
  const factsDir = join(import.meta.dirname, "data");
  for (const generate of [generateTypes, generateResources, generateGates]) generate(factsDir, dataDir);
}
