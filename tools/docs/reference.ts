/** The API reference in docs/reference/api, which TypeDoc writes from the rolled-up types and their docstrings. */
import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Files of types by the names of the exports, from which TypeDoc takes the titles of the pages. */
const modules = {
  "coxswain.d.ts": "index.d.ts",
  "coxswain/cel.d.ts": "cel.d.ts",
  "coxswain/structured-merge.d.ts": "structured-merge.d.ts",
  "coxswain/testing.d.ts": "testing.d.ts",
};

const options = {
  name: "API reference",
  entryPoints: Object.keys(modules),
  out: "pages",
  router: "module",
  readme: "none",
  entryFileName: "index",
  disableSources: true,
  hidePageHeader: true,
  hideBreadcrumbs: true,
  parametersFormat: "table",
  interfacePropertiesFormat: "table",
  classPropertiesFormat: "table",
  treatWarningsAsErrors: true,
};

const compilerOptions = {
  module: "nodenext",
  target: "es2024",
  lib: ["es2024"],
  types: [],
  strict: true,
  noEmit: true,
};

/**
 * @param types a folder with rolled-up types
 * @param work an empty folder, for what TypeDoc reads and writes
 * @returns the texts of the pages by their paths
 * @throws Error when TypeDoc reports an error or a warning, such as a link to a name that does not exist
 */
export function apiReference(types: string, work: string): ReadonlyMap<string, string> {
  mkdirSync(join(work, "coxswain"));
  for (const [name, file] of Object.entries(modules)) cpSync(join(types, file), join(work, name));
  writeFileSync(join(work, "tsconfig.json"), JSON.stringify({ compilerOptions, files: options.entryPoints }));
  writeFileSync(
    join(work, "typedoc.json"),
    JSON.stringify({ ...options, plugin: [installed("typedoc-plugin-markdown")] }),
  );
  const program = join(dirname(installed("typedoc/package.json")), "bin/typedoc");
  const { status, stderr } = spawnSync(process.execPath, [program], { cwd: work, encoding: "utf8" });
  if (status !== 0) throw new Error(`TypeDoc ended with status ${status}\n${stderr}`);
  const pages = join(work, "pages");
  const files = globSync("**/*.md", { cwd: pages }).map((file) => file.replaceAll("\\", "/"));
  return new Map(files.sort().map((file) => [file, withoutHtml(readFileSync(join(pages, file), "utf8"))]));
}

/** Properties are rows of tables. TypeDoc marks them with HTML, which the site does not accept, and links to them. */
function withoutHtml(page: string): string {
  return page.replace(/<a id="[^"]*"><\/a> /g, "").replace(/\[([^\]]*)\]\([^)]*#property-[^)]*\)/g, "$1");
}

function installed(path: string): string {
  return createRequire(import.meta.url).resolve(path);
}
