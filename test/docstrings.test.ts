/** Docstrings of exports: other folders and users of the package read them instead of the code. */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { readSources } from "./support/declarations.ts";

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

const sources = readSources();

/** Comments of a file, each as one line. */
function commentsOf(text: string): string[] {
  return [...text.matchAll(/\/\*\*[\s\S]*?\*\/|\/\/ .*$/gm)].map(([comment]) => comment.replaceAll(/\n\s*\*\s?/g, " "));
}

test("docstrings name parameters of the function", () => {
  const wrong = sources.flatMap(({ declarations }) =>
    declarations.flatMap(({ file, name, docstring, lines }) => {
      const text = lines.join("\n");
      const hasUnnamed = /[(,]\s*\{/.test(text);
      const names = [...docstring.matchAll(/@param (\w+)/g)].map(([, one = ""]) => one);
      return names
        .filter((one) => !hasUnnamed && !new RegExp(`\\b${one}\\b`).test(text))
        .map((one) => [file, name, one]);
    }),
  );
  assert.deepEqual(wrong, []);
});

test("links in docstrings lead to a name of the file", () => {
  const wrong = sources.flatMap(({ file, text }) => {
    const code = new Set(text.replaceAll(/\/\*\*[\s\S]*?\*\//g, "").match(/\w+/g));
    const links = commentsOf(text).flatMap((comment) => [...comment.matchAll(/\{@link (\w+)/g)]);
    return links.filter(([, name = ""]) => !code.has(name)).map(([, name]) => [file, name]);
  });
  assert.deepEqual(wrong, []);
});

test("files and headings that comments name exist", () => {
  const wrong = sources.flatMap(({ file, text }) =>
    commentsOf(text).flatMap((comment) => {
      const foreign = /Source:|k8s\.io|github\.com|cel-go/.test(comment);
      const paths = foreign ? [] : [...comment.matchAll(/(?<![\w/@.-])([\w-]+(?:\/[\w.-]+)+\.(?:ts|md))\b/g)];
      const headings = [...comment.matchAll(/(docs\/[\w./-]+\.md), "([^"]+)"/g)];
      return [
        ...paths.map(([, path = ""]) => path).filter((path) => !isFile(path, dirname(file))),
        ...headings
          .filter(([, page = "", heading = ""]) => !headingsOf(page).includes(heading))
          .map(([whole]) => whole),
      ].map((name) => [file, name]);
    }),
  );
  assert.deepEqual(wrong, []);
});

/** Whether a path from the folder of a file, one above it, src/ or the root is a file. */
function isFile(path: string, folder: string): boolean {
  return ["", "src", folder, dirname(folder)].some((from) => existsSync(join(root, from, path)));
}

function headingsOf(page: string): string[] {
  return [...readFileSync(join(root, page), "utf8").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading);
}
