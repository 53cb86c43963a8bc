import assert from "node:assert/strict";
import { test } from "node:test";
import { applyJsonPatch, type JsonPatchOperation } from "../json-patch/json-patch.ts";
import { diffJson } from "./diff.ts";

const rows: [what: string, before: unknown, after: unknown, patch: object[]][] = [
  ["equal values", { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
  ["a new member", { a: 1 }, { a: 1, b: 2 }, [{ op: "add", path: "/b", value: 2 }]],
  ["a removed member", { a: 1, b: 2 }, { a: 1 }, [{ op: "remove", path: "/b" }]],
  ["a changed member", { a: { b: 1 } }, { a: { b: 2 } }, [{ op: "replace", path: "/a/b", value: 2 }]],
  ["escaped names", { "a/b~c": 1 }, { "a/b~c": 2 }, [{ op: "replace", path: "/a~1b~0c", value: 2 }]],
  ["appended items", { a: [1] }, { a: [1, 2] }, [{ op: "add", path: "/a/-", value: 2 }]],
  ["other items", { a: [1, 2] }, { a: [2] }, [{ op: "replace", path: "/a", value: [2] }]],
  ["another kind of value", { a: [1] }, { a: "1" }, [{ op: "replace", path: "/a", value: "1" }]],
  ["an undefined member is absent", { a: undefined }, { b: undefined }, []],
  ["a member like those of every object", {}, { toString: 1 }, [{ op: "add", path: "/toString", value: 1 }]],
];

for (const [what, before, after, patch] of rows)
  test(`diff: ${what}`, () => {
    assert.deepEqual(diffJson(before, after), patch);
    const document = structuredClone(before);
    assert.deepEqual(
      JSON.parse(JSON.stringify(applyJsonPatch(document, diffJson(before, after) as JsonPatchOperation[]))),
      JSON.parse(JSON.stringify(after)),
    );
  });
