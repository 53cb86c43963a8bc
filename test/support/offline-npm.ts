/**
 * `npm` for the commands of documents, without a registry: `install` links the packages that this repository has installed, and
 * `pack` writes an empty archive, from which `install` gets the package of the sources. The rest is npm itself.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { packageSources } from "./package-sources.ts";

const root = join(import.meta.dirname, "../..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The shell script for the directory of programs. */
export const offlineNpm = `exec "${process.execPath}" "${import.meta.filename}" "$(dirname "$0")" "$@"`;

function install(name: string): void {
  if (name.endsWith(".tgz")) installSources(name);
  else if (name in { ...manifest.dependencies, ...manifest.devDependencies }) link(name);
  else throw new Error(`${name} is not installed in this repository`);
}

function link(name: string): void {
  const path = join("node_modules", name);
  mkdirSync(dirname(path), { recursive: true });
  if (!existsSync(path)) symlinkSync(join(root, "node_modules", name), path);
}

function installSources(archive: string): void {
  if (!existsSync(archive)) throw new Error(`${archive} does not exist`);
  const path = join("node_modules", manifest.name);
  mkdirSync(path, { recursive: true });
  const exports: Record<string, object> = {};
  for (const [name, source] of Object.entries(packageSources)) {
    const file = name.split("/")[1] ?? "index";
    exports[`.${name.slice(manifest.name.length)}`] = { types: `./${file}.d.ts`, default: `./${file}.js` };
    writeFileSync(join(path, `${file}.js`), `export * from "${pathToFileURL(join(root, source))}";\n`);
    writeFileSync(join(path, `${file}.d.ts`), `export * from "${join(root, source)}";\n`);
  }
  writeFileSync(join(path, "package.json"), JSON.stringify({ name: manifest.name, type: "module", exports }));
}

function runNpm(bin: string, args: readonly string[]): number {
  const others = (process.env.PATH ?? "").split(delimiter).filter((directory) => directory !== bin);
  const env = { ...process.env, PATH: others.join(delimiter) };
  return spawnSync("npm", args, { env, stdio: "inherit" }).status ?? 1;
}

if (import.meta.main) {
  const [bin = "", command = "", ...args] = process.argv.slice(2);
  if (command === "pack") writeFileSync(`${manifest.name}-${manifest.version}.tgz`, "");
  else if (command === "install") args.filter((arg) => !arg.startsWith("--")).forEach(install);
  else process.exitCode = runNpm(bin, [command, ...args]);
}
