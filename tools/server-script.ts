/**
 * Makes a script of a bundled module, which is run by src/apimachinery/run-script.ts: the module then only re-exports what the script exports. Other
 * bundles import the module as before.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type BuildOptions, type Metafile, transform } from "esbuild";

type Options = Pick<BuildOptions, "minify" | "target"> & { readonly absWorkingDir: string };

/**
 * @param path of the module, relative to `absWorkingDir`
 * @param metafile of the build that wrote it
 * @throws Error when not all calls of `import` in it can be found
 */
export async function writeAsScript(path: string, { outputs }: Metafile, options: Options): Promise<void> {
  const { exports = [], imports = [] } = outputs[path] ?? {};
  const file = join(options.absWorkingDir, path);
  const dynamic = imports.filter(({ kind }) => kind === "dynamic-import");
  const text = withoutExports(path, readFileSync(file, "utf8"));
  const calls = text.match(/\bimport\(/g) ?? [];
  if (calls.length !== dynamic.length)
    throw new Error(`${path} has ${calls.length} calls of import, not ${dynamic.length}`);
  const { code } = await transform(text.replace(/\bimport\(/g, "__load("), {
    minify: options.minify ?? false,
    target: options.target ?? [],
    format: "cjs",
    define: { "import.meta.url": "__url" },
    logLevel: "warning",
  });
  const script = `${basename(path, ".js")}.cjs`;
  writeFileSync(join(file, "..", script), code);
  const names = [...new Set(imports.filter(({ kind }) => kind === "import-statement").map((one) => one.path))];
  const own = names.filter((name) => name.startsWith("."));
  const module = [
    ...own.map((name, index) => `import * as _${index} from ${JSON.stringify(name)};`),
    `import { runScript } from "./run-script.js";`,
    `const modules = { ${own.map((name, index) => `${JSON.stringify(name)}: _${index}`).join(", ")} };`,
    `const url = new URL(${JSON.stringify(`./${script}`)}, import.meta.url).href;`,
    `export const { ${exports.join(", ")} } = runScript(url, modules, (name) => import(name));`,
  ];
  writeFileSync(file, `${module.join("\n")}\n`);
}

/**
 * esbuild would define a getter for each export, and copy them all, which a start waits for. The exports do not change after the script has run.
 * @throws Error when the module has not one list of exports, which only comments follow
 */
function withoutExports(path: string, text: string): string {
  const [list, ...others] = text.matchAll(/\bexport\s*\{([^{}]*)\}/g);
  const end = list === undefined ? text : text.slice(list.index + list[0].length);
  if (list === undefined || others.length > 0 || !/^[;\s]*(?:\/\*|$)/.test(end))
    throw new Error(`${path} does not end with its exports`);
  const members = (list[1] as string).split(",").map((one) => {
    const [local = "", exported = local] = one.trim().split(/\s+as\s+/);
    return `${exported}: ${local}`;
  });
  return `${text.slice(0, list.index)}__module.exports = { ${members.join(", ")} }${end}`;
}
