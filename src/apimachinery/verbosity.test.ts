import assert from "node:assert/strict";
import { test } from "node:test";
import { isVerbose, type LogModule } from "./verbosity.ts";

const rows: readonly (readonly [pattern: string, module: LogModule, matches: boolean])[] = [
  ["httplog", "httplog", true],
  ["httplog", "trace", false],
  ["http*", "httplog", true],
  ["*log", "httplog", true],
  ["h*t*g", "httplog", true],
  ["?race", "trace", true],
  ["trac", "trace", false],
  ["trace?", "trace", false],
  ["*", "trace", true],
  ["", "trace", false],
  [`${"*a".repeat(5000)}`, "trace", false],
];
for (const [pattern, module, matches] of rows)
  test(`the pattern ${pattern.slice(0, 20)} ${matches ? "selects" : "leaves out"} ${module}`, () => {
    const modules = [{ pattern, level: 3 }];
    assert.equal(isVerbose({ level: 0, modules }, 3, module), matches);
    assert.equal(isVerbose({ level: 0, modules }, 4, module), false);
  });

test("the level selects the lines of all files, and the first pattern counts", () => {
  assert.equal(isVerbose({ level: 3, modules: [] }, 3, "trace"), true);
  assert.equal(isVerbose({ level: 2, modules: [] }, 3, "trace"), false);
  const modules = [
    { pattern: "t*", level: 2 },
    { pattern: "trace", level: 9 },
  ];
  assert.equal(isVerbose({ level: 0, modules }, 3, "trace"), false);
});
