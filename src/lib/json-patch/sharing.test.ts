/**
 * Values that are at several places share memory until they change. Guarantees: a patch has the same result as its
 * operations one after another, each on a copy of its own; neither the document nor the patch changes; the notes make no
 * difference.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { cloneJson } from "../json/values.ts";
import { encodePatched, patchNotes } from "./encode-patched.ts";
import { applyJsonPatch, JsonPatchError, type JsonPatchOperation } from "./json-patch.ts";

const rounds = process.env.COXSWAIN_TEST_FULL === "1" ? 20_000 : 400;
/** More than the items of a list that is changed in pieces. */
const longItems = 4_100;
const parts = ["a", "b", "l", "m", "0", "1", "-", "-1"];
const names = ["add", "add", "remove", "replace", "move", "copy", "copy", "copy", "test"];

function randomOperation(random: (below: number) => number): JsonPatchOperation {
  const path = (): string =>
    Array.from({ length: 1 + random(3) }, () => `/${parts[random(parts.length)] as string}`).join("");
  const values = [1, "x", null, {}, { a: { b: {} } }, [], [{ a: 1 }], { a: [1, { b: 2 }], b: {} }];
  const op = names[random(names.length)] as string;
  return { op, path: path(), from: path(), value: values[random(values.length)] };
}

function documentOf(random: (below: number) => number): unknown {
  const list = Array.from({ length: random(4) === 0 ? longItems : 3 }, (_, index) => ({ i: index }));
  return { a: { a: {}, b: { a: 1 } }, b: { l: [1, 2] }, l: list, m: { l: [[], {}] } };
}

/** @returns the result, or the message of the error */
function attempt(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (error instanceof JsonPatchError) return error.message;
    throw error;
  }
}

test(`random patches, seed ${seed}`, () => {
  const random = seededRandom(seed);
  for (let round = 0; round < rounds; round++) {
    const document = documentOf(random);
    const operations: JsonPatchOperation[] = [];
    let model: unknown = cloneJson(document);
    while (operations.length < 12) {
      const operation = randomOperation(random);
      const next = attempt(() => applyJsonPatch(cloneJson(model), [cloneJson(operation)]));
      if (typeof next === "string") continue; // It does not apply.
      operations.push(operation);
      model = next;
    }
    const before = JSON.stringify([document, operations]);
    const result = applyJsonPatch(document, operations);
    assert.deepEqual(result, model, before.slice(0, 1000));
    const notes = patchNotes();
    const text = encodePatched(applyJsonPatch(document, operations, notes), notes);
    assert.deepEqual(JSON.parse(text), model, before.slice(0, 1000));
    assert.equal(JSON.stringify([document, operations]), before);
    spoil(result);
    assert.equal(JSON.stringify([document, operations]), before, "the result shares with its inputs");
    assert.deepEqual(applyJsonPatch(document, operations), model);
  }
});

/** Changes each object of a result: one that is at two places would be changed twice. */
function spoil(value: unknown, seen = new Set<object>()): void {
  if (typeof value !== "object" || value === null) return;
  assert.ok(!seen.has(value), "an object is at two places of the result");
  seen.add(value);
  for (const member of Object.values(value)) spoil(member, seen);
  if (!Array.isArray(value)) Object.assign(value, { spoiled: true });
}
