/** Builds the programs of studies from Go modules, outside of the repository. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Study } from "./contract.ts";

/** Of everything that is built. COXSWAIN_CASE_STUDIES replaces it. */
export const studiesDirectory: string =
  process.env.COXSWAIN_CASE_STUDIES ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "coxswain-case-studies");

/** Where a program of a study is built. */
export function programOf({ module }: Study, program: string): string {
  return join(studiesDirectory, "bin", module.replaceAll(/[/@]/g, "+"), program);
}

/** Builds the programs that are not built yet: up to an hour for the first on two cores. @throws Error when Go fails */
export function buildPrograms(study: Study): void {
  const missing = Object.entries(study.programs).filter(([program]) => !existsSync(programOf(study, program)));
  if (missing.length === 0) return;
  const folder = join(copyModule(study.module), study.folder ?? "");
  dropLocalReplacements(folder, study.module.slice(study.module.indexOf("@") + 1));
  for (const [program, path] of missing) {
    console.log(`Building ${program} of ${study.module} …`);
    runGo(["build", "-p", "1", "-o", programOf(study, program), path], folder);
  }
}

/** @returns the folder of the module's files in Go's cache, which is read-only @throws Error when Go fails */
export function moduleFolder(module: string): string {
  mkdirSync(studiesDirectory, { recursive: true });
  return (JSON.parse(runGo(["mod", "download", "-json", module], studiesDirectory)) as { Dir: string }).Dir;
}

/** A module is built with its own go.mod, as its authors do, so that its versions and replacements apply. @returns the folder of the copy */
export function copyModule(module: string): string {
  const copy = join(studiesDirectory, "src", module.replaceAll(/[/@]/g, "+"));
  if (existsSync(copy)) return copy;
  cpSync(moduleFolder(module), copy, { recursive: true });
  spawnSync("chmod", ["-R", "u+w", copy]);
  return copy;
}

/** Replacements by folders of the repository, which the module does not contain: they are published with the same version. */
function dropLocalReplacements(folder: string, version: string): void {
  const { Replace } = JSON.parse(runGo(["mod", "edit", "-json"], folder)) as { Replace: Replacement[] | null };
  const local = (Replace ?? []).filter(({ New }) => New.Path.startsWith(".")).map(({ Old }) => Old.Path);
  const edits = local.flatMap((path) => [`-dropreplace=${path}`, `-require=${path}@${version}`]);
  if (edits.length > 0) runGo(["mod", "edit", ...edits], folder);
}

interface Replacement {
  readonly Old: { readonly Path: string };
  readonly New: { readonly Path: string };
}

function runGo(args: readonly string[], folder: string): string {
  const { status, stdout, error } = spawnSync("nice", ["-n", "19", "go", ...args], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, GOFLAGS: "-mod=mod -buildvcs=false" },
  });
  if (error !== undefined) throw new Error(`Cannot run Go: ${error.message}`);
  if (status !== 0) throw new Error(`go ${args.join(" ")} failed`);
  return stdout.trim();
}
