/** Random structural schemas, and values that fit them or nearly do. */
import { isObject } from "../../../src/lib/json/values.ts";
import { raw } from "../body-text.ts";
import type { Random } from "../random.ts";

type Json = Record<string, unknown>;

export interface SchemaRandom extends Random {
  /** Also makes schemas that are rejected. */
  readonly isWild: boolean;
  /** Rules within lists and maps without limits would cost too much. */
  readonly hasRules: boolean;
}

const names = ["size", "color", "count", "items", "labels", "inner", "when", "port", "flag", "ratio"];

/** The schemas of fields, with formats, limits, rules and extensions. */
export function propertiesOf(random: SchemaRandom, depth: number): Json {
  const chosen = random.some(names, 0.45);
  return Object.fromEntries((chosen.length > 0 ? chosen : ["size"]).map((name) => [name, schemaOf(random, depth)]));
}

/** One of the valid choices, or of all when schemas may be rejected. */
function choose(random: SchemaRandom, valid: readonly Json[], invalid: readonly Json[]): Json {
  return random.pick(random.isWild ? [...valid, ...invalid] : valid);
}

function schemaOf(random: SchemaRandom, depth: number): Json {
  const nullable = random.chance(0.1) ? { nullable: true } : {};
  const inner = { ...random, hasRules: random.isWild };
  const roll = random.below(depth > 0 ? 9 : 6);
  if (roll < 2) return { ...textSchema(random), ...nullable };
  if (roll < 4) return { ...numberSchema(random), ...nullable };
  if (roll < 5) return { type: "boolean", ...(random.chance(0.3) && { default: true }), ...nullable };
  if (roll < 6) return random.pick(anyValues);
  if (roll < 7) return { ...listSchema(inner, depth), ...nullable };
  if (roll < 8) {
    const limit = random.chance(0.3) && { maxProperties: 2 };
    return { type: "object", additionalProperties: schemaOf(inner, depth - 1), ...limit };
  }
  return objectSchema(random, depth);
}

const anyValues: readonly Json[] = [
  { "x-kubernetes-int-or-string": true },
  { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
  { type: "object", "x-kubernetes-preserve-unknown-fields": true },
];

function objectSchema(random: SchemaRandom, depth: number): Json {
  const properties = propertiesOf(random, depth - 1);
  const [first = ""] = Object.keys(properties);
  const rules = [
    { rule: `has(self.${first})`, message: "is needed" },
    { rule: "true" },
    { rule: `!has(self.${first})`, messageExpression: "'bad'", reason: "FieldValueForbidden" },
  ];
  const wild = [
    { rule: "self.missing == 1" },
    { rule: "size(self) > 0" },
    { rule: "has(oldSelf) || true", optionalOldSelf: true },
  ];
  return {
    type: "object",
    properties,
    ...(random.chance(0.3) && { required: [first] }),
    ...(random.isWild && random.chance(0.2) && { default: {} }),
    ...(random.hasRules && random.chance(0.3) && { "x-kubernetes-validations": [choose(random, rules, wild)] }),
    ...(random.chance(0.1) && { "x-kubernetes-map-type": "atomic" }),
  };
}

const formats = [
  "date-time",
  "ipv4",
  "duration",
  "uuid",
  "byte",
  "email",
  "uri",
  "date",
  "cidr",
  "mac",
  "ipv6",
  "hostname",
];

function textSchema(random: SchemaRandom): Json {
  const roll = random.below(6);
  if (roll === 0) return { type: "string", format: random.pick(random.isWild ? [...formats, "unknown"] : formats) };
  if (roll === 1) {
    const limits = [{ maxLength: 5 }, { minLength: 2 }, { pattern: "^[a-z]+$" }, { enum: ["a", "b"] }];
    return { type: "string", ...choose(random, limits, [{ pattern: "(" }, { enum: ["a", "a"] }, { maxLength: -1 }]) };
  }
  if (roll === 2) return { type: "string", default: "ab", ...(random.isWild && { format: "date" }) };
  if (roll > 3 || !random.hasRules) return { type: "string" };
  const rules = [
    { rule: "self.size() < 4" },
    { rule: "self != 'ab'", message: "no ab" },
    { rule: "self.matches('^[ab]+$')", messageExpression: "'not ' + self" },
    { rule: "isQuantity(self) && quantity(self).isGreaterThan(quantity('1'))" },
  ];
  const wild = [{ rule: "self.startsWith(" }, { rule: "self == oldSelf" }, { rule: "self + 1 == 2" }];
  return { type: "string", maxLength: 20, "x-kubernetes-validations": [choose(random, rules, wild)] };
}

function numberSchema(random: SchemaRandom): Json {
  const type = random.pick(["integer", "integer", "number"]);
  const roll = random.below(5);
  if (roll === 0) return { type, format: type === "number" ? "double" : random.pick(["int32", "int64"]) };
  if (roll === 1) {
    const limits = [
      { minimum: 1 },
      { maximum: 10 },
      { minimum: 1, exclusiveMinimum: true },
      { multipleOf: 2 },
      { enum: [1, 2] },
    ];
    return { type, ...choose(random, limits, [{ multipleOf: 0.1 }, { multipleOf: 0 }, { minimum: 5, maximum: 1 }]) };
  }
  if (roll === 2) return { type, default: random.isWild ? random.pick<unknown>([3, "a", 1.5]) : 3 };
  if (roll > 3 || !random.hasRules) return { type };
  const rules = [{ rule: "self > 1" }, { rule: "self != 3", messageExpression: "'is ' + string(self)" }];
  return {
    type,
    "x-kubernetes-validations": [choose(random, rules, [{ rule: "self.foo" }, { rule: "self / 0 == 1" }])],
  };
}

function listSchema(random: SchemaRandom, depth: number): Json {
  const limit = random.chance(0.4) ? choose(random, [{ maxItems: 2 }, { minItems: 1 }], [{ uniqueItems: true }]) : {};
  const type = random.pick(["atomic", "set", "map", undefined]);
  if (type === "set")
    return {
      type: "array",
      items: { type: random.pick(["string", "integer"]) },
      "x-kubernetes-list-type": type,
      ...limit,
    };
  if (type !== "map")
    return {
      type: "array",
      items: schemaOf(random, depth - 1),
      ...(type && { "x-kubernetes-list-type": type }),
      ...limit,
    };
  const properties = { name: { type: "string" }, value: schemaOf(random, 0) };
  const items = { type: "object", required: ["name"], properties };
  return { type: "array", items, "x-kubernetes-list-type": type, "x-kubernetes-list-map-keys": ["name"], ...limit };
}

/** @param share of the fields that have a value of their type */
export function valueOfAll(properties: Json, random: Random, share: number): Json {
  const entries = Object.entries(properties).filter(() => random.chance(0.8));
  const value = (schema: unknown): unknown =>
    random.chance(share) ? valueFor(schema as Json, random, share) : random.pick(odd);
  return Object.fromEntries(entries.map(([name, schema]) => [name, value(schema)]));
}

/** Values that most schemas reject. */
export const odd: readonly unknown[] = [
  ...[null, "", "abcdef", 0, -1, 1.5, true, [], {}, [1, 1], { a: 1 }, "x".repeat(30)],
];
const examples: Readonly<Record<string, string>> = {
  "date-time": "2020-01-01T00:00:00Z",
  ipv4: "1.2.3.4",
  ipv6: "::1",
  duration: "1h",
  uuid: "11111111-0000-0000-0000-000000000000",
  byte: "YQ==",
  email: "a@example.com",
  uri: "https://example.com/",
  date: "2020-01-01",
  cidr: "1.2.3.0/24",
  mac: "00:00:5e:00:53:01",
};

function valueFor(schema: Json, random: Random, share: number): unknown {
  const { type, format, items, properties, additionalProperties } = schema;
  if (Array.isArray(schema.enum)) return random.pick(schema.enum);
  switch (type) {
    case "string":
      return random.chance(share) && typeof format === "string"
        ? (examples[format] ?? "a")
        : random.pick(["a", "ab", "abc", "b", "1h"]);
    case "integer":
      return random.pick<unknown>([1, 2, 3, 4, 10, 11, 0, raw("2.0")]);
    case "number":
      return random.pick<unknown>([1, 2, 0.5, 10.5, raw("1e1")]);
    case "boolean":
      return random.chance(0.5);
    case "array":
      return Array.from({ length: random.below(3) }, () => valueFor(items as Json, random, share));
    case "object":
      return isObject(properties)
        ? { ...valueOfAll(properties, random, share), ...(random.chance(0.1) && { unknown: 1 }) }
        : { a: isObject(additionalProperties) ? valueFor(additionalProperties, random, share) : 1 };
    default:
      return random.pick<unknown>([1, "a"]);
  }
}
