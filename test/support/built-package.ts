/**
 * The package for programs that import it by its name: its code is the bundles of `program.ts`, which load in a fraction of the
 * time of the sources, and its types are the reports in api/, which tools/docs/public-api.test.ts compares with the sources.
 */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname, "../..");

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, { readonly default: string }>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** The client whose bundle is next to those of the package. */
export const clientName = "@kubernetes/client-node";

/** That of the repository. */
export const manifest: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/**
 * Writes node_modules/coxswain.
 *
 * @param bundles the directory of the bundles; without it, programs can only be compiled
 */
export function installPackage(directory: string, bundles?: string): void {
  const path = join(directory, "node_modules", manifest.name);
  mkdirSync(path, { recursive: true });
  const exports: Record<string, object> = {};
  for (const [name, { default: built }] of Object.entries(manifest.exports)) {
    const file = built.slice("./dist/".length, -".js".length);
    exports[name] = { types: `./${file}.d.ts`, default: `./${file}.js` };
    writeFileSync(join(path, `${file}.d.ts`), typesOf(file));
    if (bundles === undefined) continue;
    writeReexport(join(path, `${file}.js`), join(bundles, `${file}.js`));
  }
  writeFileSync(join(path, "package.json"), JSON.stringify({ name: manifest.name, type: "module", exports }));
}

/** Writes node_modules/@kubernetes/client-node, for programs that are only run. @param bundles the directory of the bundles */
export function installClient(directory: string, bundles: string): void {
  const path = join(directory, "node_modules", clientName);
  mkdirSync(path, { recursive: true });
  writeReexport(join(path, "index.js"), join(bundles, "client-node.cjs"));
  writeFileSync(
    join(path, "package.json"),
    JSON.stringify({ name: clientName, type: "module", exports: "./index.js" }),
  );
}

/** Writes a module with the exports of a bundle. */
function writeReexport(file: string, bundle: string): void {
  writeFileSync(file, `export * from "${pathToFileURL(bundle)}";\n`);
}

/** The declarations in the report of an export. */
function typesOf(file: string): string {
  const report = readFileSync(join(root, `api/${file}.api.md`), "utf8");
  const [, types] = /^```ts\n(.*)^```$/ms.exec(report) ?? [];
  if (types === undefined) throw new Error(`api/${file}.api.md has no declarations`);
  return types;
}

/** Links a package that this repository has installed. */
export function linkPackage(directory: string, name: string): void {
  const path = join(directory, "node_modules", name);
  mkdirSync(dirname(path), { recursive: true });
  if (!existsSync(path)) symlinkSync(join(root, "node_modules", name), path, "junction");
}
