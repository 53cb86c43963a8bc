import assert from "node:assert/strict";
import { test } from "node:test";
import { applyMergePatch } from "./merge-patch.ts";

const parse = (text: string): unknown => JSON.parse(text);

/** RFC 7386's examples, and where json-patch v4 differs. */
const rows: [target: string, patch: string, want: string][] = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', "{}"],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ["[1,2]", '{"a":"b","c":null}', '{"a":"b"}'],
  ["{}", '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ['{"a":1}', '{"a":{}}', '{"a":{}}'],
  ['{"a":{"b":1}}', '{"a":{}}', '{"a":{"b":1}}'],
  // Nulls within the objects of lists go away, unless the list takes an object's place.
  ["{}", '{"a":[null,{"b":null,"c":[{"d":null}]}]}', '{"a":[null,{"c":[{}]}]}'],
  ['{"a":[1]}', '{"a":[{"b":null}]}', '{"a":[{}]}'],
  ['{"a":{"x":1}}', '{"a":[{"b":null}]}', '{"a":[{"b":null}]}'],
  ["{}", '{"__proto__":{"a":1}}', '{"__proto__":{"a":1}}'],
  ['{"__proto__":{"a":1}}', '{"__proto__":{"b":{"__proto__":2}}}', '{"__proto__":{"a":1,"b":{"__proto__":2}}}'],
  ['{"__proto__":1,"a":1}', '{"__proto__":null}', '{"a":1}'],
];

for (const [target, patch, want] of rows) {
  test(`merge patch: ${target} + ${patch}`, () => {
    const given = [parse(target), parse(patch)];
    assert.equal(JSON.stringify(applyMergePatch(given[0], given[1])), want);
    assert.equal(JSON.stringify(given), JSON.stringify([parse(target), parse(patch)]));
  });
}
