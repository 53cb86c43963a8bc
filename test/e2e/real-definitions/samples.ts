/** Random valid and invalid objects of a schema, for projects that ship few samples. */
import type { JsonSchemaProps } from "../../../src/lib/structural-schema/json-schema-props.ts";
import type { Manifest } from "./projects.ts";

/** A random integer from 0 to below the argument. */
type Random = (below: number) => number;

const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)] as T;

const texts = [
  "a",
  "example.com",
  "a.b/c",
  "http",
  "1",
  "10m",
  "",
  "Always",
  "https://example.com/x",
  "2024-01-01T00:00:00Z",
  "*",
  "10.0.0.1",
  "UPPER",
];

/** A random value, with most of the required fields and some of the optional ones. */
export function randomValue(schema: JsonSchemaProps | undefined, random: Random, depth = 8): unknown {
  if (schema === undefined) return pick(random, texts);
  if (schema.enum !== undefined && random(8) > 0) return pick(random, schema.enum);
  if (schema["x-kubernetes-int-or-string"]) return random(2) === 0 ? random(70000) : pick(random, texts);
  switch (schema.type) {
    case "object":
      return randomObject(schema, random, depth);
    case "array":
      return Array.from({ length: depth > 0 ? random(3) : 0 }, () => randomValue(schema.items, random, depth - 1));
    case "integer":
      return pick(random, [0, 1, 2, 80, 443, 600, 65535, Number(schema.minimum ?? 3), Number(schema.maximum ?? 7)]);
    case "number":
      return pick(random, [0, 1.5, 100, 1e3]);
    case "boolean":
      return random(2) === 0;
    case "string":
      return randomText(schema, random);
    default:
      return pick<unknown>(random, ["a", 1, { a: "b" }]);
  }
}

const texted: Readonly<Record<string, readonly string[]>> = {
  "date-time": ["2024-01-01T00:00:00Z", "2024-01-01T00:00:00.5+02:00"],
  duration: ["1h", "30s"],
  uri: ["https://example.com/x"],
};

function randomText({ format = "", minLength = 0 }: JsonSchemaProps, random: Random): string {
  const text = pick(random, texted[format] ?? texts);
  return text.length < Number(minLength) ? text.padEnd(Number(minLength), "a") : text;
}

function randomObject(schema: JsonSchemaProps, random: Random, depth: number): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties: values } = schema;
  const object: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const isSet = required.includes(name) ? random(30) > 0 : depth > 0 && random(depth > 5 ? 2 : 4) === 0;
    if (isSet) object[name] = randomValue(property, random, depth - 1);
  }
  if (typeof values !== "object" || depth <= 0) return object;
  for (const key of ["a", "example.com/b"].slice(random(3))) object[key] = randomValue(values, random, depth - 1);
  return object;
}

/**
 * @param schema the schema of a version
 * @returns an object without apiVersion, kind and metadata
 */
export function randomSample(
  schema: JsonSchemaProps,
  random: Random,
): Omit<Manifest, "apiVersion" | "kind" | "metadata"> {
  const {
    apiVersion: _version,
    kind: _kind,
    metadata: _metadata,
    ...rest
  } = randomObject({ ...schema, required: ["spec"] }, random, 8);
  return rest;
}

/** A copy with one random change outside of apiVersion, kind and metadata. */
export function damaged(sample: Manifest, random: Random): Manifest {
  const copy = structuredClone(sample);
  const places = placesOf(copy).filter(({ path }) => !["apiVersion", "kind", "metadata"].includes(path[0] as string));
  if (places.length === 0) return { ...copy, spec: pick(random, replacements) };
  const { holder, key } = pick(random, places);
  const value = holder[key];
  switch (random(6)) {
    case 0:
      if (Array.isArray(holder)) holder.push(structuredClone(value));
      else delete holder[key];
      break;
    case 1:
      if (typeof value === "object" && value !== null && !Array.isArray(value))
        value.notThere = pick(random, replacements);
      else holder[key] = null;
      break;
    default:
      holder[key] = structuredClone(pick(random, replacements));
  }
  return copy;
}

const replacements: readonly unknown[] = [
  ...[
    "",
    "x",
    "not a valid one!",
    "é".repeat(70),
    "a".repeat(300),
    "1h",
    "2024-13-01",
    "::1",
    -1,
    0,
    1.5,
    70000,
    2 ** 40,
    true,
    false,
    null,
  ],
  ...[[], {}, ["a", "a"], [{}], { a: 1 }, [null], { a: null }, [1, "x", {}]],
];

// biome-ignore lint/suspicious/noExplicitAny: a list or an object.
type Holder = any;

function placesOf(
  value: Holder,
  path: readonly string[] = [],
): { holder: Holder; key: string; path: readonly string[] }[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((key) => {
    const within = [...path, key];
    return [{ holder: value, key, path: within }, ...placesOf(value[key], within)];
  });
}
