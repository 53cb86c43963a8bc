/** The size of parameters of drivers, which counts what clients send. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import { NumberLiteral } from "../../lib/json/number-literal.ts";
import { validateData } from "./device-config.ts";

const rows: readonly (readonly [data: object, bytes: number])[] = [
  [{ a: "b" }, 9],
  [{ a: 18446744073709551616n }, 26],
  [{ a: new NumberLiteral("2.0") }, 9],
  [{ a: "<&>" }, 11],
  [{ a: "\u2028" }, 11],
  [{ a: "\\u003c" }, 15],
  [{ a: "\n" }, 10],
];

for (const [data, bytes] of rows)
  test(`the text has ${bytes} bytes`, () => {
    const errorsAt = (bytesMax: number): number => {
      const errors = new FieldErrors();
      validateData(data, bytesMax, "data", errors);
      return errors.causes.length;
    };
    assert.deepEqual([errorsAt(bytes), errorsAt(bytes - 1)], [0, 1]);
  });
