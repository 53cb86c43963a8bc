/** Downloads suites, outside of the repository. */
import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { studiesDirectory } from "../build.ts";

/**
 * Clones a tag of a repository, unless that is done.
 *
 * @param ready prepares the clone, whose folder it gets
 * @returns the folder
 */
export function cloneTag(repository: string, tag: string, ready: (folder: string) => void): string {
  const folder = join(studiesDirectory, "src", `${repository.replaceAll(/[/:]+/g, "+")}+${tag}`);
  const done = join(folder, ".git", "coxswain-ready");
  if (existsSync(done)) return folder;
  rmSync(folder, { recursive: true, force: true });
  runIn(studiesDirectory, "git", "clone", "--quiet", "--depth=1", `--branch=${tag}`, repository, folder);
  ready(folder);
  runIn(folder, "touch", done);
  return folder;
}

/** Runs a program whose output is shown. @throws Error when it fails */
export function runIn(folder: string, program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { cwd: folder, stdio: ["ignore", 2, 2] });
}
