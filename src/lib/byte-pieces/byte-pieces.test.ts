import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { BytePieces } from "./byte-pieces.ts";

const collected = (pieces: readonly Buffer[]): BytePieces => {
  const bytes = new BytePieces();
  for (const piece of pieces) bytes.add(piece);
  return bytes;
};

for (const count of [0, 1, 2, 255, 256, 257, 1000])
  test(`joins ${count} pieces in their order`, () => {
    const pieces = Array.from({ length: count }, (_, index) => Buffer.from(`${index},`));
    const bytes = collected(pieces);
    assert.equal(bytes.length, Buffer.concat(pieces).length);
    assert.deepEqual(bytes.join(), Buffer.concat(pieces));
  });

test("returns an only piece itself", () => {
  const piece = Buffer.from("a");
  assert.equal(collected([piece]).join(), piece);
});

test("counts dropped bytes", () => {
  const bytes = collected(Array.from({ length: 300 }, () => Buffer.from("ab")));
  bytes.drop();
  assert.equal(bytes.length, 600);
  assert.equal(bytes.join().length, 0);
});

test("keeps few of many pieces", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const bytes = new BytePieces();
  const source = Buffer.alloc(10_000);
  const references = Array.from(source, (_, at) => {
    const piece = source.subarray(at, at + 1);
    bytes.add(piece);
    return new WeakRef(piece);
  });
  await new Promise((resolve) => setImmediate(resolve)); // Until then a reference holds what it was made for.
  collect();
  assert.ok(references.filter((reference) => reference.deref() !== undefined).length < 256);
  assert.equal(bytes.join().length, source.length);
});
