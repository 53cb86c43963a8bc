import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { pathTree, project } from "./project.ts";

const rows: [title: string, paths: string[], json: string, expected: unknown][] = [
  ["a member", ["a"], '{"b":{"a":1},"a":2}', { a: 2 }],
  ["a path", ["a.b"], '{"a":{"c":[1,{"b":3}],"b":"x"},"b":1}', { a: { b: "x" } }],
  [
    "a path through a list",
    ["a.b"],
    '{"a":[{"b":1,"c":2},{},{"c":"}"},{"b":[4]}]}',
    { a: [{ b: 1 }, {}, {}, { b: [4] }] },
  ],
  ["all of a value", ["a"], '{"a":{"b":[{"c":"é\\n"}]}}', { a: { b: [{ c: "é\n" }] } }],
  [
    "the keys of a map",
    ["a.*"],
    String.raw`{"a":{"x":"}\"","__proto__":{"y":1},"q\"é":[]},"b":1}`,
    JSON.parse(String.raw`{"a":{"x":true,"__proto__":true,"q\"é":true}}`),
  ],
  ["other members", ["a.b", "*"], '{"x":1,"a":{"b":2,"c":3},"y":{"z":true}}', { x: 1, a: { b: 2 }, y: { z: true } }],
  ["a prefix of a name", ["a"], '{"ab":1,"":2,"a":"","a ":3}', { a: "" }],
  ["scalars where a path goes on", ["a.b", "c.d"], '{"a":1,"c":"x"}', { a: 1, c: "x" }],
  ["nothing", ["a"], "{}", {}],
  ["numbers", ["a"], '{"a":[-1.5,1e3]}', { a: [-1.5, 1000] }],
  ["null", ["a"], '{"a":null}', undefined],
  ["null in a value", ["a"], '{"a":{"b":null}}', undefined],
  ["null that is not read", ["a"], '{"b":null,"a":1}', { a: 1 }],
  ["an integer that a double can lose", ["a"], '{"a":9007199254740993}', undefined],
  ["such an integer in a value", ["a"], '{"a":[9007199254740993]}', undefined],
];

for (const [title, paths, json, expected] of rows)
  test(`reads ${title}`, () => assert.deepEqual(project(Buffer.from(json), pathTree(paths))?.value, expected));

test("returns where a member of the object is", () => {
  const json = Buffer.from('{"a":{"m":{"x":1}},"m":{"y":[2]},"z":0}');
  const found = project(json, pathTree(["a", "m.y"]), "m");
  assert.equal(json.toString("utf8", found?.start, found?.end), '{"y":[2]}');
  assert.equal(project(json, pathTree(["a"]), "m")?.end, 0);
});

test("ends with any damaged text", () => {
  const json = Buffer.from('{"a":{"b":[1,{"c":"d\\""}]},"e":["f"]}');
  const tree = pathTree(["a.b.c", "e"]);
  for (let length = 0; length < json.length; length++)
    for (const byte of [0x22, 0x7b, 0x5d, 0x2c, 0x66]) {
      const damaged = Buffer.from(json.subarray(0, length + 1));
      damaged[length] = byte;
      project(damaged, tree);
    }
  assert.equal(project(Buffer.from('{"e":[nul]}'), tree), undefined);
});

test("reads what a parser reads, of random values", () => {
  const random = seededRandom(1);
  const names = ["a", "b", "c", "é", 'q"', "__proto__"];
  const value = (depth: number): unknown => {
    const kind = random(depth > 3 ? 4 : 6);
    if (kind < 4) return [random(1000), "x".repeat(random(100)), `\\"}é${random(9)}`, true][kind];
    if (kind === 4) return Array.from({ length: random(4) }, () => value(depth + 1));
    return JSON.parse(
      `{${names
        .slice(random(6))
        .map((name) => `${JSON.stringify(name)}:${JSON.stringify(value(depth + 1))}`)
        .join()}}`,
    );
  };
  const pick = (from: unknown, path: readonly string[]): unknown => {
    const [first, ...rest] = path;
    if (first === undefined || typeof from !== "object" || from === null) return from;
    if (Array.isArray(from)) return from.map((item) => pick(item, path));
    return Object.hasOwn(from, first) ? { [first]: pick((from as Record<string, unknown>)[first], rest) } : {};
  };
  for (let round = 0; round < 2000; round++) {
    const object = { a: value(0), b: value(0), c: value(0) };
    const path = Array.from({ length: 1 + random(3) }, () => ["a", "b", "c", "é"][random(4)] as string);
    const json = Buffer.from(JSON.stringify(object));
    assert.deepEqual(project(json, pathTree([path.join(".")]))?.value, pick(object, path), `${json} ${path}`);
  }
});
