/** Reads the generated files, which are beside this module, in the sources and in the bundled package alike (tools/build.ts keeps it so). */
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

/** Reads a generated table. */
// biome-ignore lint/suspicious/noExplicitAny: each caller knows the shape of the table it reads.
export function readTable(name: string): any {
  return JSON.parse(String(readDataFile(name)));
}
