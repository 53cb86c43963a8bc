/** Rules about the code: the length of functions and of files. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sourceTokens } from "./support/source-tokens.ts";

const root = join(import.meta.dirname, "..");

/** Lines of a function, without comments and blank lines. Tests and tools set up more at once. */
const functionLinesMax = { src: 60, other: 70 };

/** Longer functions, all of which are tables or lists of steps. */
const longer: readonly string[] = ["src/server/server.ts: buildServer", "tools/golden/cel/expressions.ts: expressions"];

/** Lines of a file in src/. */
const fileLinesMax = 450;

/** Longer files. */
const longerFiles: readonly string[] = [
  "src/controllers/bootstrap/rbac/controller-roles.ts", // A table.
];

interface FoundFunction {
  readonly name: string;
  readonly lines: number;
}

const opening = /(?:\)(?:: .*)?|=>) \{$/;
const statement = /^\s*(?:\} )?(?:else|if|for|while|switch|catch|try)\b/;

/** Finds functions by the indentation that the formatter gives their first and last lines. */
function functionsIn(source: string): FoundFunction[] {
  const lines = source.split("\n");
  const withCode = new Set<number>();
  for (const { type, text, line } of sourceTokens(source)) {
    if (type !== "comment") for (const [offset] of text.split("\n").entries()) withCode.add(line - 1 + offset);
  }
  const codeLines = (from: number, to: number): number =>
    Array.from({ length: to - from + 1 }, (_, offset) => from + offset).filter((line) => withCode.has(line)).length;
  return lines.flatMap((line, at) => {
    if (!opening.test(line) || statement.test(line)) return [];
    const first = firstLineOf(lines, at);
    const indent = /^\s*(?:[?:] )?/.exec(lines[first] as string)?.[0].length ?? 0;
    const last = lines.findIndex((one, index) => index > at && one.startsWith(`${" ".repeat(indent)}}`));
    if (last < 0) return [];
    const name = /^\s*(?:export |async |function\*? |const )*([\w#]+)/.exec(lines[first] as string)?.[1] ?? "";
    return [{ name, lines: codeLines(first, last) }];
  });
}

/** The first line of a signature, whose last line may begin with its closing bracket. */
function firstLineOf(lines: readonly string[], last: number): number {
  const [, indent = "", start] = /^(\s*)(.)/.exec(lines[last] as string) ?? [];
  if (start !== ")" && start !== "}") return last;
  const isAtIndent = (line: string): boolean => /^\s*(?=\S)/.exec(line)?.[0] === indent;
  let at = last - 1;
  while (at > 0 && !isAtIndent(lines[at] as string)) at--;
  return at;
}

const files = globSync("{src,test,tools,bench}/**/*.ts", { cwd: root })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => !/node_modules|\.(?:test|suite)\.ts$/.test(file));

test(`functions have at most ${functionLinesMax.src} lines, in tests and tools ${functionLinesMax.other}`, () => {
  const found = files.flatMap((file) => {
    const max = file.startsWith("src/") ? functionLinesMax.src : functionLinesMax.other;
    return functionsIn(readFileSync(join(root, file), "utf8"))
      .filter(({ lines }) => lines > max)
      .map(({ name }) => `${file}: ${name}`);
  });
  assert.deepEqual(found.sort(), [...longer].sort());
});

test(`files of src/ have at most ${fileLinesMax} lines`, () => {
  const found = files.filter(
    (file) => file.startsWith("src/") && readFileSync(join(root, file), "utf8").split("\n").length - 1 > fileLinesMax,
  );
  assert.deepEqual(found.sort(), [...longerFiles].sort());
});

test("the check counts lines of declarations, arrow functions and methods, without comments and blank lines", () => {
  const source = [
    "export function declared(",
    "  first: string,",
    "): void {",
    "  // comment",
    "",
    "  if (first) {",
    "    run();",
    "  }",
    "}",
    "const arrow = (): void => {",
    "  run({",
    "    method() {",
    "      run();",
    "    },",
    "  });",
    "};",
  ].join("\n");
  assert.deepEqual(functionsIn(source), [
    { name: "declared", lines: 7 },
    { name: "arrow", lines: 7 },
    { name: "method", lines: 3 },
  ]);
});
