/**
 * Lists over plain JSON, with the equality and concatenation of their list type. Source: access-control §2.3;
 * k8s.io/apiserver pkg/cel/common/valuesunstructured.go
 */
import { ArrayList } from "../values/containers.ts";
import { equal } from "../values/equality.ts";
import { isInt } from "../values/int.ts";
import { CelDouble, CelDuration, CelList, CelTimestamp, type CelValue } from "../values/value.ts";
import { SchemaMap, SchemaObject, type Wrap } from "./schema-objects.ts";

/** A list whose order counts. */
export class SchemaList extends CelList {
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

/** A list of another list type: it compares and grows by the keys of its elements. */
abstract class KeyedList extends CelList {
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

  /** Equal keys are the same value of JavaScript. */
  protected abstract keyOf(element: CelValue): unknown;
  protected abstract with(elements: readonly CelValue[]): KeyedList;

  protected byKey(): ReadonlyMap<unknown, CelValue> {
    this.#byKey ??= new Map([...elementsOf(this)].map((element) => [this.keyOf(element), element]));
    return this.#byKey;
  }

  /** Order does not count. */
  override equals(other: CelList): boolean {
    if (this.size !== other.size) return false;
    const own = this.byKey();
    for (const element of elementsOf(other)) {
      const found = own.get(this.keyOf(element));
      if (found === undefined || !equal(found, element)) return false;
    }
    return true;
  }

  /** Elements of the other whose keys are here take their places, as far as they differ; the others come after. */
  override concat(other: CelList): CelList {
    const merged = [...elementsOf(this)];
    const places = new Map(merged.map((element, at) => [this.keyOf(element), at]));
    for (const element of elementsOf(other)) {
      const key = this.keyOf(element);
      const place = places.get(key);
      if (place === undefined) places.set(key, merged.push(element) - 1);
      else merged[place] = element;
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

  /** The values of its keys, as data has them. What is no object has no key. */
  protected keyOf(element: CelValue): unknown {
    if (!(element instanceof SchemaObject || element instanceof SchemaMap)) return element;
    const { json } = element;
    const parts = this.#keys.map((key) => {
      const value = Object.hasOwn(json, key) ? json[key] : null;
      return typeof value === "bigint" ? `n${value}` : typeof value === "string" ? `s${value}` : value;
    });
    return parts.length === 1 ? parts[0] : JSON.stringify(parts);
  }

  protected with(elements: readonly CelValue[]): KeyedList {
    return new SchemaMapList(new ArrayList(elements), this.#keys);
  }
}

/** Values of one type only are equal. Upstream finds no time in a set, for it compares it with its text; here they are found. */
function scalarKey(value: CelValue): string | undefined {
  if (typeof value === "string") return `s${value}`;
  if (isInt(value)) return `i${value}`;
  if (value instanceof CelDouble) return `d${value.value}`;
  if (value instanceof CelTimestamp) return `t${value.nanoseconds}`;
  if (value instanceof CelDuration) return `u${value.nanoseconds}`;
  if (value instanceof Uint8Array) return `y${Buffer.from(value).toString("base64")}`;
  return typeof value === "boolean" ? `b${value}` : undefined;
}
