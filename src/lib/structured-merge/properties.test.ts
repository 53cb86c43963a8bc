/** What holds for any objects, intents and sets. `SEED=n` replays a run, COXSWAIN_TEST_FULL=1 makes thirty times as many runs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc, { type Arbitrary } from "fast-check";
import { compare, isUnchanged } from "./compare.ts";
import { fieldSetOf } from "./field-set.ts";
import { decodeFieldsV1, encodeFieldsV1 } from "./fields-v1.ts";
import { merge } from "./merge.ts";
import { named } from "./named.ts";
import { extractItems, removeItems } from "./remove.ts";
import {
  countPaths,
  difference,
  emptySet,
  equalSets,
  has,
  intersection,
  isEmpty,
  isSubset,
  leaves,
  type PathSet,
  pathSetOf,
  paths,
  recursiveDifference,
  union,
} from "./set.ts";
import { contextOf, describe } from "./testing/driver.ts";
import { any, atomicList, int, keyed, map, set, string, struct } from "./testing/schemas.ts";
import type { PlainMap } from "./typed.ts";
import { ApplyConflict, applyIntent, type Managers, updateManagers } from "./updater.ts";

const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
const numRuns = process.env.COXSWAIN_TEST_FULL === "1" ? 3000 : 100;
console.log(`SEED=${seed}`);

function property<T>(what: string, arbitrary: Arbitrary<T>, holds: (value: T) => void): void {
  test(what, () => fc.assert(fc.property(arbitrary, holds), { seed, numRuns }));
}

const item = struct({
  name: string,
  id: [int, 7],
  value: int,
  tags: set(string),
  deep: struct({ map: map(string), whole: map(int, { atomic: true }) }),
});
const schema = struct({
  text: string,
  number: int,
  labels: map(string),
  matrix: map(map(int)),
  set: set(int),
  atomic: atomicList(string),
  list: keyed(["name", "id"], item),
  raw: any,
});
const context = contextOf({ schemas: { v1: schema } });

const key = fc.constantFrom("a", "b", "c", "__proto__", 'q"');
const small = fc.integer({ min: 0, max: 3 });
const word = fc.constantFrom("", "x", "y");

/** A map with own members, whatever they are called. */
function dictionary(values: Arbitrary<unknown>, minKeys: number): Arbitrary<PlainMap> {
  return fc
    .uniqueArray(fc.tuple(key, values), { minLength: minKeys, maxLength: 3, selector: ([name]) => name })
    .map((entries) => Object.fromEntries(entries));
}

/** @param empty whether maps and lists may be empty, and values null: an empty map is not there again when others have come into it and gone */
function objects({ empty }: { empty: boolean }): Arbitrary<PlainMap> {
  const minLength = empty ? 0 : 1;
  const unique = (values: Arbitrary<unknown>): Arbitrary<unknown> =>
    fc.uniqueArray(values, { minLength, maxLength: 3 });
  const orNull = (values: Arbitrary<unknown>): Arbitrary<unknown> =>
    empty ? fc.option(values, { nil: null, freq: 8 }) : values;
  const optional = (fields: Record<string, Arbitrary<unknown>>, requiredKeys: string[]): Arbitrary<PlainMap> =>
    fc.record(Object.fromEntries(Object.entries(fields).map(([name, values]) => [name, orNull(values)])), {
      requiredKeys,
    }) as Arbitrary<PlainMap>;
  const nonEmpty = (made: Arbitrary<PlainMap>): Arbitrary<PlainMap> =>
    empty ? made : made.filter((value) => Object.keys(value).length > 0);
  const deep = nonEmpty(optional({ map: dictionary(word, minLength), whole: dictionary(small, minLength) }, []));
  const parts = optional({ value: small, tags: unique(word), deep }, []);
  const items = fc
    .uniqueArray(fc.tuple(fc.constantFrom("i", "j"), fc.constantFrom(undefined, 1, 7), parts), {
      minLength,
      maxLength: 3,
      selector: ([name, id]) => `${name}/${id ?? 7}`,
    })
    .map((list) => list.map(([name, id, rest]) => ({ name, ...(id !== undefined && { id }), ...rest })));
  const { raw } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, small, fc.array(small, { maxLength: 2 }), tie("raw")),
    raw: dictionary(tie("value"), minLength),
  }));
  return optional(
    {
      text: word,
      number: small,
      labels: dictionary(word, minLength),
      matrix: dictionary(dictionary(small, minLength), minLength),
      set: unique(small),
      atomic: fc.array(word, { maxLength: 2 }),
      list: items,
      raw,
    },
    [],
  );
}

const anything = objects({ empty: true });
const filled = objects({ empty: false });

interface State {
  readonly object: PlainMap;
  readonly managers: Managers;
}

const nothing: State = { object: {}, managers: new Map() };

function apply(state: State, manager: string, intent: PlainMap, force = false): State {
  return applyIntent(
    context,
    { object: state.object, version: "v1" },
    { object: intent, version: "v1" },
    state.managers,
    manager,
    { force },
  );
}

function update(state: State, manager: string, object: PlainMap): State {
  return {
    object,
    managers: updateManagers(
      context,
      { object: state.object, version: "v1" },
      { object, version: "v1" },
      state.managers,
      manager,
    ),
  };
}

/** Undefined when others are in the way. */
function tryApply(state: State, manager: string, intent: PlainMap): State | undefined {
  try {
    return apply(state, manager, intent);
  } catch (error) {
    if (error instanceof ApplyConflict) return undefined;
    throw error;
  }
}

const ownedByAll = ({ managers }: State): PathSet =>
  [...managers.values()].reduce((all, { set: owned }) => union(all, owned), emptySet);

/** Equal but for the order of associative lists. */
function assertSame(a: PlainMap, b: PlainMap): void {
  assert.ok(isUnchanged(compare(a, b, schema)), `${JSON.stringify(a)} is not ${JSON.stringify(b)}`);
}

property("an apply is idempotent", fc.tuple(anything, anything), ([live, intent]) => {
  const once = apply(update(nothing, "u", live), "a", intent, true);
  const twice = apply(once, "a", intent);
  assert.equal(twice.object, once.object);
  assert.deepEqual(describe(twice.managers).a, describe(once.managers).a);
});

property("an apply puts its intent there, and owns it", fc.tuple(anything, filled), ([live, intent]) => {
  const { object, managers } = apply(update(nothing, "u", live), "a", intent, true);
  const owned = fieldSetOf(intent, schema);
  assert.ok(equalSets(managers.get("a")?.set ?? emptySet, owned));
  assertSame(extractItems(object, owned, schema), intent);
});

property("who applies and then wants nothing leaves what was there", fc.tuple(filled, filled), ([live, intent]) => {
  const before = apply(nothing, "b", live);
  const applied = tryApply(before, "a", intent);
  fc.pre(applied !== undefined);
  const after = apply(applied as State, "a", {});
  assertSame(after.object, before.object);
  assert.deepEqual(describe(after.managers), describe(before.managers));
});

property("alone, nothing is left", filled, (intent) => {
  assert.deepEqual(apply(apply(nothing, "a", intent), "a", {}), { object: {}, managers: new Map() });
});

property("two appliers who do not conflict may come in either order", fc.tuple(filled, filled), ([one, two]) => {
  const first = tryApply(apply(nothing, "a", one), "b", two);
  const second = tryApply(apply(nothing, "b", two), "a", one);
  assert.equal(first === undefined, second === undefined);
  fc.pre(first !== undefined && second !== undefined);
  assertSame((first as State).object, (second as State).object);
  assert.deepEqual(describe((first as State).managers), describe((second as State).managers));
});

const writes = fc.array(fc.tuple(fc.constantFrom("a", "b", "u", "v"), filled), { maxLength: 6 });
const written = (list: readonly [string, PlainMap][]): State =>
  list.reduce(
    (state, [who, object]) => (who < "n" ? apply(state, who, object, true) : update(state, who, object)),
    nothing,
  );

/** Maps and lists that lost what was in them stay, and nobody owns them. */
function withoutEmptied(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => withoutEmptied(item) ?? item);
  const parts = Object.entries(value).map(([name, part]) => [name, withoutEmptied(part)] as const);
  const filled = parts.filter(([, part]) => part !== undefined);
  return filled.length === 0 ? undefined : Object.fromEntries(filled);
}

property("every leaf that is there has an owner, and nothing else has", writes, (list) => {
  const state = written(list);
  const filled = (withoutEmptied(state.object) ?? {}) as PlainMap;
  assert.ok(isSubset(leaves(fieldSetOf(filled, schema)), ownedByAll(state)));
  assert.ok(isSubset(leaves(ownedByAll(state)), fieldSetOf(state.object, schema)));
});

property(
  "a write that changes nothing changes no owner",
  fc.tuple(writes, fc.constantFrom("u", "new")),
  ([list, who]) => {
    const state = written(list);
    assert.equal(update(state, who, structuredClone(state.object)).managers, state.managers);
  },
);

property("an update owns what it changed, and no one else does", fc.tuple(writes, anything), ([list, object]) => {
  const before = written(list);
  const { added, modified, removed } = compare(before.object, object, schema);
  const after = update(before, "new", object);
  assert.ok(equalSets(after.managers.get("new")?.set ?? emptySet, union(added, modified)));
  for (const [who, { set: owned }] of after.managers)
    if (who !== "new") assert.ok(isEmpty(intersection(owned, union(union(added, modified), removed))));
});

property(
  "what changed, taken away and laid over, leads from one to the other",
  fc.tuple(anything, anything),
  ([one, two]) => {
    const rest = removeItems(one, compare(one, two, schema).removed, schema);
    assertSame(merge(rest, two, schema), two);
  },
);

property("compare backwards", fc.tuple(anything, anything), ([one, two]) => {
  const there = compare(one, two, schema);
  const back = compare(two, one, schema);
  assert.ok(equalSets(there.modified, back.modified));
  assert.ok(equalSets(there.added, back.removed));
  assert.ok(equalSets(there.removed, back.added));
  assert.ok(isUnchanged(compare(one, structuredClone(one), schema)));
});

property("a merge takes nothing away, and its arguments stay", fc.tuple(anything, anything), ([live, intent]) => {
  const before = JSON.stringify([live, intent]);
  const merged = merge(live, intent, schema);
  assert.equal(JSON.stringify([live, intent]), before);
  const { removed } = compare(live, merged, schema);
  // A map may give way to what is none, where no schema says what it is.
  assert.ok([...paths(removed)].every(([first]) => first === "f:raw"));
});

property("taking away and keeping are each other's rest", filled, (object) => {
  const all = fieldSetOf(object, schema);
  assert.deepEqual(removeItems(object, named(all, schema), schema), {});
  assertSame(extractItems(object, all, schema), object);
  assert.equal(removeItems(object, emptySet, schema), object);
});

const element = fc.oneof(
  fc.string().map((name) => `f:${name}`),
  fc.constantFrom("f:a", "f:b", 'k:{"name":"x"}', 'k:{"id":1,"name":"x"}', 'v:"x"', "v:1", "v:true", "i:0", "i:10"),
);
const sets = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 8 }).map(pathSetOf);

property("FieldsV1 keeps a set", sets, (one) => {
  assert.ok(equalSets(decodeFieldsV1(JSON.parse(JSON.stringify(encodeFieldsV1(one)))), one));
  assert.equal([...paths(one)].length, countPaths(one));
});

property("laws of sets", fc.tuple(sets, sets, sets), ([a, b, c]) => {
  const same = (left: PathSet, right: PathSet): void => assert.ok(equalSets(left, right));
  same(union(a, b), union(b, a));
  same(intersection(a, b), intersection(b, a));
  same(union(a, union(b, c)), union(union(a, b), c));
  same(intersection(a, union(b, c)), union(intersection(a, b), intersection(a, c)));
  same(difference(a, union(b, c)), difference(difference(a, b), c));
  same(union(difference(a, b), intersection(a, b)), a);
  same(difference(a, a), emptySet);
  same(union(a, a), a);
  same(
    recursiveDifference(a, b),
    pathSetOf([...paths(a)].filter((full) => !full.some((_, at) => has(b, full.slice(0, at + 1))))),
  );
  same(
    leaves(a),
    pathSetOf(
      [...paths(a)].filter((full) =>
        [...paths(a)].every((other) => other.length <= full.length || !full.every((part, at) => part === other[at])),
      ),
    ),
  );
  assert.equal(isSubset(a, b), isEmpty(difference(a, b)));
  assert.ok(isSubset(a, union(a, b)) && isSubset(intersection(a, b), a));
  assert.equal(union(a, intersection(a, b)), a);
  assert.equal(difference(a, difference(b, a)), a);
});
