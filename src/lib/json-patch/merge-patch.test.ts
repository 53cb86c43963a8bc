import assert from "node:assert/strict";
import { test } from "node:test";
import { applyMergePatch } from "./merge-patch.ts";

const parse = (text: string): unknown => JSON.parse(text);

/** The examples of RFC 7386, and differences of json-patch v4. */
const rows: [target: string, patch: string, expected: string][] = [
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
  // Null members of objects in lists are removed, unless the list replaces an object.
  ["{}", '{"a":[null,{"b":null,"c":[{"d":null}]}]}', '{"a":[null,{"c":[{}]}]}'],
  ['{"a":[1]}', '{"a":[{"b":null}]}', '{"a":[{}]}'],
  ['{"a":{"x":1}}', '{"a":[{"b":null}]}', '{"a":[{"b":null}]}'],
  ["{}", '{"__proto__":{"a":1}}', '{"__proto__":{"a":1}}'],
  ['{"__proto__":{"a":1}}', '{"__proto__":{"b":{"__proto__":2}}}', '{"__proto__":{"a":1,"b":{"__proto__":2}}}'],
  ['{"__proto__":1,"a":1}', '{"__proto__":null}', '{"a":1}'],
];

for (const [target, patch, expected] of rows) {
  test(`merge patch: ${target} + ${patch}`, () => {
    const inputs = [parse(target), parse(patch)];
    assert.equal(JSON.stringify(applyMergePatch(inputs[0], inputs[1])), expected);
    assert.equal(JSON.stringify(inputs), JSON.stringify([parse(target), parse(patch)]));
  });
}
