/** Values near the limits of their types, and some of other types. */
import type { Type } from "../../src/lib/schema/schema.ts";
import { raw } from "./body-text.ts";
import type { Random } from "./random.ts";

const names = ["a", "b", "a-b", "a.b", "x".repeat(63), "x".repeat(64), "x".repeat(253), "x".repeat(254), "kube-system"];
const oddNames = [
  "",
  "A",
  "-a",
  "a-",
  "a..b",
  "a_b",
  "a/b",
  "a b",
  " a",
  "é",
  "\u{1f600}",
  "*",
  "..",
  "%41",
  "1",
  "true",
];
const texts = [
  ...names,
  ...oddNames,
  "$(VAR)",
  "../a",
  "https://example.com/a?b#c",
  "10.0.255.1",
  "::1",
  "1.2.3.04",
  "0.0.0.0/0",
  "fd00::/129",
  "2020-02-30T00:00:00Z",
  "tab\there",
  "line\nbreak",
  "nul\u0000",
  "\u2028",
  "<&>",
  "x".repeat(1025),
  "example.com/a",
  "a=b",
  "Always",
  "None",
];
const integers: unknown[] = [
  ...[0, 1, -1, 2, 7, 80, 443, 255, 256, 600, 1000, 1001, 65535, 65536, 2_147_483_647, 2_147_483_648, -2_147_483_649],
  ...["1.0", "1e3", "-0", "1.5", "9007199254740993", "9223372036854775808", "1e400", "1E2", "0.0"].map(raw),
  ...["1", "", true, null],
];
const quantities: unknown[] = [
  ...["0", "1", "100m", "-1", "1.5Gi", "1e3", "1E", "0.1m", "1n", "100000000000000000000000", "9223372036854775807"],
  ...["12345678901234567890Ki", "+1", ".5", "5.", "1KI", " 1", "", "1e", "0x1", "1Mi1", "-0", "1000k", "0.0001"],
  ...[1, 1.5, -2, null, true],
  ...["1e3", "1.0", "9007199254740993"].map(raw),
];
const times: unknown[] = [
  ...["2020-02-29T23:59:59Z", "1970-01-01T00:00:00Z", "2020-01-01T00:00:00.123456789Z", "2020-01-01T02:00:00+02:00"],
  ...["2020-01-01T00:00:00", "2020-02-30T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2020-01-01"],
  ...["2020-01-01t00:00:00z", "2020-01-01T24:00:00Z", "2020-01-01T00:00:60Z", "", null, 0],
];
const durations: unknown[] = [
  "0s",
  "1m30s",
  "1.5s",
  "-3h",
  "100ms",
  "1d",
  "",
  "1",
  "106751d",
  "2562047h47m16.9s",
  1,
  null,
];
const booleans: unknown[] = [true, false, "true", 0, null];
const wrongTypes: unknown[] = [[], {}, "a", 1, true, null, [1], { a: 1 }];

/** A value of a type, or near it. @param depth how many levels may follow */
export function valueNear(type: Type, random: Random, depth = 2): unknown {
  if (random.chance(0.04)) return random.pick(wrongTypes);
  switch (type.kind) {
    case "string":
      return type.enum === undefined ? random.pick(texts) : enumValue(type.enum, random);
    case "int32":
    case "int64":
      return random.pick(integers);
    case "double":
      return random.pick([...integers, 0.5, 1e21]);
    case "bool":
      return random.pick(booleans);
    case "bytes":
      return random.pick(["YQ==", "", "YQ", "a", "YR==", "YWI-", null]);
    case "time":
    case "microtime":
      return random.pick(times);
    case "duration":
      return random.pick(durations);
    case "quantity":
      return random.pick(quantities);
    case "intOrString":
      return random.pick<unknown>([...integers, "http", "25%", "101%", "-1%", "%", "50.5%"]);
    case "any":
      return random.pick<unknown>([...wrongTypes, { kind: "X", apiVersion: "v1" }]);
    case "list":
      return Array.from({ length: depth > 0 ? random.below(4) : 0 }, () => valueNear(type.items, random, depth - 1));
    case "map":
      return mapOf(type.values, random, depth);
    case "struct":
      return structOf(type, random, depth);
  }
}

/** Keys of labels and annotations, and others. */
export function keyOf(random: Random): string {
  return random.pick([...names, ...oddNames, "example.com/a", "example.com/", "/a", "a/b/c", "kubernetes.io/x"]);
}

function enumValue(values: readonly string[], random: Random): unknown {
  const one = random.pick(values);
  return random.pick<unknown>([one, one, one, one.toLowerCase(), `${one} `, "", null]);
}

function mapOf(values: Type, random: Random, depth: number): Record<string, unknown> {
  const count = depth > 0 ? random.below(3) : 0;
  return Object.fromEntries(Array.from({ length: count }, () => [keyOf(random), valueNear(values, random, depth - 1)]));
}

function structOf({ fields }: Type & { kind: "struct" }, random: Random, depth: number): Record<string, unknown> {
  if (depth <= 0) return {};
  const chosen = random.some(fields, Math.min(0.5, 3 / fields.length));
  return Object.fromEntries(chosen.map(({ name, type }) => [name, valueNear(type, random, depth - 1)]));
}
