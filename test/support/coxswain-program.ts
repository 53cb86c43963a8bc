/** The command as an executable file, for programs that look for `coxswain` in PATH or in the environment variable COXSWAIN. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { main } from "./program.ts";

/** Writes the file `coxswain` into a directory. @returns its path */
export function createProgram(directory: string): string {
  const file = join(directory, "coxswain");
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, { mode: 0o755 });
  return file;
}
