/**
 * Managers at several versions, removed versions, types that change within a version, and values
 * without a schema.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pathSetOf } from "./set.ts";
import { check, contextOf, type Row, type World } from "./testing/driver.ts";
import { atomicList, goStruct, int, keyed, map, set, string, struct } from "./testing/schemas.ts";
import { type PlainMap, TypedError } from "./typed.ts";
import { ApplyConflict, applyIntent, type Managers, updateManagers, type Versioned } from "./updater.ts";

/** `text` at v1 is `title` at v2, in the items of `list` too. */
const v1 = struct({
  text: string,
  number: int,
  list: keyed(["name"], struct({ name: string, text: string })),
  labels: map(string),
});
const v2 = struct({
  title: string,
  number: int,
  list: keyed(["name"], struct({ name: string, title: string })),
  labels: map(string),
});

function rename(object: PlainMap, from: string, to: string): PlainMap {
  const entries = Object.entries(object).map(([name, value]) => [
    name === from ? to : name,
    renameWithin(value, from, to),
  ]);
  return Object.fromEntries(entries);
}

function renameWithin(value: unknown, from: string, to: string): unknown {
  return Array.isArray(value) ? value.map((item) => rename(item as PlainMap, from, to)) : value;
}

const renaming: World = {
  schemas: { v1, v2 },
  convert: (object, from) => (from === "v1" ? rename(object, "text", "title") : rename(object, "title", "text")),
};

test("an empty map that is not stored conflicts at another version too, in custom resources", () => {
  const fields = struct({ labels: map(string) }).fields.map((field) => ({ ...field, pointer: false }));
  const byName = new Map(fields.map((field) => [field.name, field]));
  const conflictsOf = (custom: object | undefined): string[] => {
    const schema = { ...struct({}), fields, byName, ...(custom !== undefined && { custom }) } as typeof v1;
    const context = contextOf({ schemas: { v1: schema, v2: schema }, convert: (object) => object });
    const managers: Managers = new Map([["a", { set: pathSetOf([["f:labels"]]), version: "v1", applied: true }]]);
    const [live, intent] = [{}, { labels: {} }].map((object): Versioned => ({ object, version: "v2" }));
    try {
      applyIntent(context, live as Versioned, intent as Versioned, managers, "b", { force: false });
      return [];
    } catch (error) {
      if (!(error instanceof ApplyConflict)) throw error;
      return error.conflicts.map(({ manager }) => manager);
    }
  };
  assert.deepEqual(conflictsOf({}), ["a"]);
  assert.deepEqual(conflictsOf(undefined), []);
});

const versions: Row[] = [
  {
    what: "reports a conflict in the owner's version",
    operations: [
      { apply: "a", object: { text: "x" }, version: "v1" },
      { apply: "b", object: { title: "y" }, version: "v2", conflicts: { a: ["text"] } },
      { apply: "b", object: { title: "x" }, version: "v2" },
    ],
    object: { title: "x" },
    managers: { a: ["text"], b: ["title"] },
  },
  {
    what: "removes a field that left the intent, although the intent has another version now",
    operations: [
      { apply: "a", object: { text: "x", number: 1, list: [{ name: "i", text: "t" }, { name: "j" }] }, version: "v1" },
      { apply: "a", object: { number: 1, list: [{ name: "j" }] }, version: "v2" },
    ],
    object: { number: 1, list: [{ name: "j" }] },
    managers: { a: ["number", 'list[{"name":"j"}]', 'list[{"name":"j"}].name'] },
  },
  {
    what: "keeps a field that another manager owns at another version",
    operations: [
      { apply: "a", object: { text: "x", number: 1, list: [{ name: "i", text: "t" }] }, version: "v1" },
      { apply: "b", object: { title: "x", list: [{ name: "i", title: "t" }] }, version: "v2" },
      { apply: "a", object: { number: 1 }, version: "v1" },
    ],
    object: { text: "x", number: 1, list: [{ name: "i", text: "t" }] },
    managers: {
      a: ["number"],
      b: ["title", 'list[{"name":"i"}]', 'list[{"name":"i"}].name', 'list[{"name":"i"}].title'],
    },
  },
  {
    what: "an update at one version takes fields from managers at another",
    operations: [
      { apply: "a", object: { text: "x", number: 1 }, version: "v1" },
      { update: "u", object: { title: "y", number: 1 }, version: "v2" },
    ],
    managers: { a: ["number"], u: ["title"] },
  },
];
for (const row of versions) test(row.what, () => check(row, renaming));

const inGo: World = {
  ...renaming,
  schemas: { v1: goStruct({ text: string, number: int }), v2: goStruct({ title: string, number: int }) },
};
test("a field that Go always serializes stays when its owner gives it up at another version", () =>
  check(
    {
      what: "",
      operations: [
        { apply: "a", object: { text: "x", number: 1 }, version: "v1" },
        { apply: "a", object: { title: "x" }, version: "v2" },
      ],
      object: { title: "x", number: 1 },
      managers: { a: ["title"] },
    },
    inGo,
  ));

const managers: Managers = new Map([["a", { set: pathSetOf([["f:text"]]), version: "v1", applied: true }]]);
const failing = contextOf({
  schemas: { v1, v2 },
  convert(object) {
    if (object.title === "odd") throw new TypedError("odd");
    return rename(object, "title", "text");
  },
});
const unconvertible: [what: string, live: PlainMap, next: PlainMap, message: string][] = [
  ["the live object", { title: "odd" }, { title: "x" }, "odd"],
  ["the new object", { title: "x" }, { title: "odd" }, "failed to convert new object: odd"],
];
for (const [what, live, next, message] of unconvertible) {
  test(`a write fails when ${what} cannot be converted`, () => {
    const from: Versioned = { object: live, version: "v2" };
    const to: Versioned = { object: next, version: "v2" };
    assert.throws(() => updateManagers(failing, from, to, managers, "u"), { message });
    assert.throws(() => applyIntent(failing, from, to, managers, "u", { force: true }), { message });
  });
}

test("an apply fails when the merged object cannot be converted to the last applied version", () => {
  const live: Versioned = { object: { title: "x" }, version: "v2" };
  const intent: Versioned = { object: { title: "odd" }, version: "v2" };
  const message = "failed to prune fields: failed to convert merged object to last applied version: odd";
  assert.throws(() => applyIntent(failing, live, intent, managers, "a", { force: true }), { message });
});

const lost: Row[] = [
  {
    what: "an apply removes the managers of a version that no longer exists",
    operations: [
      { apply: "a", object: { title: "x" }, version: "v2" },
      { apply: "b", object: { number: 1 }, version: "v1" },
      { drop: "v2" },
      { apply: "b", object: { text: "y" }, version: "v1" },
    ],
    object: { text: "y" },
    managers: { b: ["text"] },
  },
  {
    what: "an update removes the managers of a version that no longer exists",
    operations: [
      { apply: "a", object: { title: "x" }, version: "v2" },
      { update: "b", object: { text: "x" }, version: "v1" },
      { drop: "v2" },
      { update: "b", object: { text: "x", number: 1 }, version: "v1" },
    ],
    managers: { b: ["number"] },
  },
  {
    what: "an applier whose last version no longer exists removes nothing",
    operations: [
      { apply: "a", object: { title: "x" }, version: "v2" },
      { apply: "b", object: { number: 1 }, version: "v1" },
      { drop: "v2" },
      { apply: "a", object: { number: 1 }, version: "v1" },
    ],
    object: { text: "x", number: 1 },
    managers: { a: ["number"], b: ["number"] },
  },
];
for (const row of lost) test(row.what, () => check(row, renaming));

const granular = struct({
  text: string,
  struct: struct({ a: int, b: int }),
  map: map(string),
  list: keyed(["name"], struct({ name: string, x: int })),
  set: set(string),
});
const atomic = struct({
  text: string,
  struct: struct({ a: int, b: int }, { atomic: true }),
  map: map(string, { atomic: true }),
  list: atomicList(struct({ name: string, x: int })),
  set: atomicList(string),
});
const whole = { struct: { a: 1, b: 2 }, map: { k: "v" }, list: [{ name: "i", x: 1 }], set: ["s"] };
const toAtomic: Row[] = [
  {
    what: "granular becomes atomic: the owner of a part owns the whole, and conflicts",
    operations: [
      { apply: "a", object: { struct: { a: 1 }, map: { k: "v" }, list: [{ name: "i", x: 1 }], set: ["s"] } },
      { apply: "b", object: { struct: { b: 2 } } },
      { schema: atomic },
      { apply: "c", object: { struct: { a: 1 } }, conflicts: { a: ["struct"], b: ["struct"] } },
      { apply: "c", object: { list: [] }, conflicts: { a: ["list"] } },
      { apply: "c", object: { text: "x" } },
    ],
    managers: { a: ["struct", "map", "list", "set"], b: ["struct"], c: ["text"] },
  },
  {
    what: "the owner of a map does not regain entries that other managers took",
    operations: [
      { update: "a", object: { map: { k: "v" } } },
      { update: "b", object: { map: { k: "w" } } },
      { update: "c", object: { map: { k: "w" }, text: "x" } },
    ],
    managers: { a: ["map"], b: ["map.k"], c: ["text"] },
  },
  {
    what: "granular becomes atomic: an update takes the whole",
    operations: [
      { apply: "a", object: whole },
      { schema: atomic },
      { update: "u", object: { ...whole, set: ["s", "t"] } },
    ],
    managers: { a: ["struct", "map", "list"], u: ["set"] },
  },
];
for (const row of toAtomic) test(row.what, () => check(row, { schemas: { v1: granular } }));

const toGranular: Row[] = [
  {
    what: "atomic becomes granular: the owner of the whole keeps its path and owns nothing in it",
    operations: [{ apply: "a", object: whole }, { schema: granular }, { apply: "b", object: { text: "x" } }],
    managers: { a: ["struct", "map", "list", "set"], b: ["text"] },
  },
  {
    what: "atomic becomes granular: changes of its content do not conflict",
    operations: [
      { apply: "a", object: whole },
      { apply: "b", object: { map: { k: "w" } }, conflicts: { a: ["map"] } },
      { schema: granular },
      { apply: "b", object: { map: { k: "w", l: "w" }, set: ["t"] } },
    ],
    object: { ...whole, map: { k: "w", l: "w" }, set: ["s", "t"] },
    managers: { a: ["struct", "map", "list", "set"], b: ["map.k", "map.l", 'set["t"]'] },
  },
  {
    what: "atomic becomes granular: content that leaves the owner's intent stays, without an owner",
    operations: [
      { apply: "a", object: whole },
      { schema: granular },
      { apply: "a", object: { map: { k: "v" }, struct: { a: 1 } } },
    ],
    object: { map: { k: "v" }, struct: { a: 1, b: 2 } },
  },
];
for (const row of toGranular) test(row.what, () => check(row, { schemas: { v1: atomic } }));

const open = struct({ name: string }, { preserveUnknown: true });
const deduced: Row[] = [
  {
    what: "deduced: maps by key, lists whole",
    operations: [
      { apply: "a", object: { spec: { x: 1, list: [{ name: "i" }], deep: { y: [1] } } } },
      { apply: "b", object: { spec: { z: null, deep: {} } } },
      { apply: "b", object: { spec: { list: [] } }, conflicts: { a: ["spec.list"] } },
    ],
    object: { spec: { x: 1, list: [{ name: "i" }], deep: { y: [1] }, z: null } },
    managers: { a: ["spec", "spec.x", "spec.list", "spec.deep", "spec.deep.y"], b: ["spec", "spec.z", "spec.deep"] },
  },
  {
    what: "deduced: removes a field that left the intent",
    operations: [
      { apply: "a", object: { spec: { x: 1, deep: { y: 1 } } } },
      { apply: "a", object: { spec: { x: 1 } } },
    ],
    object: { spec: { x: 1 } },
    managers: { a: ["spec", "spec.x"] },
  },
  {
    what: "deduced: a map becomes a scalar",
    operations: [
      { apply: "a", object: { spec: { x: { y: 1 } } } },
      { apply: "b", object: { spec: { x: 1 } }, conflicts: { a: ["spec.x"] } },
      { apply: "b", object: { spec: { x: 1 } }, force: true },
    ],
    object: { spec: { x: 1 } },
    managers: { a: ["spec"], b: ["spec", "spec.x"] },
  },
  {
    what: "deduced: a scalar becomes a map",
    operations: [
      { update: "u", object: { spec: { x: 1 } } },
      { update: "v", object: { spec: { x: { y: 1 } } } },
    ],
    managers: { u: ["spec"], v: ["spec.x", "spec.x.y"] },
  },
  {
    what: "deduced: a list becomes a map",
    operations: [
      { update: "u", object: { spec: { x: [1] } } },
      { update: "v", object: { spec: { x: { y: 1 } } } },
    ],
    managers: { u: ["spec"], v: ["spec.x", "spec.x.y"] },
  },
];
for (const row of deduced) test(row.what, () => check(row, { schemas: { v1: open } }));
