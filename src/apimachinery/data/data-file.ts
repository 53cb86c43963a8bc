/** Reads the generated files, which are next to this module, in the sources and in the bundled package alike (tools/build.ts keeps it so). */
import { readFileSync } from "node:fs";

/**
 * @param name such as `types.json`
 * @returns undefined if there is no such file
 */
export function readDataFile(name: string): Buffer | undefined {
  try {
    return readFileSync(new URL(`./${name}`, import.meta.url));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: each caller knows the shape of the table it reads.
const tables = new Map<string, any>();

/** Reads a generated table, once per process. Callers must not change it. */
// biome-ignore lint/suspicious/noExplicitAny: see above.
export function readTable(name: string): any {
  if (!tables.has(name)) tables.set(name, JSON.parse(String(readDataFile(name))));
  return tables.get(name);
}
