/** Escaped property names. Source: k8s.io/apiserver@v0.36.0/pkg/cel/escaping_test.go */
import assert from "node:assert/strict";
import { test } from "node:test";
import { escapeName, unescapeName } from "./escape.ts";

const names: readonly [name: string, escaped: string | undefined][] = [
  ["a", "a"],
  ["a_a", "a_a"],
  ["__a", "__underscores__a"],
  ["a__", "a__underscores__"],
  ["____", "__underscores____underscores__"],
  ["a.a", "a__dot__a"],
  ["a-a/a", "a__dash__a__slash__a"],
  [".", "__dot__"],
  ["namespace", "__namespace__"],
  ["namespaces", "namespaces"],
  ["x-namespace", "x__dash__namespace"],
  ["true", "__true__"],
  ["__namespace__", "__underscores__namespace__underscores__"],
  ["_", "_"],
  ["___", "__underscores___"],
  ["a1", "a1"],
  ["1a", undefined],
  ["", undefined],
  ["$a", undefined],
  ["a b", undefined],
  ["ä", undefined],
];

for (const [name, escaped] of names) {
  test(`escapes ${JSON.stringify(name)} to ${escaped} and back`, () => {
    assert.equal(escapeName(name), escaped);
    if (escaped !== undefined) assert.equal(unescapeName(escaped), name);
  });
}

for (const escaped of ["a__foo__", "__namespace__a", "a__namespace__"]) {
  test(`rejects the escaped name ${escaped}`, () => assert.equal(unescapeName(escaped), undefined));
}
