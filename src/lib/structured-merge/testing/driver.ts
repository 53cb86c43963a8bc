/** Performs a sequence of writes by several managers, and checks invariants after each write. */
import assert from "node:assert/strict";
import type { Struct } from "../../schema/schema.ts";
import { compare, isUnchanged } from "../compare.ts";
import { decodeFieldsV1, encodeFieldsV1 } from "../fields-v1.ts";
import { emptySet, equalSets, type PathSet, pathSetOf, paths } from "../set.ts";
import type { PlainMap } from "../typed.ts";
import {
  ApplyConflict,
  applyIntent,
  type ManagedSet,
  type Managers,
  type MergeContext,
  updateManagers,
} from "../updater.ts";

export type Operation =
  | { readonly update: string; readonly object: PlainMap; readonly version?: string }
  | {
      readonly apply: string;
      readonly object: PlainMap;
      readonly version?: string;
      readonly force?: true;
      /** The expected conflicts: fields by manager. Nothing is applied then. */
      readonly conflicts?: Readonly<Record<string, readonly string[]>>;
    }
  /** The type changes without a new version. */
  | { readonly schema: Struct }
  /** A version is removed. */
  | { readonly drop: string };

type Write = Exclude<Operation, { schema: Struct } | { drop: string }>;

export interface Row {
  readonly what: string;
  readonly operations: readonly Operation[];
  /** The expected object; absent where only owners matter. */
  readonly object?: PlainMap;
  /** The expected fields of each manager at the end, in the form that `path` parses. */
  readonly managers?: Readonly<Record<string, readonly string[]>>;
}

export interface World {
  /** By version; writes without a version use the first. */
  readonly schemas: Readonly<Record<string, Struct>>;
  readonly convert?: (object: PlainMap, from: string, to: string) => PlainMap;
  readonly ignored?: readonly string[];
}

export interface State {
  object: PlainMap;
  version: string;
  managers: Managers;
}

/** Parses `spec.list[{"name":"a"}].x`: a field after each point, a key or value in brackets. */
export function path(text: string): readonly string[] {
  // Bounded: the paths that tests name.
  return [...text.matchAll(/\.?([^.[\]]+)|\[(\{.*?\}|"[^"]*"|[^\]]*)\]/g)].map(([, field, inner]) =>
    field !== undefined ? `f:${field}` : inner?.startsWith("{") ? `k:${inner}` : `v:${inner}`,
  );
}

export function pathTexts(owned: PathSet): string[] {
  return [...paths(owned)].map((elements) => elements.map((element) => element.slice(2)).join(" "));
}

const setOf = (texts: readonly string[]): PathSet => pathSetOf(texts.map(path));

export function contextOf({ schemas, convert, ignored }: World): MergeContext {
  return {
    schemaOf: (version) => schemas[version],
    convert: (object, from, to) => (from === to || convert === undefined ? object : convert(object, from, to)),
    ignored: () => (ignored === undefined ? emptySet : setOf(ignored)),
  };
}

/** @throws ApplyConflict */
export function write(context: MergeContext, state: State, operation: Write, version: string): void {
  const live = { object: context.convert(state.object, state.version, version), version };
  const next = { object: operation.object, version };
  if ("update" in operation) {
    state.managers = updateManagers(context, live, next, state.managers, operation.update);
    state.object = operation.object;
  } else {
    const applied = applyIntent(context, live, next, state.managers, operation.apply, {
      force: operation.force === true,
    });
    checkAgain(context, applied, next, operation.apply);
    state.managers = applied.managers;
    state.object = applied.object;
  }
  state.version = version;
  for (const { set } of state.managers.values())
    assert.ok(equalSets(decodeFieldsV1(encodeFieldsV1(set)), set), "FieldsV1 keeps the set");
}

/** Checks that a second apply changes nothing and returns the same object. */
function checkAgain(
  context: MergeContext,
  applied: { object: PlainMap; managers: Managers },
  next: { object: PlainMap; version: string },
  manager: string,
) {
  const again = applyIntent(
    context,
    { object: applied.object, version: next.version },
    next,
    applied.managers,
    manager,
    { force: false },
  );
  assert.equal(again.object, applied.object);
  assert.deepEqual(describe(again.managers)[manager], describe(applied.managers)[manager]);
}

export function describe(managers: Managers): Record<string, string[]> {
  return Object.fromEntries(
    [...managers].map(([name, { set }]: [string, ManagedSet]) => [name, pathTexts(set)]).sort(),
  );
}

export function check({ operations, object, managers }: Row, world: World): void {
  const schemas: Record<string, Struct> = { ...world.schemas };
  const context = contextOf({ ...world, schemas });
  const first = Object.keys(schemas)[0] as string;
  const state: State = { object: {}, version: first, managers: new Map() };
  for (const operation of operations) {
    if ("schema" in operation) {
      schemas[first] = operation.schema;
    } else if ("drop" in operation) {
      delete schemas[operation.drop];
    } else {
      const version = operation.version ?? first;
      if ("apply" in operation && operation.conflicts !== undefined)
        checkConflicts(context, state, operation, version, operation.conflicts);
      else write(context, state, operation, version);
    }
  }
  if (object !== undefined) assert.deepEqual(state.object, object);
  if (object !== undefined) assert.ok(isUnchanged(compare(state.object, object, schemas[state.version] as Struct)));
  if (managers !== undefined) {
    const expected = Object.fromEntries(
      Object.entries(managers).map(([name, texts]) => [name, pathTexts(setOf(texts))]),
    );
    assert.deepEqual(describe(state.managers), Object.fromEntries(Object.entries(expected).sort()));
  }
}

function checkConflicts(
  context: MergeContext,
  state: State,
  operation: Write,
  version: string,
  expected: Readonly<Record<string, readonly string[]>>,
): void {
  assert.throws(
    () => write(context, { ...state }, operation, version),
    (error) => {
      assert.ok(error instanceof ApplyConflict, String(error));
      const got = Object.fromEntries(error.conflicts.map(({ manager, set }) => [manager, pathTexts(set)]));
      assert.deepEqual(
        got,
        Object.fromEntries(Object.entries(expected).map(([name, texts]) => [name, pathTexts(setOf(texts))])),
      );
      return true;
    },
  );
}
