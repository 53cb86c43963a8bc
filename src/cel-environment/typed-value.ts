/**
 * Objects of built-in kinds as values of expressions, as upstream shows them: the JSON that Go writes,
 * parsed. A field is converted when an expression reads it, so the whole object is neither encoded
 * nor copied. Source:
 * k8s.io/apimachinery@v0.36.0/pkg/runtime/converter.go (ToUnstructured).
 */
import {
  CelDouble,
  CelList,
  type CelMap,
  type CelValue,
  type JsonValue,
  jsonValue,
  PlainMap,
} from "../lib/cel/index.ts";
import { sortedKeys } from "../lib/json/encode-any.ts";
import { collapses, isEmpty } from "../lib/schema/encode.ts";
import type { Field, Struct, Type } from "../lib/schema/schema.ts";
import { unsetValueOf } from "../lib/schema/zero.ts";

type PlainObject = { readonly [key: string]: unknown };

/**
 * Shows an object without copying it.
 *
 * @param object in the form that the decoder returns; it must not change while the value is used
 */
export function typedObject(object: PlainObject, schema: Struct): CelMap {
  if (schema.custom !== undefined) return jsonValue(object as JsonValue) as CelMap;
  return new StructValue(object, structReader(schema));
}

type Read = (value: unknown) => CelValue;

/** Reads one field of a struct. */
class FieldReader {
  readonly name: string;
  readonly #field: Field;
  readonly #collapses: boolean;
  #read: Read | undefined;
  #absent: CelValue | undefined;
  #isAbsentKnown = false;

  constructor(field: Field) {
    this.name = field.name;
    this.#field = field;
    this.#collapses = collapses(field);
  }

  /** @returns undefined if Go omits the field */
  read(value: unknown): CelValue | undefined {
    if (value === undefined || value === null || (this.#collapses && isEmpty(value))) return this.#absentValue();
    this.#read ??= readerOf(this.#field.type);
    return this.#read(value);
  }

  #absentValue(): CelValue | undefined {
    if (this.#isAbsentKnown) return this.#absent;
    const value = unsetValueOf(this.#field);
    this.#absent = value === undefined || value === null ? value : readerOf(this.#field.type)(value);
    this.#isAbsentKnown = true;
    return this.#absent;
  }
}

interface StructReader {
  readonly fields: readonly FieldReader[];
  readonly byName: ReadonlyMap<string, FieldReader>;
}

// Depends on the schema alone, and is garbage-collected with it.
const readers = new WeakMap<Struct, StructReader>();

function structReader(schema: Struct): StructReader {
  const known = readers.get(schema);
  if (known !== undefined) return known;
  const fields = schema.fields.map((field) => new FieldReader(field));
  const reader = { fields, byName: new Map(fields.map((field) => [field.name, field])) };
  readers.set(schema, reader);
  return reader;
}

/** The fields of a struct that Go writes. */
class StructValue extends PlainMap {
  readonly #object: PlainObject;
  readonly #reader: StructReader;

  constructor(object: PlainObject, reader: StructReader) {
    super();
    this.#object = object;
    this.#reader = reader;
  }

  protected read(key: string): CelValue | undefined {
    const field = this.#reader.byName.get(key);
    return field?.read(this.#object[field.name]);
  }

  protected listKeys(): readonly string[] {
    const names: string[] = [];
    for (const field of this.#reader.fields)
      if (field.read(this.#object[field.name]) !== undefined) names.push(field.name);
    return names;
  }
}

/** A map with any keys. */
class TypedMap extends PlainMap {
  readonly #map: PlainObject;
  readonly #read: Read;

  constructor(map: PlainObject, read: Read) {
    super();
    this.#map = map;
    this.#read = read;
  }

  protected read(key: string): CelValue | undefined {
    return Object.hasOwn(this.#map, key) ? this.#read(this.#map[key]) : undefined;
  }

  override has(key: CelValue): boolean {
    return typeof key === "string" && Object.hasOwn(this.#map, key);
  }

  protected listKeys(): readonly string[] {
    return sortedKeys(this.#map);
  }
}

class TypedList extends CelList {
  readonly #items: readonly unknown[];
  readonly #read: Read;

  constructor(items: readonly unknown[], read: Read) {
    super();
    this.#items = items;
    this.#read = read;
  }

  get size(): number {
    return this.#items.length;
  }

  at(index: number): CelValue {
    return this.#read(this.#items[index]);
  }
}

function readerOf(type: Type): Read {
  switch (type.kind) {
    case "struct":
      return lazily(() => {
        const reader = structReader(type);
        return (value) => new StructValue((value ?? {}) as PlainObject, reader);
      });
    case "list":
      return lazily(() => {
        const read = readerOf(type.items);
        return (value) => new TypedList(value as readonly unknown[], read);
      });
    case "map":
      return lazily(() => {
        const read = readerOf(type.values);
        return (value) => new TypedMap(value as PlainObject, read);
      });
    case "any":
      return type.forms === undefined ? readAny : formReader(type.forms);
    case "double":
      return (value) => (typeof value === "number" ? new CelDouble(value) : readAny(value));
    default:
      return readAny;
  }
}

const readAny: Read = (value) => jsonValue((value ?? null) as JsonValue);

/** Creates the reader at its first use, because types may be recursive. */
function lazily(create: () => Read): Read {
  let read: Read | undefined;
  return (value) => {
    read ??= create();
    return read(value);
  };
}

/** Reads a value by the typed form that it has. */
function formReader(forms: readonly Type[]): Read {
  const byKind = new Map(forms.map((form) => [form.kind, readerOf(form)]));
  return (value) => {
    if (Array.isArray(value)) return value.length === 0 ? null : (byKind.get("list") ?? readAny)(value);
    return typeof value === "object" && value !== null ? (byKind.get("struct") ?? readAny)(value) : readAny(value);
  };
}
