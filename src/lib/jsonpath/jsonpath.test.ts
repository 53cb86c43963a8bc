/** Compares results with those of client-go, recorded by tools/golden/jsonpath. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { findResults, JsonPathError, JsonPathSyntaxError, NumberLiteral, parseTemplate, TextByte } from "./index.ts";

interface Row {
  readonly path: string;
  /** The template has a syntax error. */
  readonly syntax?: boolean;
  /** The evaluation fails. */
  readonly failed?: boolean;
  readonly results?: unknown[][];
}

const [objectText = "", ...lines] = readFileSync(new URL("testdata/golden.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");
const object: unknown = JSON.parse(objectText);

function outcomeOf(path: string): Row {
  try {
    const results = findResults(parseTemplate(`{${path}}`), object);
    return {
      path,
      results: results.map((values) =>
        values.map((value) => (value instanceof TextByte || value instanceof NumberLiteral ? value.value : value)),
      ),
    };
  } catch (error) {
    if (error instanceof JsonPathSyntaxError) return { path, syntax: true };
    if (error instanceof JsonPathError) return { path, failed: true };
    throw error;
  }
}

/** client-go iterates maps in random order. */
function inAnyOrder({ results, ...row }: Row): Row {
  const sorted = results?.map((values) =>
    values
      .map((value) => [JSON.stringify(value), value] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, value]) => value),
  );
  return { ...row, ...(sorted !== undefined && { results: sorted }) };
}

for (const line of lines) {
  const { path, syntax, failed, results = [] } = JSON.parse(line) as Row;
  const row: Row = syntax ? { path, syntax } : failed ? { path, failed } : { path, results };
  test(`evaluates {${row.path}}`, () => {
    const hasOrder = !row.path.includes("..");
    const outcome = outcomeOf(row.path);
    assert.deepEqual(hasOrder ? outcome : inAnyOrder(outcome), hasOrder ? row : inAnyOrder(row));
  });
}

const deep = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);

for (const [what, text] of [
  ["parts", "{}".repeat(20_000)],
  ["steps", `{${".a".repeat(20_000)}}`],
  ["paths of a union", `{.a[${"1,".repeat(20_000)}]}`],
] as const)
  test(`rejects too many ${what}`, () =>
    assert.throws(() => parseTemplate(text), new JsonPathSyntaxError(`more than 10000 ${what}`)));

test("rejects a template with too many intermediate values", () => {
  assert.throws(() => findResults(parseTemplate(`{${"..a".repeat(8)}}`), deep(900)), JsonPathError);
});

test("rejects a template with too many ranges inside each other", () => {
  const nested = (levels: number): string => "{range .a[*]}".repeat(levels) + "{end}".repeat(levels);
  assert.throws(() => findResults(parseTemplate(nested(200)), { a: [1] }), JsonPathError);
  assert.deepEqual(findResults(parseTemplate(nested(1)), { a: [1] }), []);
});

test("evaluates long paths in linear time", () => {
  const started = process.cpuUsage().user;
  for (const path of [
    ".a".repeat(50_000),
    `[?(@.${"a.".repeat(50_000)}`,
    "[?(".repeat(50_000),
    `["${"\\".repeat(100_000)}`,
    `['${",".repeat(50_000)}']`,
  ])
    outcomeOf(path);
  assert.ok(process.cpuUsage().user - started < 5_000_000);
});

test("finds no inherited properties", () => {
  assert.deepEqual(findResults(parseTemplate("{.constructor}{.__proto__}"), {}), [[], []]);
});
