/** The choice of test files, and what CI runs. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { areaOf, chooseFiles, findTestFiles, root } from "./files.ts";
import { recordedSeconds } from "./summary.ts";

const files = [{ path: "src/lib/ip-range/ip-range.test.ts" }, { path: "tools/test/files.test.ts" }];

const choices: [words: string[], chosen: string[]][] = [
  [[], ["src/lib/ip-range/ip-range.test.ts", "tools/test/files.test.ts"]],
  [["ip-range"], ["src/lib/ip-range/ip-range.test.ts"]],
  [["./src/lib/ip-range/ip-range.test.ts"], ["src/lib/ip-range/ip-range.test.ts"]],
  [
    ["ip-range", "files", "src"],
    ["src/lib/ip-range/ip-range.test.ts", "tools/test/files.test.ts"],
  ],
  [["A PHRASE of one title"], ["tools/test/files.test.ts: A PHRASE of one title"]],
];
for (const [words, chosen] of choices) {
  test(`the words ${JSON.stringify(words)} choose files by path, else by a phrase of one title`, () => {
    assert.deepEqual(
      chooseFiles(files, words).map(({ path, name }) => (name === undefined ? path : `${path}: ${name}`)),
      chosen,
    );
  });
}

test("a file says why it needs a process of its own in its first lines, and which flags", () => {
  const found = findTestFiles();
  assert.ok(found.length > 600, String(found.length));
  const inText = (line: RegExp): string[] =>
    found.map(({ path }) => path).filter((path) => line.test(readFileSync(join(root, path), "utf8")));
  const pathsWith = (key: "ownProcess" | "nodeFlags"): string[] =>
    found.filter((file) => file[key] !== undefined).map(({ path }) => path);
  assert.deepEqual(pathsWith("ownProcess"), inText(/^\/\/ own process: \S/m));
  assert.deepEqual(pathsWith("nodeFlags"), inText(/^\/\/ node flags: \S/m));
  const flags = ["--min-semi-space-size=256", "--max-semi-space-size=512"];
  assert.deepEqual(found.find(({ path }) => path === "test/linear-time.test.ts")?.nodeFlags, flags);
});

const areas: [path: string, area: string][] = [
  ["src/lib/ip-range/ip-range.test.ts", "src/lib"],
  ["src/server/server.test.ts", "src/server"],
  ["test/e2e/rights/rights.test.ts", "test/e2e/rights"],
  ["test/e2e/faults.test.ts", "test/e2e"],
];
for (const [path, area] of areas) test(`${path} is of the area ${area}`, () => assert.equal(areaOf(path), area));

/** For two cores, with etcd: 600 take five minutes. */
const secondsMax = 700;

test("the recorded CPU time is that of the files, and stays in the budget", () => {
  const recorded = findTestFiles().flatMap(({ path }) => recordedSeconds[path] ?? []);
  assert.ok(recorded.length > 600, `${recorded.length} files`);
  const sum = recorded.reduce((total, seconds) => total + seconds, 0);
  assert.ok(sum <= secondsMax, `${sum} seconds`);
});

test("CI runs the test command of the README first, and prepares nothing before it", () => {
  const [, setUp = ""] =
    /<!-- check: scripts -->\n```sh\n([^`]+)```/.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
  const command = setUp.trim().split("\n").at(-1);
  const lines = readFileSync(join(root, ".ci/run"), "utf8").split("\n");
  const commands = lines.filter((line) => line !== "" && !/^(?:#|set |cd )/.test(line));
  assert.match(command ?? "", /^npm /);
  assert.equal(commands[0], command);
});
