import assert from "node:assert/strict";
import { test } from "node:test";
import { seed } from "../../test/support/seed.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { withoutManagedFields } from "./without-managed-fields.ts";

const fields = '"managedFields":[{"manager":"m","fieldsV1":{"f:a\\"]}":{}}}]';
const rows: [what: string, json: string, want: string][] = [
  ["absent", '{"metadata":{"name":"a"}}', '{"metadata":{"name":"a"}}'],
  ["the last member", `{"metadata":{"name":"a",${fields}},"data":{}}`, '{"metadata":{"name":"a"},"data":{}}'],
  ["the first member", `{"metadata":{${fields},"name":"a"}}`, '{"metadata":{"name":"a"}}'],
  ["the only member", `{"metadata":{${fields}}}`, '{"metadata":{}}'],
  ["between other members", `{"metadata":{"name":"a",${fields},"uid":"u"}}`, '{"metadata":{"name":"a","uid":"u"}}'],
  [
    "in the items of a list",
    `{"items":[{"metadata":{${fields}}},{"metadata":{"name":"b",${fields}}}]}`,
    '{"items":[{"metadata":{}},{"metadata":{"name":"b"}}]}',
  ],
  [
    "in the objects of a Table",
    `{"rows":[{"cells":["x"],"object":{"metadata":{${fields}}}}]}`,
    '{"rows":[{"cells":["x"],"object":{"metadata":{}}}]}',
  ],
  [
    "kept in other places",
    `{"data":{${fields}},"spec":{"metadata":{${fields}}},"items":{"metadata":{${fields}}}}`,
    `{"data":{${fields}},"spec":{"metadata":{${fields}}},"items":{"metadata":{${fields}}}}`,
  ],
  [
    "kept in strings",
    '{"metadata":{"name":"\\"managedFields\\":[]"}}',
    '{"metadata":{"name":"\\"managedFields\\":[]"}}',
  ],
  ["a value that is not a list", '{"metadata":{"managedFields":null,"a":1}}', '{"metadata":{"a":1}}'],
  ["with spaces", `{ "metadata" : { "name" : "a" , ${fields} } }`, '{ "metadata" : { "name" : "a"  } }'],
  ["not an object", '["managedFields"]', '["managedFields"]'],
];
for (const [what, json, want] of rows) {
  test(`managed fields: ${what}`, () => {
    assert.equal(withoutManagedFields(json), want);
    JSON.parse(want);
  });
}

type Value = null | number | string | Value[] | { [key: string]: Value };

test("managed fields: random objects equal the result of parsing and encoding", () => {
  const random = seededRandom(seed);
  const one = <T>(of: readonly T[]): T => of[random(of.length)] as T;
  const keys = ["metadata", "items", "rows", "object", "managedFields", "name", "\\", '"'];
  const randomValue = (depth: number): Value => {
    if (depth === 0 || random(5) === 0) return one([null, 1.5, "", "x", '"managedFields":[', "a\\", "}]"]);
    if (random(5) < 2) return Array.from({ length: random(3) }, () => randomValue(depth - 1));
    return Object.fromEntries(Array.from({ length: random(4) }, () => [one(keys), randomValue(depth - 1)]));
  };
  const member = (value: Value | undefined, name: string): Value | undefined =>
    typeof value === "object" && value !== null && !Array.isArray(value) ? value[name] : undefined;
  const list = (value: Value | undefined): Value[] => (Array.isArray(value) ? value : []);
  for (let round = 0; round < 3000; round++) {
    const value = randomValue(6);
    const json = JSON.stringify(value);
    for (const object of [
      value,
      ...list(member(value, "items")),
      ...list(member(value, "rows")).map((row) => member(row, "object")),
    ]) {
      const metadata = member(object, "metadata");
      if (typeof metadata === "object" && metadata !== null && !Array.isArray(metadata)) delete metadata.managedFields;
    }
    assert.equal(withoutManagedFields(json), JSON.stringify(value), `SEED=${seed} ${json}`);
  }
});
