import assert from "node:assert/strict";
import { test } from "node:test";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { type Reference, Uses } from "./uses.ts";

test(`the index equals a search of all users, and keeps nothing of removed users (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  const uses = new Uses<number>();
  const model = new Map<string, readonly Reference<number>[]>();
  const name = (prefix: string): string => `${prefix}${random(6)}`;
  for (let step = 0; step < 2000; step++) {
    const user = name("user");
    const references = Array.from({ length: random(4) }, (): Reference<number> => [name("used"), random(3)]);
    const before = model.get(user) ?? [];
    const changed = uses.set(user, references);
    assert.deepEqual([...changed].sort(), [...new Set([...before, ...references].map(([used]) => used))].sort());
    model.set(user, references);
    const used = name("used");
    const expected = [...model.values()].flat().filter(([key]) => key === used);
    assert.deepEqual([...uses.of(used)].sort(), expected.map(([, use]) => use).sort());
  }
  for (const user of model.keys()) uses.set(user, []);
  assert.equal(uses.size, 0);
  assert.deepEqual([...uses.users()], []);
});
