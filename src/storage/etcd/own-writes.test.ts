import assert from "node:assert/strict";
import { test } from "node:test";
import { OwnWrites } from "./own-writes.ts";

const seal = { fingerprint: 1, versionOffset: 0, itemOffset: 0 };
/** Above a third of the limit. */
const large = Buffer.alloc(11 << 20, "j");
const encoded = Buffer.alloc(11 << 20, "p");

const isKept = (own: OwnWrites, key: string, stored: Buffer): boolean => own.restore(key, stored).seal !== undefined;

test("drops the oldest values above 32 MiB, and counts another encoding of a value", () => {
  const own = new OwnWrites();
  for (const key of ["a", "b", "c"]) own.add({ key, value: large, seal });
  assert.deepEqual(
    ["a", "b", "c"].map((key) => isKept(own, key, large)),
    [false, true, true],
  );
  own.add({ key: "d", value: large, shared: encoded, seal });
  assert.deepEqual([isKept(own, "b", large), isKept(own, "c", large), isKept(own, "d", encoded)], [false, false, true]);
});

test("forgets a value when its event was delivered, but not a later one of the key", () => {
  const own = new OwnWrites();
  const [first, second] = [Buffer.from("1"), Buffer.from("2")];
  own.add({ key: "a", value: second, seal });
  own.delivered("a", first);
  assert.ok(isKept(own, "a", second));
  own.delivered("a", second);
  assert.ok(!isKept(own, "a", second));
});
