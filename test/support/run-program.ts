/** Runs programs of documents within the process of the test, which has loaded the sources that they import. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { format } from "node:util";
import { linkPackage } from "./built-package.ts";
import { importingSources } from "./package-sources.ts";

const outputs = new Map<string, string>();

/** The `console` of a program, by the file of the program. */
export function consoleOf(file: string): Pick<Console, "log"> {
  return {
    log(...values) {
      outputs.set(file, `${outputs.get(file) ?? ""}${format(...values)}\n`);
    },
  };
}

/**
 * Runs a program until its last line. Within `describe`, its tests and hooks become those of the suite.
 *
 * @param code TypeScript that imports the package and @kubernetes/client-node by their names
 * @returns what it printed with `console.log`
 * @throws what the program throws
 */
export async function runProgram(code: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-program-"));
  const file = join(directory, "program.ts");
  const prologue = `import { consoleOf } from "${import.meta.url}"; const console = consoleOf(import.meta.filename);`;
  try {
    linkPackage(directory, "@kubernetes/client-node");
    writeFileSync(join(directory, "package.json"), '{"type":"module"}');
    writeFileSync(file, `${prologue}\n${importingSources(code)}`);
    await import(pathToFileURL(file).href);
    return outputs.get(file) ?? "";
  } finally {
    outputs.delete(file);
    rmSync(directory, { recursive: true });
  }
}
