/** Go modules outside of the repository that build upstream's programs and tests. The module of tools/golden/kubernetes names the versions. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const versions = join(import.meta.dirname, "../golden/kubernetes");
const golden = /^(?:\tcoxswain\/tools\/golden v0|replace coxswain\/).*\n/gm;

/** Writes go.mod and go.sum to the directory, with more lines. */
export function writeModule(directory: string, lines = ""): void {
  mkdirSync(directory, { recursive: true });
  const text = readFileSync(join(versions, "go.mod"), "utf8")
    .replace(golden, "")
    .replace(/^module .*/, "module upstream");
  writeFileSync(join(directory, "go.mod"), text + lines);
  cpSync(join(versions, "go.sum"), join(directory, "go.sum"));
}

/**
 * Runs Go in the module, which downloads what is missing.
 *
 * @returns what it prints
 * @throws Error when Go is not installed or fails; its messages are on standard error
 */
export function runGo(directory: string, args: readonly string[]): string {
  const { status, stdout, error } = spawnSync("go", args, {
    cwd: directory,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, GOFLAGS: "-mod=mod" },
  });
  if (error !== undefined) throw new Error(`Cannot run Go: ${error.message}`);
  if (status !== 0) throw new Error(`go ${args.join(" ")} failed`);
  return stdout.trim();
}

/** The directory of a module's files in Go's cache. */
export function moduleDirectory(directory: string, module: string): string {
  return (JSON.parse(runGo(directory, ["mod", "download", "-json", module])) as { Dir: string }).Dir;
}
