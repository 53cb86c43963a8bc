/** Names of properties in expressions, there and back. Source: access-control §2.3; k8s.io/apiserver pkg/cel/escaping_test.go */
import assert from "node:assert/strict";
import { test } from "node:test";
import { escapeName, unescapeName } from "./escape.ts";

const names: readonly [name: string, written: string | undefined][] = [
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

for (const [name, written] of names) {
  test(`${JSON.stringify(name)} is written ${written}`, () => {
    assert.equal(escapeName(name), written);
    if (written !== undefined) assert.equal(unescapeName(written), name);
  });
}

for (const written of ["a__foo__", "__namespace__a", "a__namespace__"]) {
  test(`nothing is written ${written}`, () => assert.equal(unescapeName(written), undefined));
}
