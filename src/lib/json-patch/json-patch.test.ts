import assert from "node:assert/strict";
import { test } from "node:test";
import { retainedDepthMax } from "../schema/decode.ts";
import { applyJsonPatch, copiedBytesMax, JsonPatchError, type JsonPatchOperation } from "./json-patch.ts";

const rejected = Symbol("rejected");

/** The results are those of kube-apiserver 1.36 and json-patch v4.13. */
const rows: [title: string, document: unknown, operations: JsonPatchOperation[], expected: unknown][] = [
  ["add a member", { a: 1 }, [{ op: "add", path: "/b", value: 2 }], { a: 1, b: 2 }],
  ["add without value is null", { a: 1 }, [{ op: "add", path: "/a" }], { a: null }],
  ["add below an absent member", {}, [{ op: "add", path: "/a/b", value: 1 }], rejected],
  ["add below a scalar", { a: 1 }, [{ op: "add", path: "/a/b", value: 1 }], rejected],
  ["add below null", { a: null }, [{ op: "add", path: "/a/b", value: 1 }], rejected],
  ["add the whole document", {}, [{ op: "add", path: "", value: {} }], rejected],
  ["add without path", {}, [{ op: "add", value: 1 }], rejected],
  [
    "ignore the part of a path before the first slash",
    { data: {} },
    [{ op: "add", path: "data/a", value: 1 }],
    { data: {}, a: 1 },
  ],
  ["add a member with an empty name", {}, [{ op: "add", path: "/", value: 1 }], { "": 1 }],
  [
    "replace at escaped paths",
    { "a/b": 1, "~1": 1 },
    ["/a~1b", "/~01"].map((path) => ({ op: "replace", path, value: 2 })),
    { "a/b": 2, "~1": 2 },
  ],
  ["insert", [1, 2], [{ op: "add", path: "/1", value: 9 }], [1, 9, 2]],
  ["append", { a: [1] }, [{ op: "add", path: "/a/-", value: 2 }], { a: [1, 2] }],
  ["append by index", [1], [{ op: "add", path: "/1", value: 2 }], [1, 2]],
  ["insert behind the end", [1], [{ op: "add", path: "/2", value: 2 }], rejected],
  ["add at -1 appends", [1, 2], [{ op: "add", path: "/-1", value: 3 }], [1, 2, 3]],
  ["add at -3 of two is first", [1, 2], [{ op: "add", path: "/-3", value: 0 }], [0, 1, 2]],
  ["add at -4 of two", [1, 2], [{ op: "add", path: "/-4", value: 0 }], rejected],
  ["indices with sign and zeros", [1, 2], [{ op: "replace", path: "/+01", value: 3 }], [1, 3]],
  ["add at a path that is not an index", [1], [{ op: "add", path: "/x", value: 3 }], rejected],
  ["remove at an index with a fraction", [1, 2], [{ op: "remove", path: "/1.0" }], rejected],
  ["remove a member", { a: 1, b: 2 }, [{ op: "remove", path: "/a" }], { b: 2 }],
  ["remove an absent member", {}, [{ op: "remove", path: "/a" }], rejected],
  ["remove the last", [1, 2], [{ op: "remove", path: "/-1" }], [1]],
  ["remove at the dash", [1, 2], [{ op: "remove", path: "/-" }], rejected],
  ["replace", { a: [1, 2] }, [{ op: "replace", path: "/a/-2", value: 3 }], { a: [3, 2] }],
  ["replace of an absent member adds it", {}, [{ op: "replace", path: "/a", value: 1 }], { a: 1 }],
  ["replace an absent element", [1], [{ op: "replace", path: "/1", value: 1 }], rejected],
  ["replace the whole document", { a: 1 }, [{ op: "replace", path: "", value: [1] }], [1]],
  ["replace the whole document by a scalar", { a: 1 }, [{ op: "replace", path: "", value: 1 }], rejected],
  ["replace the whole document without a value", { a: 1 }, [{ op: "replace", path: "" }], rejected],
  ["move", { a: { b: 1 } }, [{ op: "move", from: "/a/b", path: "/c" }], { a: {}, c: 1 }],
  ["move an absent member", {}, [{ op: "move", from: "/a", path: "/c" }], rejected],
  ["move into itself", { a: {} }, [{ op: "move", from: "/a", path: "/a/b" }], rejected],
  ["move without from", { a: {} }, [{ op: "move", path: "/b" }], rejected],
  ["copy", { a: { b: 1 } }, [{ op: "copy", from: "/a", path: "/a/c" }], { a: { b: 1, c: { b: 1 } } }],
  ["copy of an absent member is null", {}, [{ op: "copy", from: "/a", path: "/b" }], { b: null }],
  ["copy from below an absent member", {}, [{ op: "copy", from: "/a/b", path: "/b" }], rejected],
  ["test passed", { a: { b: [1, "x"] } }, [{ op: "test", path: "/a", value: { b: [1, "x"] } }], { a: { b: [1, "x"] } }],
  ["test of the whole document", { a: 1, b: 2 }, [{ op: "test", path: "", value: { b: 2, a: 1 } }], { a: 1, b: 2 }],
  ["test failed", { a: 1 }, [{ op: "test", path: "/a", value: "1" }], rejected],
  [
    "test of an absent member compares with null",
    {},
    [
      { op: "test", path: "/a", value: null },
      { op: "test", path: "/b" },
    ],
    {},
  ],
  [
    "test distinguishes null from an absent member",
    { a: { b: null } },
    [{ op: "test", path: "/a", value: {} }],
    rejected,
  ],
  ["test distinguishes [] from an absent member", { a: [] }, [{ op: "test", path: "/a" }], rejected],
  ["test of large integers", { a: 2n ** 60n }, [{ op: "test", path: "/a", value: 2n ** 60n }], { a: 2n ** 60n }],
  ["unknown operation", {}, [{ op: "Add", path: "/a", value: 1 }], rejected],
  ["no operation", {}, [{ path: "/a", value: 1 }], rejected],
  ["no operations", { a: 1 }, [], { a: 1 }],
  [
    "test of inherited names compares with null",
    {},
    [
      { op: "test", path: "/constructor", value: null },
      { op: "test", path: "/__proto__" },
    ],
    {},
  ],
];

for (const [title, document, operations, expected] of rows) {
  test(`JSON patch: ${title}`, () => {
    const before = structuredClone({ document, operations });
    if (expected === rejected) assert.throws(() => applyJsonPatch(document, operations), JsonPatchError);
    else assert.deepEqual(applyJsonPatch(document, operations), expected);
    assert.deepEqual({ document, operations }, before);
  });
}

/** The messages are those of json-patch v4.13. */
const messageRows: [document: unknown, operation: unknown, message: string][] = [
  [
    {},
    { op: "add", path: "/a/b", value: 1 },
    'add operation does not apply: doc is missing path: "/a/b": missing value',
  ],
  [{}, { op: "add", value: 1 }, "add operation failed to decode path: missing value"],
  [{}, { op: "add", path: 5, value: 1 }, "add operation failed to decode path: missing value"],
  [
    { a: [1] },
    { op: "add", path: "/a/2", value: 1 },
    "error in add for path: '/a/2': Unable to access invalid index: 2: invalid index referenced",
  ],
  [
    { a: [1] },
    { op: "add", path: "/a/x", value: 1 },
    "error in add for path: '/a/x': value was not a proper array index: 'x': strconv.Atoi: parsing \"x\": invalid syntax",
  ],
  [
    { a: [1] },
    { op: "add", path: "/a/-3", value: 1 },
    "error in add for path: '/a/-3': Unable to access invalid index: -3: invalid index referenced",
  ],
  [
    { a: [1] },
    { op: "remove", path: "/a/1" },
    "error in remove for path: '/a/1': Unable to access invalid index: 1: invalid index referenced",
  ],
  [
    { a: [1] },
    { op: "remove", path: "/a/-" },
    "error in remove for path: '/a/-': strconv.Atoi: parsing \"-\": invalid syntax",
  ],
  [
    { a: 1 },
    { op: "remove", path: "/b" },
    "error in remove for path: '/b': Unable to remove nonexistent key: b: missing value",
  ],
  [
    { a: 1 },
    { op: "remove", path: "/b/c" },
    'remove operation does not apply: doc is missing path: "/b/c": missing value',
  ],
  [{ a: 1 }, { op: "remove" }, "remove operation failed to decode path: missing value"],
  [
    { a: 1 },
    { op: "replace", path: "/b/c", value: 1 },
    "replace operation does not apply: doc is missing path: /b/c: missing value",
  ],
  [
    { a: [1] },
    { op: "replace", path: "/a/1", value: 1 },
    "replace operation does not apply: doc is missing key: /a/1: missing value",
  ],
  [{ a: [1] }, { op: "replace", path: "", value: 1 }, "replace operation value must be object or array: %!w(<nil>)"],
  [
    { a: [1] },
    { op: "replace", value: 1 },
    "replace operation failed to decode path: operation missing path field: missing value",
  ],
  [
    { a: [1] },
    { op: "replace", path: 7, value: 1 },
    "replace operation failed to decode path: json: cannot unmarshal number into Go value of type string",
  ],
  [
    { a: 1 },
    { op: "move", path: "/b" },
    "move operation failed to decode from: operation, missing from field: missing value",
  ],
  [
    { a: 1 },
    { op: "move", from: "/c/d", path: "/b" },
    "move operation does not apply: doc is missing from path: /c/d: missing value",
  ],
  [
    { a: 1 },
    { op: "move", from: "/c", path: "/b" },
    "error in move for path: 'c': Unable to remove nonexistent key: c: missing value",
  ],
  [
    { a: 1 },
    { op: "move", from: "/a" },
    "move operation failed to decode path: operation missing path field: missing value",
  ],
  [
    { a: 1 },
    { op: "move", from: "/a", path: "/a/b" },
    "move operation does not apply: doc is missing destination path: /a/b: missing value",
  ],
  [
    { a: [1] },
    { op: "move", from: "/a/3", path: "/b" },
    "error in move for path: '3': Unable to access invalid index: 3: invalid index referenced",
  ],
  [
    { a: [1], b: 1 },
    { op: "move", from: "/b", path: "/a/7" },
    "error in move for path: '/a/7': Unable to access invalid index: 7: invalid index referenced",
  ],
  [
    { a: 1 },
    { op: "copy", path: "/b" },
    "copy operation failed to decode from: operation, missing from field: missing value",
  ],
  [
    { a: 1 },
    { op: "copy", from: "/c/d", path: "/b" },
    "copy operation does not apply: doc is missing from path: /c/d: missing value",
  ],
  [
    { a: [1] },
    { op: "copy", from: "/a/3", path: "/b" },
    "error in copy for from: '/a/3': Unable to access invalid index: 3: invalid index referenced",
  ],
  [
    { a: [1] },
    { op: "copy", from: "/a", path: "/a/9" },
    "error while adding value during copy: Unable to access invalid index: 9: invalid index referenced",
  ],
  [
    { a: [1] },
    { op: "copy", from: "/a", path: "/c/9" },
    "copy operation does not apply: doc is missing destination path: /c/9: missing value",
  ],
  [{ a: [1] }, { op: "copy", from: "/a" }, "copy operation failed to decode path: missing value"],
  [{ a: 1 }, { op: "test", path: "/a", value: 2 }, "testing value /a failed: test failed"],
  [{ a: 1 }, { op: "test", path: "/b", value: 2 }, "testing value /b failed: test failed"],
  [{ a: 1 }, { op: "test", path: "", value: {} }, "testing value  failed: test failed"],
  [
    { a: 1 },
    { op: "test", path: "/a/b", value: 2 },
    "test operation does not apply: is missing path: /a/b: missing value",
  ],
  [
    { a: [1] },
    { op: "test", path: "/a/4", value: 2 },
    "error in test for path: '/a/4': Unable to access invalid index: 4: invalid index referenced",
  ],
  [
    { a: [1] },
    { op: "test", value: 2 },
    "test operation failed to decode path: operation missing path field: missing value",
  ],
  [{ a: 1 }, { op: "nope", path: "/a", value: 2 }, "Unexpected kind: nope"],
  [{ a: 1 }, { path: "/a", value: 2 }, "Unexpected kind: unknown"],
  [{ a: 1 }, { op: 1, path: "/a", value: 2 }, "Unexpected kind: unknown"],
];

for (const [document, operation, message] of messageRows) {
  test(`JSON patch: the message for ${JSON.stringify(operation)}`, () => {
    assert.throws(() => applyJsonPatch(document, [operation as JsonPatchOperation]), {
      name: "JsonPatchError",
      message,
    });
  });
}

test("JSON patch: __proto__ is an ordinary member", () => {
  const patched = applyJsonPatch({}, [
    { op: "add", path: "/__proto__", value: {} },
    { op: "add", path: "/__proto__/a", value: 1 },
    { op: "copy", from: "/__proto__", path: "/b" },
  ]);
  assert.equal(JSON.stringify(patched), '{"__proto__":{"a":1},"b":{"a":1}}');
  assert.equal(({} as Record<string, unknown>).a, undefined);
});

test("JSON patch: later operations do not change a value of the patch or its copies", () => {
  const value = { n: 0 };
  const patched = applyJsonPatch({}, [
    { op: "add", path: "/a", value },
    { op: "copy", from: "/a", path: "/b" },
    { op: "replace", path: "/a/n", value: 1 },
  ]);
  assert.deepEqual([patched, value], [{ a: { n: 1 }, b: { n: 0 } }, { n: 0 }]);
});

const text = "x".repeat(copiedBytesMax / 2 - 2); // Half of the limit, including the quotes.
const copies = (count: number): JsonPatchOperation[] =>
  Array.from({ length: count }, (_, index) => ({ op: "copy", from: "/a", path: `/c${index}` }));

function nested(levels: number): unknown {
  let value: unknown = {};
  for (let level = 1; level < levels; level++) value = { a: value };
  return value;
}

const limitRows: [
  title: string,
  document: unknown,
  operations: JsonPatchOperation[],
  expected: "applied" | "copiedBytes" | "depth",
][] = [
  ["copied bytes at the limit", { a: text }, copies(2), "applied"],
  ["copied bytes above the limit", { a: text }, copies(3), "copiedBytes"],
  ["depth at the limit", {}, [{ op: "add", path: "/a", value: nested(retainedDepthMax - 1) }], "applied"],
  ["depth above the limit", {}, [{ op: "add", path: "/a", value: nested(retainedDepthMax) }], "depth"],
  [
    "copies of an object into itself",
    { a: { b: "x".repeat(100) } },
    selfCopies((index) => `/a/c${index}`),
    "copiedBytes",
  ],
  ["copies of a list into itself", { a: ["x".repeat(100)] }, selfCopies(() => "/a/-"), "copiedBytes"],
  [
    "copies of a value that other operations make longer",
    { a: { b: "" } },
    Array.from({ length: 40 }, (_, index) => [
      { op: "replace", path: "/a/b", value: "x".repeat(4096 * index) },
      { op: "copy", from: "/a", path: "/b" },
    ]).flat(),
    "copiedBytes",
  ],
  ["copies that double the depth", { a: nested(900) }, deepCopies(4), "depth"],
];

/** Each doubles the size of `/a`. */
function selfCopies(pathOf: (index: number) => string): JsonPatchOperation[] {
  return Array.from({ length: 20 }, (_, index) => ({ op: "copy", from: "/a", path: pathOf(index) }));
}

/** Each operation copies `/a` to the deepest object in `/a`. */
function deepCopies(count: number): { op: string; from: string; path: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    op: "copy",
    from: "/a",
    path: `${"/a".repeat(900 * 2 ** index)}/a`,
  }));
}

for (const [title, document, operations, expected] of limitRows) {
  test(`JSON patch limits: ${title}`, () => {
    const apply = () => applyJsonPatch(document, operations);
    if (expected === "applied") assert.doesNotThrow(apply);
    else assert.throws(apply, (error) => error instanceof JsonPatchError && error.limit === expected);
  });
}
