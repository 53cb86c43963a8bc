import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes the directory and those above it that are missing. Node's own `recursive` never returns where a directory cannot be made in one that
 * exists, such as /proc.
 * @throws Error with code ENOENT, EACCES, ENOTDIR, EEXIST, …
 */
export function makeDirectory(path: string, options: { readonly mode?: number } = {}): void {
  if (isDirectory(path)) return;
  if (dirname(path) !== path) makeDirectory(dirname(path), options);
  try {
    mkdirSync(path, options);
  } catch (error) {
    // Another process may have been faster.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
