/**
 * Objects and maps with a schema, over plain JSON.
 * Source: k8s.io/apiserver@v0.36.0/pkg/cel/common/valuesunstructured.go
 */
import { deepEqual } from "../../json/values.ts";
import { equal } from "../values/equality.ts";
import { PlainMap } from "../values/plain-map.ts";
import { CelMap, type CelValue } from "../values/value.ts";
import { isReserved } from "./escape.ts";

/** Wraps plain JSON as a value. Returns a failure, typed as a value, for data that does not fit. */
export type Wrap = (json: unknown) => CelValue;

/** A JSON object. */
export type JsonObject = { readonly [key: string]: unknown };

interface Property {
  /** The name in the data, unescaped. */
  readonly name: string;
  readonly wrap: Wrap;
}

/**
 * By escaped name. A name that cannot be escaped is used as it is, so that equality includes the
 * property.
 */
export type Shape = ReadonlyMap<string, Property>;

/**
 * An object with properties. Other members of the data are compared, but not accessible; null is
 * absent.
 */
export class SchemaObject extends CelMap {
  readonly json: JsonObject;
  readonly #shape: Shape;

  constructor(json: JsonObject, shape: Shape) {
    super();
    this.json = json;
    this.#shape = shape;
  }

  get size(): number {
    return Object.keys(this.json).length;
  }

  find(key: CelValue): CelValue | undefined {
    const property =
      typeof key === "string"
        ? (this.#shape.get(key) ?? (isReserved(key) ? this.#shape.get(`__${key}__`) : undefined))
        : undefined;
    return property === undefined ? undefined : this.#value(property);
  }

  #value({ name, wrap }: Property): CelValue | undefined {
    const value = Object.hasOwn(this.json, name) ? this.json[name] : undefined;
    return value === null || value === undefined ? undefined : wrap(value);
  }

  keys(): readonly CelValue[] {
    return [...this.#shape].filter(([, property]) => this.#value(property) !== undefined).map(([escaped]) => escaped);
  }

  /** As in Kubernetes, members without a schema are compared only if both objects have them. */
  override equals(other: CelMap): boolean | undefined {
    if (!(other instanceof SchemaObject)) return undefined;
    if (this.size !== other.size) return false;
    const declared = new Set<string>();
    for (const [escaped, property] of this.#shape) {
      declared.add(property.name);
      const [one, two] = [this.#value(property), other.find(escaped)];
      if (one === undefined || two === undefined ? one !== two : !equal(one, two)) return false;
    }
    const undeclared = Object.keys(this.json).filter((key) => !declared.has(key) && Object.hasOwn(other.json, key));
    return undeclared.every((key) => deepEqual(this.json[key], other.json[key]));
  }
}

/** A map with any keys, whose values have one schema. */
export class SchemaMap extends PlainMap {
  readonly json: JsonObject;
  readonly #values: Wrap;

  constructor(json: JsonObject, values: Wrap) {
    super();
    this.json = json;
    this.#values = values;
  }

  protected read(key: string): CelValue | undefined {
    return Object.hasOwn(this.json, key) ? this.#values(this.json[key]) : undefined;
  }

  protected listKeys(): readonly string[] {
    return Object.keys(this.json);
  }
}
