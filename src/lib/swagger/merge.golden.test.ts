/** Compares merged and filtered documents with those of upstream's own tests. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Json } from "../json/values.ts";
import { filterPaths } from "./filter-paths.ts";
import { type MergeTarget, mergeDocument, mergeTarget } from "./merge.ts";

type Call =
  | { readonly call: "filter"; readonly document: Json; readonly prefixes: readonly string[]; readonly result: Json }
  | { readonly call: "merge"; readonly target: Json; readonly source: Json; readonly result: Json };

const calls: Call[] = readFileSync(join(import.meta.dirname, "testdata/upstream-tests.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));

const sections = ["paths", "definitions", "parameters"] as const;

/** The sections without those that are empty or null. */
function sectionsOf(document: Json): object {
  const found = sections.map((section) => [section, document[section] ?? {}]);
  return Object.fromEntries(found.filter(([, one]) => Object.keys(one as object).length > 0));
}

function targetOf(document: Json): MergeTarget {
  const mapOf = (section: (typeof sections)[number]) =>
    new Map(Object.entries((document[section] ?? {}) as Record<string, Json>));
  return mergeTarget({ paths: mapOf("paths"), definitions: mapOf("definitions"), parameters: mapOf("parameters") });
}

for (const [index, row] of calls.entries()) {
  test(`upstream's ${row.call} ${index}`, () => {
    if (row.call === "filter") {
      const keep = (path: string): boolean => row.prefixes.some((prefix) => path.startsWith(prefix));
      assert.deepEqual(sectionsOf(filterPaths(row.document, keep)), sectionsOf(row.result));
      return;
    }
    const target = targetOf(row.target);
    mergeDocument(target, row.source);
    const merged = Object.fromEntries(sections.map((section) => [section, Object.fromEntries(target[section])]));
    assert.deepEqual(sectionsOf(merged), sectionsOf(row.result));
  });
}
