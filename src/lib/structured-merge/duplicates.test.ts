/** Duplicate list items: tolerated in stored objects, owned as a whole, rejected in an intent. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldSetOf } from "./field-set.ts";
import { check, type Row } from "./testing/driver.ts";
import { int, keyed, set, string, struct } from "./testing/schemas.ts";
import { TypedError } from "./typed.ts";
import { validateIntent } from "./validate.ts";

const schema = struct({
  list: keyed(["name"], struct({ name: string, one: int, two: int })),
  unrelated: int,
  set: set(int),
});

const twice = [
  { name: "a", one: 1 },
  { name: "a", one: 2 },
];
const b = { name: "b", one: 3 };
const ofA = ['list[{"name":"a"}]', 'list[{"name":"a"}].name', 'list[{"name":"a"}].one'];
const ofB = ['list[{"name":"b"}]', 'list[{"name":"b"}].name', 'list[{"name":"b"}].one'];

const rows: Row[] = [
  {
    what: "a set with duplicates: each value is owned once",
    operations: [{ update: "u", object: { set: [1, 1, 3, 4] } }],
    managers: { u: ["set", "set[1]", "set[3]", "set[4]"] },
  },
  {
    what: "the manager that adds a duplicate owns the value",
    operations: [
      { update: "u", object: { set: [1, 3, 4] } },
      { update: "v", object: { set: [1, 1, 3, 4] } },
    ],
    managers: { u: ["set", "set[3]", "set[4]"], v: ["set[1]"] },
  },
  {
    what: "the manager that removes a duplicate owns the value",
    operations: [
      { update: "u", object: { set: [1, 1, 3, 4] } },
      { update: "v", object: { set: [1, 3, 4] } },
    ],
    managers: { u: ["set", "set[3]", "set[4]"], v: ["set[1]"] },
  },
  {
    what: "an apply of a duplicate value leaves one",
    operations: [
      { update: "u", object: { set: [1, 1, 3, 4] } },
      { apply: "a", object: { set: [1] }, conflicts: { u: ["set[1]"] } },
      { apply: "a", object: { set: [1] }, force: true },
    ],
    object: { set: [1, 3, 4] },
    managers: { u: ["set", "set[3]", "set[4]"], a: ["set[1]"] },
  },
  {
    what: "an apply of another value leaves duplicates alone",
    operations: [
      { update: "u", object: { set: [1, 1, 3, 4] } },
      { apply: "a", object: { set: [5] } },
    ],
    object: { set: [1, 1, 3, 4, 5] },
    managers: { u: ["set", "set[1]", "set[3]", "set[4]"], a: ["set[5]"] },
  },
  {
    what: "duplicate items are owned as a whole",
    operations: [{ update: "u", object: { list: [...twice, b] } }],
    managers: { u: ["list", 'list[{"name":"a"}]', ...ofB] },
  },
  {
    what: "the manager that changes one of the duplicates owns them",
    operations: [
      { update: "u", object: { list: [...twice, b] } },
      { update: "v", object: { list: [twice[0], { name: "a", one: 3 }, b] } },
    ],
    managers: { u: ["list", ...ofB], v: ['list[{"name":"a"}]'] },
  },
  {
    what: "the manager that adds a field to one of the duplicates owns them",
    operations: [
      { update: "u", object: { list: [...twice, b] } },
      { update: "v", object: { list: [twice[0], { name: "a", one: 2, two: 3 }, b] } },
    ],
    managers: { u: ["list", ...ofB], v: ['list[{"name":"a"}]'] },
  },
  {
    what: "the manager that adds the second item owns both",
    operations: [
      { update: "u", object: { list: [twice[0], b] } },
      { update: "v", object: { list: [twice[0], { name: "a", two: 3 }, b] } },
    ],
    managers: { u: ["list", ...ofB], v: ['list[{"name":"a"}]'] },
  },
  {
    what: "adding another item does not change the owner of the duplicates",
    operations: [
      { update: "u", object: { list: twice } },
      { update: "v", object: { list: [...twice, b] } },
    ],
    managers: { u: ["list", 'list[{"name":"a"}]'], v: ofB },
  },
  {
    what: "an apply of another field does not change duplicates",
    operations: [
      { update: "u", object: { list: [...twice, b] } },
      { apply: "a", object: { unrelated: 5 }, force: true },
    ],
    object: { list: [...twice, b], unrelated: 5 },
    managers: { u: ["list", 'list[{"name":"a"}]', ...ofB], a: ["unrelated"] },
  },
  {
    what: "an apply of the item replaces the duplicates by the intent's item",
    operations: [
      { update: "u", object: { list: [...twice, b] } },
      { apply: "a", object: { list: [{ name: "a", one: 3 }] }, conflicts: { u: ['list[{"name":"a"}]'] } },
      { apply: "a", object: { list: [{ name: "a", one: 3 }] }, force: true },
    ],
    object: { list: [{ name: "a", one: 3 }, b] },
    managers: { u: ["list", ...ofB], a: ofA },
  },
  {
    what: "the content of duplicates is not merged into the intent's item",
    operations: [
      { update: "u", object: { list: [...twice, b] } },
      { apply: "a", object: { list: [{ name: "a", two: 5 }] }, force: true },
    ],
    object: { list: [{ name: "a", two: 5 }, b] },
  },
  {
    what: "an apply that equals one of the duplicates conflicts",
    operations: [
      { update: "u", object: { list: [...twice, b] } },
      { apply: "a", object: { list: [{ name: "a", one: 2 }] }, conflicts: { u: ['list[{"name":"a"}]'] } },
    ],
  },
  {
    what: "an apply of another item does not change duplicates",
    operations: [
      { update: "u", object: { list: [...twice, b] } },
      { apply: "a", object: { list: [{ name: "b", one: 4 }] }, force: true },
    ],
    object: { list: [...twice, { name: "b", one: 4 }] },
    managers: { u: ["list", 'list[{"name":"a"}]', 'list[{"name":"b"}]', 'list[{"name":"b"}].name'], a: ofB },
  },
  {
    what: "an item that became a duplicate and left the intent stays",
    operations: [
      { apply: "a", object: { list: [twice[0], b] } },
      { update: "u", object: { list: [...twice, b] } },
      { apply: "a", object: { list: [b] } },
    ],
    object: { list: [...twice, b] },
    managers: { a: ofB, u: ['list[{"name":"a"}]'] },
  },
];
for (const row of rows) test(row.what, () => check(row, { schemas: { v1: schema } }));

const rejected: [what: string, intent: Record<string, unknown>, message: string][] = [
  ["a value twice", { set: [1, 2, 1] }, ".set: duplicate entries for key [=1]"],
  ["an item twice", { list: twice }, '.list: duplicate entries for key [name="a"]'],
  [
    "an item without its key",
    { list: [{ one: 1 }] },
    `element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`,
  ],
];
for (const [what, intent, message] of rejected) {
  test(`rejects an intent with ${what}`, () => {
    const endsWith = (error: unknown): boolean => error instanceof TypedError && error.message.endsWith(message);
    assert.throws(() => fieldSetOf(intent, schema), endsWith);
    assert.throws(() => validateIntent(intent, schema), endsWith);
  });
}
