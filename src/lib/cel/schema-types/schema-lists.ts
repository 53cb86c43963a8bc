/**
 * Lists over plain JSON, with the equality and concatenation of their list type. Source: Kubernetes
 * docs, Extend the Kubernetes API with CustomResourceDefinitions, Validation rules;
 * k8s.io/apiserver@v0.36.0/pkg/cel/common/valuesunstructured.go
 */
import { NumberLiteral } from "../../json/number-literal.ts";
import { ArrayList } from "../values/containers.ts";
import { equalUnlessNull } from "../values/equality.ts";
import { noSuchOverload } from "../values/failure.ts";
import { isInt } from "../values/int.ts";
import { CelDouble, CelDuration, CelList, CelTimestamp, type CelValue, type Equality } from "../values/value.ts";
import { SchemaMap, SchemaObject, type Wrap } from "./schema-objects.ts";

/** A list that can be compared with lists only, and whose indices are ints. */
abstract class StrictList extends CelList {
  override get hasIntIndices(): boolean {
    return true;
  }

  override equals(other: CelValue): Equality {
    if (!(other instanceof CelList)) return noSuchOverload();
    return this.size === other.size && this.equalsList(other);
  }

  /** Compares with a list of the same size. */
  protected equalsList(other: CelList): Equality {
    for (let at = 0; at < this.size; at++) {
      const isSame = equalUnlessNull(this.at(at), other.at(at));
      if (isSame !== true) return isSame;
    }
    return true;
  }

  /** Fails if no element is equal, and one cannot be compared. */
  override contains(value: CelValue): Equality {
    let result: Equality = false;
    for (let at = 0; at < this.size; at++) {
      const isSame = equalUnlessNull(this.at(at), value);
      if (isSame === true) return true;
      if (isSame !== false) result = isSame;
    }
    return result;
  }
}

/** `x-kubernetes-list-type: atomic`. */
export class SchemaList extends StrictList {
  readonly #json: readonly unknown[];
  readonly #element: Wrap;

  constructor(json: readonly unknown[], element: Wrap) {
    super();
    this.#json = json;
    this.#element = element;
  }

  get size(): number {
    return this.#json.length;
  }

  at(index: number): CelValue {
    return this.#element(this.#json[index]);
  }
}

function* elementsOf(list: CelList): Generator<CelValue> {
  for (let at = 0; at < list.size; at++) yield list.at(at);
}

/** A set or a map list: equality and concatenation use the keys of the elements. */
abstract class KeyedList extends StrictList {
  readonly #elements: CelList;
  #byKey: Map<unknown, CelValue> | undefined;

  constructor(elements: CelList) {
    super();
    this.#elements = elements;
  }

  get size(): number {
    return this.#elements.size;
  }

  at(index: number): CelValue {
    return this.#elements.at(index);
  }

  /** Returns the same JavaScript value for equal keys. */
  protected abstract keyOf(element: CelValue): unknown;
  protected abstract with(elements: readonly CelValue[]): KeyedList;

  protected byKey(): ReadonlyMap<unknown, CelValue> {
    this.#byKey ??= new Map([...elementsOf(this)].map((element) => [this.keyOf(element), element]));
    return this.#byKey;
  }

  /** The order of elements is ignored. */
  protected override equalsList(other: CelList): Equality {
    const own = this.byKey();
    for (const element of elementsOf(other)) {
      const found = own.get(this.keyOf(element));
      if (found === undefined) return false;
      const isSame = equalUnlessNull(found, element);
      if (isSame !== true) return isSame;
    }
    return true;
  }

  /** Elements of the other list replace elements with the same key; the rest is appended. */
  override concat(other: CelList): CelList {
    const merged = [...elementsOf(this)];
    const positions = new Map(merged.map((element, at) => [this.keyOf(element), at]));
    for (const element of elementsOf(other)) {
      const key = this.keyOf(element);
      const position = positions.get(key);
      if (position === undefined) positions.set(key, merged.push(element) - 1);
      else merged[position] = element;
    }
    return this.with(merged);
  }
}

/** `x-kubernetes-list-type: set`. */
export class SchemaSet extends KeyedList {
  protected keyOf(element: CelValue): unknown {
    return scalarKey(element) ?? element;
  }
  protected with(elements: readonly CelValue[]): KeyedList {
    return new SchemaSet(new ArrayList(elements));
  }
}

/** `x-kubernetes-list-type: map`. */
export class SchemaMapList extends KeyedList {
  readonly #keys: readonly string[];

  constructor(elements: CelList, keys: readonly string[]) {
    super(elements);
    this.#keys = keys;
  }

  /** Combines the values of the key properties. An element that is not an object is its own key. */
  protected keyOf(element: CelValue): unknown {
    if (!(element instanceof SchemaObject || element instanceof SchemaMap)) return element;
    const { json } = element;
    const parts = this.#keys.map((key) => {
      const value = Object.hasOwn(json, key) ? json[key] : null;
      if (value instanceof NumberLiteral) return `f${value.text}`;
      return typeof value === "bigint" ? `n${value}` : typeof value === "string" ? `s${value}` : value;
    });
    return parts.length === 1 ? parts[0] : JSON.stringify(parts);
  }

  protected with(elements: readonly CelValue[]): KeyedList {
    return new SchemaMapList(new ArrayList(elements), this.#keys);
  }
}

/**
 * Returns a key with the type of the value. Kubernetes compares a time in a set with its text, so
 * it never finds one; here it does.
 */
function scalarKey(value: CelValue): string | undefined {
  if (typeof value === "string") return `s${value}`;
  if (isInt(value)) return `i${value}`;
  if (value instanceof CelDouble) return `d${value.value}`;
  if (value instanceof CelTimestamp) return `t${value.nanoseconds}`;
  if (value instanceof CelDuration) return `u${value.nanoseconds}`;
  if (value instanceof Uint8Array) return `y${Buffer.from(value).toString("base64")}`;
  return typeof value === "boolean" ? `b${value}` : undefined;
}
