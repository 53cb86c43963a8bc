/** Random objects of a schema: any subset of fields, with values near the limits of their types. */
import { setMember } from "../../src/lib/json/values.ts";
import type { Struct, Type } from "../../src/lib/schema/schema.ts";

/** Returns an integer from 0 to below the argument, as `seededRandom` does. */
type Random = (below: number) => number;

/** @param depth how many levels of structs may follow */
export function randomObject(schema: Struct, random: Random, depth = 6): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const field of schema.fields) {
    if (random(depth > 3 ? 2 : 3) === 0) continue;
    if (depth > 0 || field.type.kind !== "struct") object[field.name] = randomValue(field.type, random, depth - 1);
  }
  return object;
}

const texts = [
  "a",
  "",
  "10",
  "9",
  "z-y",
  "é",
  "\u{1f600}",
  "<&>",
  'q"\\',
  "\u2028",
  "__proto__",
  "constructor",
  "tab\t\u0001",
  "\uffee",
];

function randomValue(type: Type, random: Random, depth: number): unknown {
  switch (type.kind) {
    case "string":
      return pick(random, texts);
    case "int32":
      return pick(random, [0, 1, -1, 2 ** 31 - 1, -(2 ** 31), random(100)]);
    case "int64":
      return pick(random, [0, 1, -1, 2 ** 53, 2n ** 63n - 1n, -(2n ** 63n), random(100)].map(safe));
    case "bool":
      return random(2) === 0;
    case "double":
      return pick(random, [0.5, -1.25, 3, 1e21, 1e-7, 0]);
    case "bytes":
      return Buffer.from(pick(random, texts)).toString("base64");
    case "time":
      return pick(random, ["2020-02-29T23:59:59Z", "1970-01-01T00:00:00Z"]);
    case "microtime":
      return pick(random, ["2020-02-29T23:59:59.000001Z", "1970-01-01T00:00:00.000000Z"]);
    case "duration":
      return pick(random, ["0s", "1m30s", "1.5s", "-3h0m0s", "100ms"]);
    case "quantity":
      return pick(random, ["0", "1", "100m", "1536Mi", "1Ki", "1500", "12e6", "-5n", "2k"]);
    case "intOrString":
      return pick<unknown>(random, [0, 80, "http", "25%", -1]);
    case "any":
      return type.forms === undefined
        ? { kind: "X", nested: [1, "a", null, { b: true }] }
        : randomForm(type.forms, random, depth);
    case "struct":
      return randomObject(type, random, depth);
    case "list":
      return Array.from({ length: depth > 0 ? random(3) : 0 }, () => randomValue(type.items, random, depth));
    case "map":
      return randomMap(type.values, random, depth);
  }
}

function randomMap(values: Type, random: Random, depth: number): Record<string, unknown> {
  const map = {};
  for (let count = depth > 0 ? random(4) : 0; count > 0; count--)
    setMember(map, pick(random, texts), randomValue(values, random, depth));
  return map;
}

/** Never an empty list, which upstream does not distinguish from an absent one. */
function randomForm(forms: readonly Type[], random: Random, depth: number): unknown {
  const value = depth > 0 ? randomValue(pick(random, forms), random, depth) : {};
  return Array.isArray(value) && value.length === 0 ? {} : value;
}

function pick<T>(random: Random, choices: readonly T[]): T {
  return choices[random(choices.length)] as T;
}

function safe(value: number | bigint): number | bigint {
  return Number.isSafeInteger(value) ? value : BigInt(value);
}
