/**
 * `npm` for the commands of documents, without a registry: `install` links the packages that this repository has installed, and
 * `pack` writes an empty archive, from which `install` gets the bundles of the sources. The rest is npm itself.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { clientName, installClient, installPackage, linkPackage, manifest } from "./built-package.ts";

/**
 * The shell script for the directory of programs.
 *
 * @param main the bundle of the command: see `program.ts`
 */
export function offlineNpm(main: string): string {
  return `exec "${process.execPath}" "${import.meta.filename}" "${dirname(main)}" "$(dirname "$0")" "$@"`;
}

function install(name: string, bundles: string): void {
  if (name.endsWith(".tgz")) {
    if (!existsSync(name)) throw new Error(`${name} does not exist`);
    installPackage(".", bundles);
    installProgram(bundles);
  } else if (name === clientName) installClient(".", bundles);
  else if (name in { ...manifest.dependencies, ...manifest.devDependencies }) linkPackage(".", name);
  else throw new Error(`${name} is not installed in this repository`);
}

/** The command of the package, as npm links it. */
function installProgram(bundles: string): void {
  const bin = "node_modules/.bin";
  mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh\nexec "${process.execPath}" "${join(bundles, "main.js")}" "$@"\n`;
  writeFileSync(join(bin, manifest.name), script, { mode: 0o755 });
}

function runNpm(bin: string, args: readonly string[]): number {
  const others = (process.env.PATH ?? "").split(delimiter).filter((directory) => directory !== bin);
  const env = { ...process.env, PATH: others.join(delimiter) };
  return spawnSync("npm", args, { env, stdio: "inherit" }).status ?? 1;
}

if (import.meta.main) {
  const [bundles = "", bin = "", command = "", ...args] = process.argv.slice(2);
  if (command === "pack") writeFileSync(`${manifest.name}-${manifest.version}.tgz`, "");
  else if (command === "install") {
    for (const name of args.filter((arg) => !arg.startsWith("--"))) install(name, bundles);
  } else process.exitCode = runNpm(bin, [command, ...args]);
}
