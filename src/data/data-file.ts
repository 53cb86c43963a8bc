/** Where the generated tables are: beside this module, in the sources and in the bundled package alike (tools/build.ts keeps it so). */
import { readFileSync } from "node:fs";

/** @param name such as `types.json` */
export function dataFile(name: string): URL {
  return new URL(`./${name}`, import.meta.url);
}

/** Reads a generated table. */
// biome-ignore lint/suspicious/noExplicitAny: each caller knows the shape of the table it reads.
export function readTable(name: string): any {
  return JSON.parse(readFileSync(dataFile(name), "utf8"));
}
