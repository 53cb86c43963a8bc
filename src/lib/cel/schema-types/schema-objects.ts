/** Objects and maps that a schema describes, over plain JSON. Source: k8s.io/apiserver pkg/cel/common/valuesunstructured.go */
import { deepEqual } from "../../json/values.ts";
import { equal } from "../values/equality.ts";
import { CelMap, type CelValue } from "../values/value.ts";
import { isReserved } from "./escape.ts";

/** Makes a value of plain JSON. Data that does not fit the schema is a failure, in the place of a value: whoever uses it fails. */
export type Wrap = (json: unknown) => CelValue;

export type JsonObject = { readonly [key: string]: unknown };

export interface Property {
  /** As the data has it. */
  readonly name: string;
  readonly wrap: Wrap;
}

/** By name as expressions write it; a name that cannot be written stands for itself, so that equality sees the property. */
export type Shape = ReadonlyMap<string, Property>;

/** An object whose properties are known. What it holds besides can be compared, and not be read; null is absent. */
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
    return [...this.#shape].filter(([, property]) => this.#value(property) !== undefined).map(([written]) => written);
  }

  /** Of what is not known, only what both have is compared, as upstream does. */
  override equals(other: CelMap): boolean | undefined {
    if (!(other instanceof SchemaObject)) return undefined;
    if (this.size !== other.size) return false;
    const known = new Set<string>();
    for (const [written, property] of this.#shape) {
      known.add(property.name);
      const [one, two] = [this.#value(property), other.find(written)];
      if (one === undefined || two === undefined ? one !== two : !equal(one, two)) return false;
    }
    const unknown = Object.keys(this.json).filter((key) => !known.has(key) && Object.hasOwn(other.json, key));
    return unknown.every((key) => deepEqual(this.json[key], other.json[key]));
  }
}

/** An object whose keys are anybody's, its values of one schema. */
export class SchemaMap extends CelMap {
  readonly json: JsonObject;
  readonly #values: Wrap;

  constructor(json: JsonObject, values: Wrap) {
    super();
    this.json = json;
    this.#values = values;
  }

  get size(): number {
    return Object.keys(this.json).length;
  }

  find(key: CelValue): CelValue | undefined {
    return typeof key === "string" && Object.hasOwn(this.json, key) ? this.#values(this.json[key]) : undefined;
  }

  keys(): readonly CelValue[] {
    return Object.keys(this.json);
  }
}
