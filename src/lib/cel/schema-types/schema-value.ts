/**
 * Values of data with a schema. An object is wrapped, not converted, and its fields are wrapped
 * when an expression uses them. The wrapper of each schema is created once. Source:
 * k8s.io/apiserver@v0.36.0/pkg/cel/common/valuesunstructured.go
 */
import { encodeAny } from "../../json/encode-any.ts";
import { NumberLiteral } from "../../json/number-literal.ts";
import { deepEqual, isObject } from "../../json/values.ts";
import { dynType } from "../types.ts";
import { failedValue } from "../values/access.ts";
import type { CelFailure } from "../values/failure.ts";
import { intOf } from "../values/int.ts";
import { CelDouble, CelOpaque, type CelValue } from "../values/value.ts";
import { escapeName } from "./escape.ts";
import { stringFormats } from "./formats.ts";
import {
  isEmbeddedResource,
  isIntOrString,
  type JsonSchema,
  propertiesOf,
  valuesOf,
  withTypeAndObjectMeta,
} from "./json-schema.ts";
import { SchemaList, SchemaMapList, SchemaSet } from "./schema-lists.ts";
import { type JsonObject, SchemaMap, SchemaObject, type Shape, type Wrap } from "./schema-objects.ts";

/**
 * Returns the wrapper of a schema; wrappers are cached for the lifetime of the schema.
 *
 * @param isResourceRoot adds `apiVersion`, `kind`, `metadata.name` and `metadata.generateName`
 */
export function wrapOf(schema: JsonSchema, isResourceRoot = false): Wrap {
  const cache = isResourceRoot ? rootWraps : wraps;
  const cached = cache.get(schema);
  if (cached !== undefined) return cached;
  const wrap = nullable(schema, makeWrap(isResourceRoot ? withTypeAndObjectMeta(schema) : schema));
  cache.set(schema, wrap);
  return wrap;
}

const wraps = new WeakMap<JsonSchema, Wrap>();
const rootWraps = new WeakMap<JsonSchema, Wrap>();

function nullable(schema: JsonSchema, wrap: Wrap): Wrap {
  if (schema.nullable === true) return (json) => (json === null || json === undefined ? null : wrap(json));
  return (json) =>
    json === null || json === undefined
      ? failedValue("invalid data, got null for schema with nullable=false")
      : wrap(json);
}

function makeWrap(schema: JsonSchema): Wrap {
  if (isIntOrString(schema)) return wrapIntOrString;
  switch (schema.type) {
    case "object":
      return objectWrap(isEmbeddedResource(schema) ? withTypeAndObjectMeta(schema) : schema);
    case "array":
      return listWrap(schema);
    case "string":
      return stringWrap(stringFormats.get(schema.format ?? ""));
    case "number":
      return wrapNumber;
    case "integer":
      return wrapInteger;
    case "boolean":
      return (json) =>
        typeof json === "boolean" ? json : failedValue(`invalid data, expected bool, got ${nameOf(json)}`);
    default:
      return schema["x-kubernetes-preserve-unknown-fields"] === true
        ? (json) => new UnknownData(json)
        : () => failedValue(noType(schema));
  }
}

function noType({ type = "" }: JsonSchema): string {
  const types = "object, array, number, integer, boolean or string";
  return `invalid type, expected ${types}, or no type with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got ${type}`;
}

/** The name of the Go type in messages. */
function nameOf(json: unknown): string {
  if (typeof json === "boolean") return "bool";
  if (typeof json === "number") return Number.isSafeInteger(json) ? "int64" : "float64";
  if (typeof json === "bigint") return "int64";
  if (json instanceof NumberLiteral) return "float64";
  if (Array.isArray(json)) return "[]interface {}";
  return typeof json === "object" ? "map[string]interface {}" : "string";
}

function integerOf(json: unknown): CelValue | undefined {
  if (typeof json === "number") return Number.isSafeInteger(json) ? json + 0 : undefined; // An int is never -0.
  return typeof json === "bigint" ? intOf(json) : undefined;
}

const wrapInteger: Wrap = (json) => integerOf(json) ?? failedValue(`invalid data, expected int, got ${nameOf(json)}`);

const wrapNumber: Wrap = (json) => {
  if (typeof json === "number" || typeof json === "bigint") return new CelDouble(Number(json));
  if (json instanceof NumberLiteral) return new CelDouble(json.value);
  return failedValue(`invalid data, expected float, got ${nameOf(json)}`);
};

const wrapIntOrString: Wrap = (json) => {
  if (typeof json === "string") return json;
  return integerOf(json) ?? failedValue("invalid data, expected XIntOrString value to be either a string or integer");
};

function stringWrap(parse: ((text: string) => CelValue | CelFailure) | undefined): Wrap {
  const invalid = (json: unknown): CelValue => failedValue(`invalid data, expected string, got ${nameOf(json)}`);
  if (parse === undefined) return (json) => (typeof json === "string" ? json : invalid(json));
  return (json) => (typeof json === "string" ? (parse(json) as CelValue) : invalid(json));
}

function listWrap(schema: JsonSchema): Wrap {
  const { items } = schema;
  if (items === undefined) return () => failedValue("invalid array type, expected Items with a non-empty Schema");
  const listType = schema["x-kubernetes-list-type"] ?? "atomic";
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const element = lazily(items);
  const make = (json: readonly unknown[]): CelValue => {
    const list = new SchemaList(json, element);
    if (listType === "atomic") return list;
    if (listType === "set") return new SchemaSet(list);
    if (listType === "map") return new SchemaMapList(list, keys);
    return failedValue(`invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got ${listType}`);
  };
  return (json) =>
    Array.isArray(json)
      ? make(json)
      : failedValue("invalid data, expected an array for the provided schema with type=array");
}

function objectWrap(schema: JsonSchema): Wrap {
  const properties = propertiesOf(schema);
  const values = valuesOf(schema);
  const element = values === undefined ? undefined : lazily(values);
  let shape: Shape | undefined;
  const make = (json: JsonObject): CelValue => {
    if (properties === undefined && element !== undefined) return new SchemaMap(json, element);
    shape ??= shapeOf(properties ?? new Map());
    return new SchemaObject(json, shape);
  };
  return (json) => {
    if (isObject(json)) return make(json as JsonObject);
    return failedValue("invalid data, expected a map for the provided schema with type=object");
  };
}

/**
 * Creates the wrapper at the first use: schemas can be large, and expressions use few of their
 * parts.
 */
function lazily(schema: JsonSchema): Wrap {
  let wrap: Wrap | undefined;
  return (json) => {
    wrap ??= wrapOf(schema);
    return wrap(json);
  };
}

function shapeOf(properties: ReadonlyMap<string, JsonSchema>): Shape {
  return new Map([...properties].map(([name, schema]) => [escapeName(name) ?? name, { name, wrap: lazily(schema) }]));
}

/** Data without a type, which expressions can only compare. */
class UnknownData extends CelOpaque {
  readonly type = dynType;
  readonly #json: unknown;
  constructor(json: unknown) {
    super();
    this.#json = json;
  }
  equals(other: CelValue): boolean {
    return other instanceof UnknownData && deepEqual(this.#json, other.#json);
  }
  toString(): string {
    return encodeAny(this.#json);
  }
}
