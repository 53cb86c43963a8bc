/**
 * The TypeScript of documents, docstrings and examples has no type errors, with the types that api/ reports.
 * One run of the compiler checks it all.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { installPackage, linkPackage } from "./support/built-package.ts";
import { codeBlocks } from "./support/code-blocks.ts";
import { docstringExamples } from "./support/docstring-examples.ts";
import { fileOf, blocksOf as pageBlocksOf } from "./support/run-page.ts";

const root = join(import.meta.dirname, "..");

/** Programs by the names of their files. Those of a page are in one folder, because they import each other. */
function programs(): Record<string, string> {
  const blocks = codeBlocks().filter(({ language }) => language === "ts");
  const pages = globSync("docs/{tutorial,how-to/!(add-*|judge|run-tests)}.md", { cwd: root }).flatMap((page) =>
    pageBlocksOf(readFileSync(join(root, page), "utf8")).map((block) => [`${page}/${fileOf(block)}`, block.code]),
  );
  return Object.fromEntries([
    ...blocks.map(({ file, line, setup, code }) => [`${file}-${line}.ts`, `${setup}\n${code}\nexport {};\n`]),
    ...pages.filter(([file]) => file?.endsWith(".ts")),
    ...docstringExamples().map(({ title, code }) => [`${title.replace(": ", "/")}.ts`, code]),
  ]);
}

/** As in the repository. */
function settings(): object {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8"));
  const unused = { noUnusedLocals: false, noUnusedParameters: false };
  return {
    compilerOptions: { ...compilerOptions, ...unused, typeRoots: [join(root, "node_modules/@types")] },
    include: ["**/*.ts"],
  };
}

test("TypeScript of documents has no type errors", { timeout: 240_000 }, () => {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-types-"));
  try {
    for (const [file, code] of Object.entries(programs())) {
      mkdirSync(join(directory, dirname(file)), { recursive: true });
      writeFileSync(join(directory, file), code);
    }
    for (const file of globSync("examples/typescript/*.ts", { cwd: root }))
      cpSync(join(root, file), join(directory, file));
    installPackage(directory);
    linkPackage(directory, "@kubernetes/client-node");
    writeFileSync(join(directory, "package.json"), '{"type":"module"}');
    writeFileSync(join(directory, "tsconfig.json"), JSON.stringify(settings()));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", directory], { encoding: "utf8" });
    assert.equal(status, 0, stdout);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
