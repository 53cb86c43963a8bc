import assert from "node:assert/strict";
import { test } from "node:test";
import { FieldErrors, plainText } from "./field-errors.ts";

const boundRows: [what: string, value: string, causes: number][] = [
  ["short messages", "x", 1000],
  ["long messages", "x".repeat(1 << 20), 4],
];
for (const [what, value, causes] of boundRows) {
  test(`reports the first errors up to the limit: ${what}`, () => {
    const errors = new FieldErrors();
    for (let index = 0; index < 2000; index++) errors.invalid(`spec[${index}]`, value, "is wrong");
    assert.equal(errors.causes.length, causes);
    assert.equal(errors.causes.at(-1)?.field, `spec[${causes - 1}]`);
  });
}

test("does not show a value with too many objects and lists", () => {
  const errors = new FieldErrors();
  const lists = (count: number): unknown => Array.from({ length: count - 1 }, () => []);
  for (const count of [10_000, 10_001]) {
    const value = lists(count);
    errors.invalid("a", value, "is wrong");
    errors.typeInvalid("a", value, "is wrong");
    errors.notSupported("a", value, ["b"]);
    errors.duplicate("a", value);
    errors.notFound("a", value);
  }
  assert.deepEqual(
    errors.causes.map(({ message = "" }) => (message.length > 10_000 ? "long" : message)),
    [
      ...Array.from({ length: 5 }, () => "long"),
      "Invalid value: is wrong",
      "Invalid value: is wrong",
      'Unsupported value: supported values: "b"',
      "Duplicate value",
      "Not found",
    ],
  );
});

for (const isAsync of [false, true]) {
  test(`a full list ends ${isAsync ? "an asynchronous" : "a"} validation, and nothing after it`, async () => {
    const errors = new FieldErrors();
    let validated = 0;
    const validate = (): void => {
      for (; validated < 1_000_000; validated++) errors.covered().required(`spec[${validated}]`);
    };
    await errors.collect(isAsync ? async () => validate() : validate);
    assert.deepEqual([validated, errors.causes.length], [1000, 1000]);
    errors.required("spec");
    assert.equal(errors.causes.length, 1000);
  });
}

test("a validation that fails for another reason fails", () =>
  assert.rejects(
    new FieldErrors().collect(() => {
      throw new TypeError("a defect");
    }),
    /a defect/,
  ));

/** As kube-apiserver shows a Service's `type`, and the `kind` of a roleRef, which is a string in Go. */
for (const [what, value, shown] of [
  ["of a type of its own like JSON", "<\u007f\u0001é", '"\\u003c\u007f\\u0001é"'],
  ["like a Go string", plainText("<\u007f\u0001é"), '"<\\x7f\\x01é"'],
] as const)
  test(`shows an unsupported text ${what}`, () => {
    const errors = new FieldErrors();
    errors.notSupported("f", value, ["a"]);
    assert.equal(errors.causes[0]?.message, `Unsupported value: ${shown}: supported values: "a"`);
  });
