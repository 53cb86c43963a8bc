import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { type DeflatedPart, deflatePart } from "../../lib/gzip/gzip-member.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { DeflatedParts, type PartForm } from "./deflated-parts.ts";

const form = { view: {}, encoding: "json" };
const kilobyte = "x".repeat(1000);

function entryOf(index: number, revision = 1, json: Buffer = Buffer.from(kilobyte)): Entry {
  return { key: `/registry/maps/${String(index).padStart(6, "0")}`, revision, json } as Entry;
}

const entries = Array.from({ length: 1000 }, (_, index) => entryOf(index));

/** Reads a list, compresses the parts that are not kept, and keeps them. @returns their number, and that of all parts */
async function read(
  parts: DeflatedParts,
  list: readonly Entry[],
  of: PartForm = form,
): Promise<{ made: number; all: number; longest: number }> {
  let [made, longest, at] = [0, 0, 0];
  let all = 0;
  for (const part of parts.partsOf(list, of)) {
    assert.deepEqual(part.entries, list.slice(at, at + part.entries.length));
    at += part.entries.length;
    all++;
    const bytes = Buffer.concat(part.entries.map(({ json }) => json));
    const deflated: DeflatedPart = await deflatePart(bytes);
    longest = Math.max(longest, bytes.length);
    if (part.deflated !== undefined) {
      assert.deepEqual(part.deflated, deflated);
      continue;
    }
    made++;
    part.keep(deflated);
  }
  assert.equal(at, list.length);
  return { made, all, longest };
}

test("a list that is read again compresses nothing", async () => {
  const parts = new DeflatedParts();
  const { made, all, longest } = await read(parts, entries);
  assert.equal(made, all);
  assert.ok(all >= 8 && longest <= 128 << 10);
  assert.equal((await read(parts, entries)).made, 0);
});

const changes: [what: string, change: (list: readonly Entry[]) => Entry[], madeMax: number][] = [
  ["an update of the first object of a part", (list) => list.with(0, entryOf(0, 2)), 1],
  ["an update of another object", (list) => list.with(500, entryOf(500, 2)), 1],
  ["an object that became longer", (list) => list.with(3, entryOf(3, 2, Buffer.from(kilobyte.repeat(3)))), 1],
  ["an object that became longer than a part", (list) => list.with(3, entryOf(3, 2, Buffer.alloc(300_000))), 3],
  ["a new first object", (list) => [entryOf(-1), ...list], 1],
  ["a deleted object", (list) => list.toSpliced(300, 1), 1],
  ["the deletion of the first object of a part", (list) => list.toSpliced(0, 1), 1],
  ["many new objects", (list) => list.toSpliced(200, 0, ...Array.from({ length: 60 }, (_, n) => entryOf(n + 2000))), 3],
  ["another object of the same revision", (list) => list.with(500, { ...entryOf(500), key: "other" }), 1],
];

for (const [what, change, madeMax] of changes)
  test(`after ${what}, only what changed is compressed`, async () => {
    const parts = new DeflatedParts();
    await read(parts, entries);
    const { made } = await read(parts, change(entries));
    assert.ok(made > 0 && made <= madeMax, `${made}`);
  });

test("views and encodings have parts of their own", async () => {
  const parts = new DeflatedParts();
  const { all } = await read(parts, entries);
  for (const other of [
    { ...form, view: {} },
    { ...form, encoding: "protobuf" },
  ])
    assert.equal((await read(parts, entries, other)).made, all);
  assert.equal((await read(parts, entries)).made, 0);
});

test("a part is compressed again when the text that it depends on changes", async () => {
  const parts = new DeflatedParts();
  let age = "1s";
  const table = { view: {}, encoding: "table", textOf: ([first]: readonly Entry[]) => `${first?.key} ${age}` };
  const { all } = await read(parts, entries, table);
  assert.equal((await read(parts, entries, table)).made, 0);
  age = "2s";
  assert.equal((await read(parts, entries, table)).made, all);
  assert.equal((await read(parts, entries, table)).made, 0);
});

test("of a list that does not fit, the beginning is kept", async () => {
  const parts = new DeflatedParts();
  const list = Array.from({ length: 30 }, (_, index) => entryOf(index, 1, randomBytes(500_000)));
  const { all } = await read(parts, list);
  const { made } = await read(parts, list);
  assert.ok(made > 0 && made < all, `${made}`);
});

test("parts that are not used again make room for others", async () => {
  const parts = new DeflatedParts();
  const lists = Array.from({ length: 3 }, (_, n) =>
    Array.from({ length: 12 }, (_, index) => entryOf(n * 100 + index, 1, randomBytes(500_000))),
  );
  for (const list of lists) await read(parts, list);
  const [oldest, , newest] = lists as [Entry[], Entry[], Entry[]];
  assert.equal((await read(parts, newest)).made, 0);
  assert.equal((await read(parts, oldest)).made, oldest.length);
});
