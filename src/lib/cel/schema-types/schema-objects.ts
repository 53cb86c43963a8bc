/**
 * Objects and maps with a schema, over plain JSON.
 * Source: k8s.io/apiserver@v0.36.0/pkg/cel/common/valuesunstructured.go
 */
import { deepEqual } from "../../json/values.ts";
import { failedValue } from "../values/access.ts";
import { equalUnlessNull } from "../values/equality.ts";
import { noSuchOverload } from "../values/failure.ts";
import { PlainMap } from "../values/plain-map.ts";
import { CelMap, type CelValue, type Equality } from "../values/value.ts";
import { escapeName, isReserved } from "./escape.ts";

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
    if (typeof key !== "string") return failedValue("no such overload");
    const property = this.#shape.get(key) ?? (isReserved(key) ? this.#shape.get(`__${key}__`) : undefined);
    return property === undefined ? undefined : this.#value(property);
  }

  #value({ name, wrap }: Property): CelValue | undefined {
    const value = Object.hasOwn(this.json, name) ? this.json[name] : undefined;
    return value === null || value === undefined ? undefined : wrap(value);
  }

  keys(): readonly CelValue[] {
    return [...this.#shape].filter(([, property]) => this.#value(property) !== undefined).map(([escaped]) => escaped);
  }

  override has(key: CelValue): Equality {
    return typeof key === "string" ? this.find(key) !== undefined : noSuchOverload();
  }

  /** As in Kubernetes, members without a schema are compared only if both objects have them. */
  override equals(other: CelValue): Equality {
    if (!(other instanceof CelMap)) return noSuchOverload();
    if (this.size !== other.size) return false;
    for (const name of Object.keys(this.json)) {
      const isSame = this.#equalsMember(name, other);
      if (isSame !== true) return isSame;
    }
    return true;
  }

  #equalsMember(name: string, other: CelMap): Equality {
    const written = this.#shape.has(name) ? name : (escapeName(name) ?? name);
    const property = this.#shape.get(written);
    if (property?.name === name) {
      const [one, two] = [this.#value(property), other.find(written)];
      return one === undefined || two === undefined ? one === two : equalUnlessNull(one, two);
    }
    if (!(other instanceof SchemaObject || other instanceof SchemaMap)) return noSuchOverload();
    return !Object.hasOwn(other.json, name) || deepEqual(this.json[name], other.json[name]);
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

  override find(key: CelValue): CelValue | undefined {
    return typeof key === "string" ? super.find(key) : failedValue("no such overload");
  }

  override has(key: CelValue): Equality {
    return typeof key === "string" ? super.has(key) : noSuchOverload();
  }

  override equals(other: CelValue): Equality | undefined {
    return other instanceof CelMap ? undefined : noSuchOverload();
  }
}
