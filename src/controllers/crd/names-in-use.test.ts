import assert from "node:assert/strict";
import { test } from "node:test";
import type { HeldNames } from "./contract.ts";
import { NamesInUse } from "./names-in-use.ts";

const held = (kind: string, more: Partial<HeldNames> = {}): HeldNames => ({
  group: "example.com",
  resources: [`${kind.toLowerCase()}s`],
  kinds: [kind],
  waits: false,
  ...more,
});

test("a name is in use until every definition that has it is removed", () => {
  const names = new NamesInUse();
  const isUsed = (): boolean => names.used("example.com").kinds.has("Widget");
  names.set("a", held("Widget"));
  names.set("b", held("Widget"));
  names.set("b", held("Gadget"));
  assert.equal(isUsed(), true);
  names.remove("a");
  assert.equal(isUsed(), false);
  assert.equal(names.used("example.com").resources.has("gadgets"), true);
});

test("a definition has the names of its group only", () => {
  const names = new NamesInUse();
  names.set("a", held("Widget"));
  assert.equal(names.used("example.org").kinds.has("Widget"), false);
});

test("reserved names are in use until they are released", () => {
  const names = new NamesInUse();
  const release = names.reserve(held("Widget"));
  names.set("a", held("Gadget"));
  assert.equal(names.used("example.com").kinds.has("Widget"), true);
  release();
  assert.equal(names.used("example.com").kinds.has("Widget"), false);
  assert.equal(names.used("example.com").kinds.has("Gadget"), true);
});

test("lists the definitions of a group that wait for names", () => {
  const names = new NamesInUse();
  names.set("a", held("Widget", { waits: true }));
  names.set("b", held("Gadget"));
  names.set("c", held("Other", { waits: true, group: "example.org" }));
  assert.deepEqual([...names.waiting("example.com")], ["a"]);
  names.set("a", held("Widget"));
  assert.deepEqual([...names.waiting("example.com")], []);
  assert.deepEqual([...names.definitions()], ["b", "c", "a"]);
});
