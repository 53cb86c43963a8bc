/** Docstrings of exports: other folders and users of the package read them instead of the code. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");

/** Least percentage of exports with a docstring, among those that other folders use. */
const documentedMin = 95;

interface Export {
  readonly file: string;
  readonly name: string;
  /** Text of the comment right before it; empty without one. */
  readonly docstring: string;
}

const files = globSync("src/**/*.ts", { cwd: root }).filter((file) => !/\.(?:test|suite)\.ts$|\/testing\//.test(file));
const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
const exports = new Map([...texts].flatMap(([file, text]) => exportsOf(file, text)));

function exportsOf(file: string, text: string): [id: string, found: Export][] {
  const pattern =
    /((?:^\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?)(?:^\/\/ biome.*\n)?^export (?:declare )?(?:async )?(?:function\*?|class|const|interface|type) (\w+)/gm;
  return [...text.matchAll(pattern)].map(([, docstring = "", name = ""]) => [
    `${file}#${name}`,
    { file, name, docstring },
  ]);
}

/** Folders with one subject: a library, an API group, a plugin, or a part of src/. */
function folderOf(file: string): string {
  const depth = /^src\/(?:lib|apis|admission\/plugins)\//.test(file) ? 3 : 2;
  return file.split("/").slice(0, depth).join("/");
}

/** Exports that files of other folders import. */
function exportsUsedElsewhere(): Export[] {
  const used = new Set<string>();
  for (const [file, text] of texts) {
    for (const [, names = "", path = ""] of text.matchAll(
      /\b(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+"(\.[^"]+)"/g,
    )) {
      const target = relative(root, join(root, dirname(file), path));
      if (folderOf(target) === folderOf(file)) continue;
      for (const name of names.split(","))
        used.add(
          `${target}#${
            name
              .trim()
              .replace(/^type /, "")
              .split(" as ")[0]
          }`,
        );
    }
  }
  return [...used].flatMap((id) => exports.get(id) ?? []);
}

const describe = ({ file, name }: Export): string => `${file}: ${name}`;

test(`at least ${documentedMin} % of the exports that other folders use have a docstring`, () => {
  const all = exportsUsedElsewhere();
  const missing = all.filter(({ docstring }) => docstring === "").map(describe);
  assert.ok(all.length > 500, `${all.length} exports`);
  assert.ok(missing.length <= (all.length * (100 - documentedMin)) / 100, missing.join("\n"));
});

test("all exports of contracts and of the public API have a docstring", () => {
  const contracts = /\/contract\.ts$|^src\/(?:index|options)\.ts$|^src\/lib\/(?:cel|structured-merge)\/index\.ts$/;
  const missing = [...exports.values()].filter(({ file, docstring }) => contracts.test(file) && docstring === "");
  assert.deepEqual(missing.map(describe), []);
});
