/**
 * Field ownership after updates and applies of one version. Rows follow structured-merge-diff's
 * cases.
 */
import { test } from "node:test";
import { check, type Row } from "./testing/driver.ts";
import { atomicList, bool, goStruct, int, keyed, map, set, string, struct } from "./testing/schemas.ts";

const item = struct({ name: string, value: int, on: bool });
const port = struct({ port: int, protocol: [string, "TCP"], name: string });
const nested = struct({
  text: string,
  number: int,
  labels: map(string),
  frozen: map(string, { atomic: true }),
  whole: struct({ a: int, b: int }, { atomic: true }),
  inner: struct({ a: int, b: int, deep: struct({ c: int }) }),
  set: set(string),
  atomic: atomicList(string),
  list: keyed(["name"], item),
  pairs: keyed(["name", "id"], struct({ name: string, id: int, value: int })),
  ports: keyed(["port", "protocol"], port),
  tree: keyed(["name"], struct({ name: string, byKey: map(keyed(["name"], item)), map: map(map(string)) })),
  matrix: map(map(int)),
});
const schemas = { v1: nested };

const leaves: Row[] = [
  {
    what: "an apply owns the fields of its intent",
    operations: [{ apply: "a", object: { text: "x", number: 1 } }],
    object: { text: "x", number: 1 },
    managers: { a: ["text", "number"] },
  },
  { what: "an empty intent owns nothing", operations: [{ apply: "a", object: {} }], object: {}, managers: {} },
  {
    what: "applying another value than an applier's conflicts",
    operations: [
      { apply: "a", object: { text: "x" } },
      { apply: "b", object: { text: "y" }, conflicts: { a: ["text"] } },
    ],
    object: { text: "x" },
    managers: { a: ["text"] },
  },
  {
    what: "force takes the field, and a manager without fields is removed",
    operations: [
      { apply: "a", object: { text: "x" } },
      { apply: "b", object: { text: "y" }, force: true },
    ],
    object: { text: "y" },
    managers: { b: ["text"] },
  },
  {
    what: "appliers of the same value share the field",
    operations: [
      { apply: "a", object: { text: "x", number: 1 } },
      { apply: "b", object: { text: "x" } },
    ],
    object: { text: "x", number: 1 },
    managers: { a: ["text", "number"], b: ["text"] },
  },
  {
    what: "changing a shared field conflicts with the other owners",
    operations: [
      { apply: "a", object: { text: "x" } },
      { apply: "b", object: { text: "x" } },
      { apply: "a", object: { text: "z" }, conflicts: { b: ["text"] } },
      { apply: "c", object: { text: "z" }, conflicts: { a: ["text"], b: ["text"] } },
    ],
  },
  {
    what: "a field that leaves the intent is removed when no other manager owns it",
    operations: [
      { apply: "a", object: { text: "x", number: 1 } },
      { apply: "b", object: { text: "x" } },
      { apply: "a", object: {} },
    ],
    object: { text: "x" },
    managers: { b: ["text"] },
  },
  {
    what: "an updater owns a field that it changed, also after it left the applier's intent",
    operations: [
      { apply: "a", object: { text: "x", number: 1 } },
      { update: "u", object: { text: "x", number: 2 } },
      { apply: "a", object: { text: "x" } },
    ],
    object: { text: "x", number: 2 },
    managers: { a: ["text"], u: ["number"] },
  },
  {
    what: "an applier conflicts with an updater",
    operations: [
      { update: "u", object: { text: "x" } },
      { apply: "a", object: { text: "y" }, conflicts: { u: ["text"] } },
    ],
  },
  {
    what: "an update that changes nothing owns nothing",
    operations: [
      { apply: "a", object: { text: "x" } },
      { update: "u", object: { text: "x" } },
    ],
    managers: { a: ["text"] },
  },
  {
    what: "a field that an update removes loses its owner",
    operations: [
      { apply: "a", object: { text: "x", number: 1 } },
      { update: "u", object: { number: 1 } },
    ],
    object: { number: 1 },
    managers: { a: ["number"] },
  },
  {
    what: "an updater that reverts its own change loses the field",
    operations: [
      { update: "u", object: { text: "x" } },
      { update: "u", object: { text: "y", number: 1 } },
      { update: "u", object: { number: 1 } },
    ],
    managers: { u: ["number"] },
  },
  {
    what: "an updater that applies becomes an applier",
    operations: [
      { update: "u", object: { text: "x", number: 1 } },
      { apply: "u", object: { text: "x" } },
    ],
    object: { text: "x" },
    managers: { u: ["text"] },
  },
];

const maps: Row[] = [
  {
    what: "each map entry has its own owners",
    operations: [
      { apply: "a", object: { labels: { one: "1", both: "x" } } },
      { apply: "b", object: { labels: { two: "2", both: "x" } } },
      { apply: "a", object: { labels: { one: "1" } } },
    ],
    object: { labels: { one: "1", two: "2", both: "x" } },
    managers: { a: ["labels.one"], b: ["labels.two", "labels.both"] },
  },
  {
    what: "a map that its only owner empties is removed",
    operations: [
      { apply: "a", object: { text: "x", labels: { one: "1" } } },
      { apply: "a", object: { text: "x" } },
    ],
    object: { text: "x" },
    managers: { a: ["text"] },
  },
  {
    what: "a map that its owner empties stays when another manager owns it as empty",
    operations: [
      { apply: "a", object: { inner: { deep: { c: 1 } }, labels: { one: "1" } } },
      { apply: "b", object: { inner: { deep: {} }, labels: {} } },
      { apply: "a", object: { text: "x" } },
    ],
    object: { inner: { deep: {} }, labels: {}, text: "x" },
    managers: { a: ["text"], b: ["inner.deep", "labels"] },
  },
  {
    what: "an empty map and null are different values",
    operations: [
      { apply: "a", object: { labels: null } },
      { apply: "b", object: { labels: {} }, conflicts: { a: ["labels"] } },
      { apply: "b", object: { labels: {} }, force: true },
    ],
    object: { labels: {} },
    managers: { b: ["labels"] },
  },
  {
    what: "adding entries to a map that is owned as empty does not conflict",
    operations: [
      { apply: "a", object: { labels: {} } },
      { apply: "b", object: { labels: { one: "1" } } },
      { apply: "c", object: { text: "x" } },
    ],
    object: { labels: { one: "1" }, text: "x" },
    managers: { a: ["labels"], b: ["labels.one"], c: ["text"] },
  },
  {
    what: "applying an empty map does not change the content",
    operations: [
      { update: "u", object: { labels: { one: "1" } } },
      { apply: "a", object: { labels: {} } },
    ],
    object: { labels: { one: "1" } },
    managers: { a: ["labels"], u: ["labels", "labels.one"] },
  },
  {
    what: "applying null for a map or list does not change the content",
    operations: [
      { update: "u", object: { labels: { one: "1" }, list: [{ name: "a" }] } },
      { apply: "a", object: { labels: null, list: null } },
    ],
    object: { labels: { one: "1" }, list: [{ name: "a" }] },
    managers: {
      a: ["labels", "list"],
      u: ["labels", "labels.one", "list", 'list[{"name":"a"}]', 'list[{"name":"a"}].name'],
    },
  },
  {
    what: "null for a scalar is a value like any other",
    operations: [
      { update: "u", object: { text: "x" } },
      { apply: "a", object: { text: null }, conflicts: { u: ["text"] } },
      { apply: "a", object: { text: null }, force: true },
    ],
    object: { text: null },
    managers: { a: ["text"] },
  },
  {
    what: "an atomic map is owned and replaced whole",
    operations: [
      { apply: "a", object: { frozen: { one: "1" } } },
      { apply: "b", object: { frozen: { two: "2" } }, conflicts: { a: ["frozen"] } },
      { apply: "b", object: { frozen: { two: "2" } }, force: true },
    ],
    object: { frozen: { two: "2" } },
    managers: { b: ["frozen"] },
  },
  {
    what: "an atomic struct within a granular one",
    operations: [
      { apply: "a", object: { whole: { a: 1, b: 2 }, inner: { a: 1 } } },
      { apply: "b", object: { whole: { a: 1 } }, conflicts: { a: ["whole"] } },
      { apply: "b", object: { inner: { b: 1 } } },
      { apply: "a", object: { inner: { a: 1 } } },
    ],
    object: { inner: { a: 1, b: 1 } },
    managers: { a: ["inner.a"], b: ["inner.b"] },
  },
  {
    what: "nested structs are removed when they become empty",
    operations: [
      { apply: "a", object: { text: "x", inner: { deep: { c: 1 } } } },
      { apply: "a", object: { text: "x" } },
    ],
    object: { text: "x" },
    managers: { a: ["text"] },
  },
  {
    what: "a struct applied as empty is owned",
    operations: [
      { apply: "a", object: { inner: {} } },
      { apply: "b", object: { inner: { a: 1 } } },
    ],
    object: { inner: { a: 1 } },
    managers: { a: ["inner"], b: ["inner.a"] },
  },
  {
    what: "maps of maps",
    operations: [
      { apply: "a", object: { matrix: { x: { y: 1 } } } },
      { apply: "b", object: { matrix: { x: { z: 2 } } } },
      { apply: "a", object: {} },
    ],
    object: { matrix: { x: { z: 2 } } },
    managers: { b: ["matrix.x", "matrix.x.z"] },
  },
];

const lists: Row[] = [
  {
    what: "an atomic list is owned and replaced whole",
    operations: [
      { apply: "a", object: { atomic: ["x"] } },
      { apply: "b", object: { atomic: ["x", "y"] }, conflicts: { a: ["atomic"] } },
      { apply: "a", object: { atomic: ["y"] } },
    ],
    object: { atomic: ["y"] },
    managers: { a: ["atomic"] },
  },
  {
    what: "an empty atomic list is owned, an empty associative one is not",
    operations: [{ apply: "a", object: { atomic: [], set: [], list: [] } }],
    object: { atomic: [], set: [], list: [] },
    managers: { a: ["atomic"] },
  },
  {
    what: "each value of a set has its own owners",
    operations: [
      { apply: "a", object: { set: ["x", "y"] } },
      { apply: "b", object: { set: ["z", "y"] } },
      { apply: "a", object: { set: ["x"] } },
    ],
    object: { set: ["x", "z", "y"] },
    managers: { a: ['set["x"]'], b: ['set["y"]', 'set["z"]'] },
  },
  {
    what: "an updater adds to a set and removes from it",
    operations: [
      { apply: "a", object: { set: ["x", "y"] } },
      { update: "u", object: { set: ["y", "z"] } },
    ],
    object: { set: ["y", "z"] },
    managers: { a: ['set["y"]'], u: ['set["z"]'] },
  },
  {
    what: "items of the intent follow its order, other items keep their places",
    operations: [
      { update: "u", object: { set: ["a", "b", "c", "d", "e"] } },
      { apply: "a", object: { set: ["d", "b", "new"] } },
    ],
    object: { set: ["a", "c", "d", "e", "b", "new"] },
  },
  {
    what: "items of a keyed list are merged",
    operations: [
      { apply: "a", object: { list: [{ name: "x", value: 1 }] } },
      { apply: "b", object: { list: [{ name: "x", on: true }, { name: "y" }] } },
    ],
    object: { list: [{ name: "x", value: 1, on: true }, { name: "y" }] },
    managers: {
      a: ['list[{"name":"x"}]', 'list[{"name":"x"}].name', 'list[{"name":"x"}].value'],
      b: [
        'list[{"name":"x"}]',
        'list[{"name":"x"}].name',
        'list[{"name":"x"}].on',
        'list[{"name":"y"}]',
        'list[{"name":"y"}].name',
      ],
    },
  },
  {
    what: "an item is removed with its last applier",
    operations: [
      { apply: "a", object: { list: [{ name: "x", value: 1 }, { name: "y" }] } },
      { apply: "b", object: { list: [{ name: "x" }] } },
      { apply: "a", object: { list: [] } },
    ],
    object: { list: [{ name: "x" }] },
    managers: { b: ['list[{"name":"x"}]', 'list[{"name":"x"}].name'] },
  },
  {
    what: "a removed item takes along the fields that an updater wrote into it",
    operations: [
      { apply: "a", object: { list: [{ name: "x" }, { name: "y" }] } },
      { update: "u", object: { list: [{ name: "x", value: 2 }, { name: "y" }] } },
      { apply: "a", object: { list: [{ name: "y" }] } },
    ],
    object: { list: [{ name: "y" }] },
    managers: { a: ['list[{"name":"y"}]', 'list[{"name":"y"}].name'] },
  },
  {
    what: "conflict within an item",
    operations: [
      { apply: "a", object: { list: [{ name: "x", value: 1 }] } },
      { apply: "b", object: { list: [{ name: "x", value: 2 }] }, conflicts: { a: ['list[{"name":"x"}].value'] } },
    ],
  },
  {
    what: "several keys",
    operations: [
      {
        apply: "a",
        object: {
          pairs: [
            { name: "x", id: 1, value: 1 },
            { name: "x", id: 2 },
          ],
        },
      },
      {
        apply: "b",
        object: {
          pairs: [
            { id: 2, name: "x", value: 9 },
            { name: "y", id: 1 },
          ],
        },
      },
      { apply: "a", object: { pairs: [{ name: "x", id: 2 }] } },
    ],
    object: {
      pairs: [
        { name: "x", id: 2, value: 9 },
        { name: "y", id: 1 },
      ],
    },
  },
  {
    what: "some of several keys are enough to identify an item",
    operations: [{ apply: "a", object: { pairs: [{ name: "x" }, { id: 1 }] } }],
    managers: { a: ['pairs[{"name":"x"}]', 'pairs[{"name":"x"}].name', 'pairs[{"id":1}]', 'pairs[{"id":1}].id'] },
  },
  {
    what: "a key with a default may be absent",
    operations: [
      { apply: "a", object: { ports: [{ port: 80 }, { port: 80, protocol: "UDP" }] } },
      { apply: "b", object: { ports: [{ port: 80, protocol: "TCP", name: "http" }] } },
    ],
    object: {
      ports: [
        { port: 80, protocol: "TCP", name: "http" },
        { port: 80, protocol: "UDP" },
      ],
    },
    managers: {
      a: [
        'ports[{"port":80,"protocol":"TCP"}]',
        'ports[{"port":80,"protocol":"TCP"}].port',
        'ports[{"port":80,"protocol":"UDP"}]',
        'ports[{"port":80,"protocol":"UDP"}].port',
        'ports[{"port":80,"protocol":"UDP"}].protocol',
      ],
      b: [
        'ports[{"port":80,"protocol":"TCP"}]',
        'ports[{"port":80,"protocol":"TCP"}].port',
        'ports[{"port":80,"protocol":"TCP"}].protocol',
        'ports[{"port":80,"protocol":"TCP"}].name',
      ],
    },
  },
  {
    what: "lists in maps in lists",
    operations: [
      { apply: "a", object: { tree: [{ name: "t", byKey: { k: [{ name: "i", value: 1 }] } }] } },
      { apply: "b", object: { tree: [{ name: "t", byKey: { k: [{ name: "j" }], l: [] } }] } },
      { apply: "a", object: { tree: [{ name: "t" }] } },
    ],
    object: { tree: [{ name: "t", byKey: { k: [{ name: "j" }], l: [] } }] },
    managers: {
      a: ['tree[{"name":"t"}]', 'tree[{"name":"t"}].name'],
      b: [
        'tree[{"name":"t"}]',
        'tree[{"name":"t"}].name',
        'tree[{"name":"t"}].byKey.k',
        'tree[{"name":"t"}].byKey.k[{"name":"j"}]',
        'tree[{"name":"t"}].byKey.k[{"name":"j"}].name',
        'tree[{"name":"t"}].byKey.l',
      ],
    },
  },
  {
    what: "the content of a removed item is removed with it, unless another manager owns the item",
    operations: [
      { apply: "a", object: { tree: [{ name: "t", map: { m: { k: "1" } } }] } },
      { apply: "b", object: { tree: [{ name: "t", map: { m: { l: "2" } } }] } },
      { apply: "a", object: {} },
      { apply: "b", object: {} },
    ],
    managers: {},
  },
];

for (const row of [...leaves, ...maps, ...lists]) test(row.what, () => check(row, { schemas }));

const ignoring: Row[] = [
  {
    what: "no manager owns ignored fields and the fields below them",
    operations: [
      { apply: "a", object: { text: "x", inner: { a: 1 } } },
      { update: "u", object: { text: "x", number: 1, inner: { a: 2, deep: { c: 1 } } } },
    ],
    managers: { a: ["text"], u: ["number"] },
  },
  {
    what: "ignored fields never conflict",
    operations: [
      { apply: "a", object: { inner: { a: 1 }, text: "x" } },
      { apply: "b", object: { inner: { a: 2 } } },
    ],
    managers: { a: ["text"] },
  },
];
for (const row of ignoring) test(row.what, () => check(row, { schemas, ignored: ["inner"] }));

const go = goStruct({
  text: string,
  number: int,
  list: keyed(["name"], goStruct({ name: string, count: int })),
  inner: goStruct({ on: bool }),
});
const zeros: Row[] = [
  {
    what: "writing Go's zero values is not a change",
    operations: [{ update: "u", object: { text: "", number: 1, inner: { on: false } } }],
    managers: { u: ["number"] },
  },
  {
    what: "the writer owns the items of a list that Go always serializes, with their zero values, but not the list",
    operations: [{ update: "u", object: { list: [{ name: "x" }] } }],
    managers: { u: ['list[{"name":"x"}]', 'list[{"name":"x"}].name', 'list[{"name":"x"}].count'] },
  },
  {
    what: "the writer owns an empty item, with its zero values",
    operations: [{ update: "u", object: { list: [{}] } }],
    managers: { u: ['list[{"name":""}]', 'list[{"name":""}].name', 'list[{"name":""}].count'] },
  },
];
for (const row of zeros) test(row.what, () => check(row, { schemas: { v1: go } }));
