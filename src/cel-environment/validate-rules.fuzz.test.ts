/**
 * Rules on objects that violate the schema report errors within the budget and do not throw. SEED=n
 * sets the seed.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { seed as firstSeed } from "../../test/support/seed.ts";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import type { JsonSchema } from "../lib/cel/schema-types/index.ts";
import { compileRules } from "./compile-rules.ts";
import { validateRules } from "./validate-rules.ts";

interface Row {
  readonly schema: JsonSchema;
  readonly object?: unknown;
  readonly rules?: readonly string[];
}

const rounds = process.env.COXSWAIN_TEST_FULL === "1" ? 50 : 3;

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

const numbers = [0, -1, 1.5, 9007199254740993n, 2n ** 63n];
const texts = ["", "a", "2020-01-01", "1h", "\ud800"];
const junk = [
  null,
  true,
  undefined,
  ...numbers,
  ...texts,
  [],
  {},
  [1, "a", null],
  { a: 1, k: "x" },
  [[["a"]]],
  JSON.parse('{"__proto__":{"a":1},"constructor":1}'),
];

function damaged(value: unknown, random: () => number): unknown {
  if (random() < 0.15) return junk[Math.floor(random() * junk.length)];
  if (Array.isArray(value)) return value.map((item) => damaged(item, random));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(() => random() > 0.1);
  return Object.fromEntries(kept.map(([key, member]) => [key, damaged(member, random)]));
}

const rows = ["rules.jsonl", "random-rules.jsonl"].flatMap((file) =>
  readFileSync(join(import.meta.dirname, "testdata", file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line): Row => JSON.parse(line)),
);

test("validates damaged objects without an exception", () => {
  for (const { schema, object, rules } of rows) {
    const all =
      rules === undefined
        ? schema
        : {
            ...schema,
            "x-kubernetes-validations": rules.map((rule) => ({ rule, messageExpression: "string(self.s)" })),
          };
    const root = object === undefined ? undefined : compileRules(all);
    if (root === undefined) continue;
    for (let seed = firstSeed; seed < firstSeed + rounds; seed++) {
      const random = generator(seed);
      const options = { errors: new FieldErrors(), keepUnchanged: true, optionalOldSelf: true };
      const left = validateRules(root, {
        ...options,
        object: damaged(object, random),
        oldObject: damaged(object, random),
      });
      assert(left >= -1, `seed ${seed}`);
      for (const { message = "" } of options.errors.causes)
        assert(!message.includes("[object"), `seed ${seed}: ${message}`);
    }
  }
});
