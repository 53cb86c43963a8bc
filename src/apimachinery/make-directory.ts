import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates a directory and its missing parents. Node's option `recursive` never returns if an
 * existing parent accepts no directories, such as /proc.
 *
 * @throws Error with code ENOENT, EACCES, ENOTDIR, EEXIST, …
 */
export function makeDirectory(path: string, options: { readonly mode?: number } = {}): void {
  if (isDirectory(path)) return;
  if (dirname(path) !== path) makeDirectory(dirname(path), options);
  try {
    mkdirSync(path, options);
  } catch (error) {
    // Another process can have created it.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
