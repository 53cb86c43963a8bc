/** Replaces the contents of a directory while other processes read from it. */
import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Moves all files of a directory to another one on the same file system, and removes the files that are in the other one alone. Each file is
 * replaced at once, so that none is missing or partial at any time.
 */
export function replaceDirectory(from: string, to: string): void {
  const files = filesOf(from);
  for (const file of files) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    renameSync(join(from, file), join(to, file));
  }
  for (const file of filesOf(to)) if (!files.has(file)) rmSync(join(to, file), { force: true });
  rmSync(from, { recursive: true });
}

function filesOf(directory: string): ReadonlySet<string> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return new Set(
    entries
      .filter((entry) => !entry.isDirectory())
      .map(({ parentPath, name }) => join(parentPath, name).slice(directory.length + 1)),
  );
}
