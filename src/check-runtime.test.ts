import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { runtimeProblem } from "./check-runtime.ts";

const needs = "Coxswain needs at least Node.js 22.20 or 24.7, Deno 2.9, or Bun 1.4.";

const rows: [versions: Record<string, string>, problem: string | undefined][] = [
  [{ node: "18.20.8" }, `${needs} This is Node.js 18.20.8.`],
  [{ node: "22.19.0" }, `${needs} This is Node.js 22.19.0.`],
  [{ node: "22.20.0" }, undefined],
  [{ node: "23.11.0" }, `${needs} This is Node.js 23.11.0.`],
  [{ node: "24.6.0" }, `${needs} This is Node.js 24.6.0.`],
  [{ node: "24.7.0" }, undefined],
  [{ node: "26.0.0" }, undefined],
  [{ node: "27.0.0-nightly20261101" }, undefined],
  [{ node: "24.3.0", bun: "1.3.9" }, `${needs} This is Bun 1.3.9.`],
  [{ node: "24.3.0", bun: "1.4.0" }, undefined],
  [{ node: "20.0.0", bun: "2.0.0" }, undefined],
  [{ node: "24.9.0", deno: "1.46.3" }, `${needs} This is Deno 1.46.3.`],
  [{ node: "24.9.0", deno: "2.9.0" }, undefined],
  [{ workerd: "1.2.3" }, undefined],
];

for (const [versions, problem] of rows)
  test(`${JSON.stringify(versions)} is ${problem === undefined ? "accepted" : "too old"}`, () =>
    assert.equal(runtimeProblem(versions), problem));

test("package.json names the same versions", () => {
  const { engines } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  assert.deepEqual(engines, { node: "^22.20 || >=24.7", bun: ">=1.4", deno: ">=2.9" });
});

/** Node.js 20, as far as a program sees it. */
const old = `data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.20.2"}})`;
const problem = `Error: ${needs} This is Node.js 20.20.2.`;
const library = pathToFileURL(join(import.meta.dirname, "check-runtime.ts")).href;

test("a program that imports the library ends with the sentence, not a stack", () => {
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--import", old, "--input-type=module", "--eval", `import ${JSON.stringify(library)}`],
    { encoding: "utf8" },
  );
  assert.equal(status, 1);
  const lines = stderr.split("\n").filter((line) => line !== "");
  assert.ok(
    lines.some((line) => line.includes(problem)),
    stderr,
  );
  assert.ok(lines.length <= 5, stderr); // The file, the line that throws, a mark, the sentence, Node's version.
});
