import assert from "node:assert/strict";
import { test } from "node:test";
import { retainedDepthMax } from "../schema/decode.ts";
import { applyJsonPatch, copiedBytesMax, JsonPatchError, type JsonPatchOperation } from "./json-patch.ts";

const refused = Symbol("refused");

/** As a real 1.36 server and json-patch v4.13 answer. */
const rows: [what: string, document: unknown, operations: JsonPatchOperation[], want: unknown][] = [
  ["add a member", { a: 1 }, [{ op: "add", path: "/b", value: 2 }], { a: 1, b: 2 }],
  ["add without value is null", { a: 1 }, [{ op: "add", path: "/a" }], { a: null }],
  ["add below what is absent", {}, [{ op: "add", path: "/a/b", value: 1 }], refused],
  ["add below a scalar", { a: 1 }, [{ op: "add", path: "/a/b", value: 1 }], refused],
  ["add below null", { a: null }, [{ op: "add", path: "/a/b", value: 1 }], refused],
  ["add the whole document", {}, [{ op: "add", path: "", value: {} }], refused],
  ["add without path", {}, [{ op: "add", value: 1 }], refused],
  [
    "a path's part before the first slash is ignored",
    { data: {} },
    [{ op: "add", path: "data/a", value: 1 }],
    { data: {}, a: 1 },
  ],
  ["the empty name", {}, [{ op: "add", path: "/", value: 1 }], { "": 1 }],
  [
    "escapes",
    { "a/b": 1, "~1": 1 },
    ["/a~1b", "/~01"].map((path) => ({ op: "replace", path, value: 2 })),
    { "a/b": 2, "~1": 2 },
  ],
  ["insert", [1, 2], [{ op: "add", path: "/1", value: 9 }], [1, 9, 2]],
  ["append", { a: [1] }, [{ op: "add", path: "/a/-", value: 2 }], { a: [1, 2] }],
  ["append by index", [1], [{ op: "add", path: "/1", value: 2 }], [1, 2]],
  ["insert behind the end", [1], [{ op: "add", path: "/2", value: 2 }], refused],
  ["add at -1 appends", [1, 2], [{ op: "add", path: "/-1", value: 3 }], [1, 2, 3]],
  ["add at -3 of two is first", [1, 2], [{ op: "add", path: "/-3", value: 0 }], [0, 1, 2]],
  ["add at -4 of two", [1, 2], [{ op: "add", path: "/-4", value: 0 }], refused],
  ["indices with sign and zeros", [1, 2], [{ op: "replace", path: "/+01", value: 3 }], [1, 3]],
  ["no index", [1], [{ op: "add", path: "/x", value: 3 }], refused],
  ["an index with a fraction", [1, 2], [{ op: "remove", path: "/1.0" }], refused],
  ["remove a member", { a: 1, b: 2 }, [{ op: "remove", path: "/a" }], { b: 2 }],
  ["remove what is absent", {}, [{ op: "remove", path: "/a" }], refused],
  ["remove the last", [1, 2], [{ op: "remove", path: "/-1" }], [1]],
  ["remove at the dash", [1, 2], [{ op: "remove", path: "/-" }], refused],
  ["replace", { a: [1, 2] }, [{ op: "replace", path: "/a/-2", value: 3 }], { a: [3, 2] }],
  ["replace of what is absent adds", {}, [{ op: "replace", path: "/a", value: 1 }], { a: 1 }],
  ["replace an element that is absent", [1], [{ op: "replace", path: "/1", value: 1 }], refused],
  ["replace the whole document", { a: 1 }, [{ op: "replace", path: "", value: [1] }], [1]],
  ["replace the whole document by a scalar", { a: 1 }, [{ op: "replace", path: "", value: 1 }], refused],
  ["replace the whole document by nothing", { a: 1 }, [{ op: "replace", path: "" }], refused],
  ["move", { a: { b: 1 } }, [{ op: "move", from: "/a/b", path: "/c" }], { a: {}, c: 1 }],
  ["move what is absent", {}, [{ op: "move", from: "/a", path: "/c" }], refused],
  ["move into itself", { a: {} }, [{ op: "move", from: "/a", path: "/a/b" }], refused],
  ["move without from", { a: {} }, [{ op: "move", path: "/b" }], refused],
  ["copy", { a: { b: 1 } }, [{ op: "copy", from: "/a", path: "/a/c" }], { a: { b: 1, c: { b: 1 } } }],
  ["copy of what is absent is null", {}, [{ op: "copy", from: "/a", path: "/b" }], { b: null }],
  ["copy from below what is absent", {}, [{ op: "copy", from: "/a/b", path: "/b" }], refused],
  ["test passed", { a: { b: [1, "x"] } }, [{ op: "test", path: "/a", value: { b: [1, "x"] } }], { a: { b: [1, "x"] } }],
  ["test of the whole document", { a: 1, b: 2 }, [{ op: "test", path: "", value: { b: 2, a: 1 } }], { a: 1, b: 2 }],
  ["test failed", { a: 1 }, [{ op: "test", path: "/a", value: "1" }], refused],
  [
    "test of what is absent is null",
    {},
    [
      { op: "test", path: "/a", value: null },
      { op: "test", path: "/b" },
    ],
    {},
  ],
  ["test tells null from absent within", { a: { b: null } }, [{ op: "test", path: "/a", value: {} }], refused],
  ["test tells [] from absent", { a: [] }, [{ op: "test", path: "/a" }], refused],
  ["test of large integers", { a: 2n ** 60n }, [{ op: "test", path: "/a", value: 2n ** 60n }], { a: 2n ** 60n }],
  ["unknown operation", {}, [{ op: "Add", path: "/a", value: 1 }], refused],
  ["no operation", {}, [{ path: "/a", value: 1 }], refused],
  ["no operations", { a: 1 }, [], { a: 1 }],
  [
    "names of the prototype are absent",
    {},
    [
      { op: "test", path: "/constructor", value: null },
      { op: "test", path: "/__proto__" },
    ],
    {},
  ],
];

for (const [what, document, operations, want] of rows) {
  test(`JSON patch: ${what}`, () => {
    const before = structuredClone({ document, operations });
    if (want === refused) assert.throws(() => applyJsonPatch(document, operations), JsonPatchError);
    else assert.deepEqual(applyJsonPatch(document, operations), want);
    assert.deepEqual({ document, operations }, before);
  });
}

test("JSON patch: __proto__ is a member like any other", () => {
  const patched = applyJsonPatch({}, [
    { op: "add", path: "/__proto__", value: {} },
    { op: "add", path: "/__proto__/a", value: 1 },
    { op: "copy", from: "/__proto__", path: "/b" },
  ]);
  assert.equal(JSON.stringify(patched), '{"__proto__":{"a":1},"b":{"a":1}}');
  assert.equal(({} as Record<string, unknown>).a, undefined);
});

test("JSON patch: a value is not shared by what later operations change", () => {
  const value = { n: 0 };
  const patched = applyJsonPatch({}, [
    { op: "add", path: "/a", value },
    { op: "copy", from: "/a", path: "/b" },
    { op: "replace", path: "/a/n", value: 1 },
  ]);
  assert.deepEqual([patched, value], [{ a: { n: 1 }, b: { n: 0 } }, { n: 0 }]);
});

const text = "x".repeat(copiedBytesMax / 2 - 2); // With its quotes half of the limit.
const copies = (count: number): JsonPatchOperation[] =>
  Array.from({ length: count }, (_, index) => ({ op: "copy", from: "/a", path: `/c${index}` }));

function nested(levels: number): unknown {
  let value: unknown = {};
  for (let level = 1; level < levels; level++) value = { a: value };
  return value;
}

const limitRows: [
  what: string,
  document: unknown,
  operations: JsonPatchOperation[],
  want: "applied" | "copiedBytes" | "depth",
][] = [
  ["copies up to the limit", { a: text }, copies(2), "applied"],
  ["copies beyond the limit", { a: text }, copies(3), "copiedBytes"],
  ["as deep as objects may be", {}, [{ op: "add", path: "/a", value: nested(retainedDepthMax - 1) }], "applied"],
  ["deeper", {}, [{ op: "add", path: "/a", value: nested(retainedDepthMax) }], "depth"],
  ["copies that double the depth", { a: nested(900) }, deepCopies(4), "depth"],
];

/** Each copies the whole of `/a` to its own deepest object. */
function deepCopies(count: number): { op: string; from: string; path: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    op: "copy",
    from: "/a",
    path: `${"/a".repeat(900 * 2 ** index)}/a`,
  }));
}

for (const [what, document, operations, want] of limitRows) {
  test(`JSON patch limits: ${what}`, () => {
    const apply = () => applyJsonPatch(document, operations);
    if (want === "applied") assert.doesNotThrow(apply);
    else assert.throws(apply, (error) => error instanceof JsonPatchError && error.limit === want);
  });
}
