import assert from "node:assert/strict";
import { test } from "node:test";
import type { Field, Type } from "./schema.ts";
import { unsetValueOf, zeroValueOf } from "./zero.ts";

type Kind = Type["kind"];
const typeOf = (kind: Kind): Type => ({ kind }) as Type;

/**
 * By kind: the zero value; the serialized value without omitempty; the serialized value with
 * omitempty.
 */
const rows: [kind: Kind, zero: unknown, always: unknown, omitEmpty: unknown][] = [
  ["struct", {}, {}, {}],
  ["map", {}, null, undefined],
  ["list", [], null, undefined],
  ["any", null, null, null],
  ["string", "", "", undefined],
  ["bytes", "", null, undefined],
  ["bool", false, false, undefined],
  ["int32", 0, 0, undefined],
  ["int64", 0, 0, undefined],
  ["double", 0, 0, undefined],
  ["time", null, null, null],
  ["microtime", null, null, null],
  ["quantity", "0", "0", "0"],
  ["duration", "0s", "0s", "0s"],
  ["intOrString", 0, 0, 0],
];

for (const [kind, zero, always, omitEmpty] of rows) {
  test(`unset ${kind}`, () => {
    const field = (options: Partial<Field>): Field =>
      ({ type: typeOf(kind), pointer: false, omitEmpty: false, omitZero: false, ...options }) as unknown as Field;
    assert.deepEqual(zeroValueOf(typeOf(kind)), zero);
    assert.deepEqual(
      [{}, { omitEmpty: true }, { omitZero: true }, { pointer: true }, { pointer: true, omitEmpty: true }].map(
        (options) => unsetValueOf(field(options)),
      ),
      [always, omitEmpty, undefined, null, undefined],
    );
  });
}
