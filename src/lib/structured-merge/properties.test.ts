/**
 * Properties of any objects, intents and sets. `SEED=n` replays a run; COXSWAIN_TEST_FULL=1 runs
 * thirty times as many.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc, { type Arbitrary } from "fast-check";
import { seed } from "../../../test/support/seed.ts";
import { compare, isUnchanged } from "./compare.ts";
import { fieldSetOf } from "./field-set.ts";
import { decodeFieldsV1, encodeFieldsV1, encodeWithout } from "./fields-v1.ts";
import { merge } from "./merge.ts";
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
import { withParentFields } from "./with-parent-fields.ts";

const numRuns = process.env.COXSWAIN_TEST_FULL === "1" ? 3000 : 40;
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

/** A map with own members, also with names such as `__proto__`. */
function dictionary(values: Arbitrary<unknown>, minKeys: number): Arbitrary<PlainMap> {
  return fc
    .uniqueArray(fc.tuple(key, values), { minLength: minKeys, maxLength: 3, selector: ([name]) => name })
    .map((entries) => Object.fromEntries(entries));
}

/**
 * @param empty whether maps and lists may be empty, and values null. An empty map is not restored
 *   after another manager added and removed entries.
 */
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

/** Returns undefined on a conflict. */
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

/** Asserts equality, apart from the order of associative lists. */
function assertSame(a: PlainMap, b: PlainMap): void {
  assert.ok(isUnchanged(compare(a, b, schema)), `${JSON.stringify(a)} is not ${JSON.stringify(b)}`);
}

property("an apply is idempotent", fc.tuple(anything, anything), ([live, intent]) => {
  const once = apply(update(nothing, "u", live), "a", intent, true);
  const twice = apply(once, "a", intent);
  assert.equal(twice.object, once.object);
  assert.deepEqual(describe(twice.managers).a, describe(once.managers).a);
});

property("an apply writes its intent and owns it", fc.tuple(anything, filled), ([live, intent]) => {
  const { object, managers } = apply(update(nothing, "u", live), "a", intent, true);
  const owned = fieldSetOf(intent, schema);
  assert.ok(equalSets(managers.get("a")?.set ?? emptySet, owned));
  assertSame(extractItems(object, owned, schema), intent);
});

property("applying an intent and then an empty one restores the object", fc.tuple(filled, filled), ([live, intent]) => {
  const before = apply(nothing, "b", live);
  const applied = tryApply(before, "a", intent);
  fc.pre(applied !== undefined);
  const after = apply(applied as State, "a", {});
  assertSame(after.object, before.object);
  assert.deepEqual(describe(after.managers), describe(before.managers));
});

property("an empty intent of the only manager leaves an empty object", filled, (intent) => {
  assert.deepEqual(apply(apply(nothing, "a", intent), "a", {}), { object: {}, managers: new Map() });
});

property(
  "applies that do not conflict have the same result in either order",
  fc.tuple(filled, filled),
  ([one, two]) => {
    const first = tryApply(apply(nothing, "a", one), "b", two);
    const second = tryApply(apply(nothing, "b", two), "a", one);
    assert.equal(first === undefined, second === undefined);
    fc.pre(first !== undefined && second !== undefined);
    assertSame((first as State).object, (second as State).object);
    assert.deepEqual(describe((first as State).managers), describe((second as State).managers));
  },
);

const writes = fc.array(fc.tuple(fc.constantFrom("a", "b", "u", "v"), filled), { maxLength: 6 });
const written = (list: readonly [string, PlainMap][]): State =>
  list.reduce(
    (state, [who, object]) => (who < "n" ? apply(state, who, object, true) : update(state, who, object)),
    nothing,
  );

/** Removes maps and lists that became empty: they stay in the object without an owner. */
function withoutEmptied(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => withoutEmptied(item) ?? item);
  const parts = Object.entries(value).map(([name, part]) => [name, withoutEmptied(part)] as const);
  const filled = parts.filter(([, part]) => part !== undefined);
  return filled.length === 0 ? undefined : Object.fromEntries(filled);
}

property("every leaf of the object has an owner, and owners have no other leaves", writes, (list) => {
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

property(
  "only the manager of an update owns the fields that it changed",
  fc.tuple(writes, anything),
  ([list, object]) => {
    const before = written(list);
    const { added, modified, removed } = compare(before.object, object, schema);
    const after = update(before, "new", object);
    assert.ok(equalSets(after.managers.get("new")?.set ?? emptySet, union(added, modified)));
    for (const [who, { set: owned }] of after.managers)
      if (who !== "new") assert.ok(isEmpty(intersection(owned, union(union(added, modified), removed))));
  },
);

property(
  "removing the removed fields and merging the new object produces the new object",
  fc.tuple(anything, anything),
  ([one, two]) => {
    const rest = removeItems(one, compare(one, two, schema).removed, schema);
    assertSame(merge(rest, two, schema), two);
  },
);

property("comparing in reverse swaps added and removed", fc.tuple(anything, anything), ([one, two]) => {
  const forward = compare(one, two, schema);
  const back = compare(two, one, schema);
  assert.ok(equalSets(forward.modified, back.modified));
  assert.ok(equalSets(forward.added, back.removed));
  assert.ok(equalSets(forward.removed, back.added));
  assert.ok(isUnchanged(compare(one, structuredClone(one), schema)));
});

property(
  "a merge removes nothing and does not change its arguments",
  fc.tuple(anything, anything),
  ([live, intent]) => {
    const before = JSON.stringify([live, intent]);
    const merged = merge(live, intent, schema);
    assert.equal(JSON.stringify([live, intent]), before);
    const { removed } = compare(live, merged, schema);
    // Where no schema describes a value, a map may be replaced by a value of another form.
    assert.ok([...paths(removed)].every(([first]) => first === "f:raw"));
  },
);

property("removing all fields leaves nothing, and extracting all fields leaves everything", filled, (object) => {
  const all = fieldSetOf(object, schema);
  assert.deepEqual(removeItems(object, withParentFields(all, schema), schema), {});
  assertSame(extractItems(object, all, schema), object);
  assert.equal(removeItems(object, emptySet, schema), object);
});

const element = fc.oneof(
  fc.string().map((name) => `f:${name}`),
  fc.constantFrom("f:a", "f:b", 'k:{"name":"x"}', 'k:{"id":1,"name":"x"}', 'v:"x"', "v:1", "v:true", "i:0", "i:10"),
);
const sets = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 8 }).map(pathSetOf);

property("a set survives encoding as FieldsV1", sets, (one) => {
  assert.ok(equalSets(decodeFieldsV1(JSON.parse(JSON.stringify(encodeFieldsV1(one)))), one));
  assert.equal([...paths(one)].length, countPaths(one));
});

property("set operations follow the laws of sets", fc.tuple(sets, sets, sets), ([a, b, c]) => {
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
  const rest = difference(a, b);
  assert.equal(JSON.stringify(encodeWithout(a, b)), isEmpty(rest) ? undefined : JSON.stringify(encodeFieldsV1(rest)));
});
