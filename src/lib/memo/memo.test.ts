import assert from "node:assert/strict";
import { test } from "node:test";
import { memo } from "./memo.ts";

test("makes a value once, and forgets the first one beyond the limit", () => {
  const known = memo<object>(2);
  const [a, b] = [known("a", () => ({})), known("b", () => ({}))];
  assert.equal(
    known("a", () => assert.fail()),
    a,
  );
  known("c", () => ({}));
  assert.equal(
    known("b", () => assert.fail()),
    b,
  );
  assert.notEqual(
    known("a", () => ({})),
    a,
  );
});

test("does not keep a value whose making fails", () => {
  const known = memo<number>(2);
  const fail = (): number => {
    throw new Error("no");
  };
  assert.throws(() => known("a", fail), /no/);
  assert.equal(
    known("a", () => 1),
    1,
  );
});
