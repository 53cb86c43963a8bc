/**
 * Types of mutating admission policies: untyped objects, named after their position such as
 * `Object.spec.template`, and JSON patches. Source: k8s.io/apiserver@v0.36.0/pkg/cel/mutation
 */
import {
  CelList,
  CelMap,
  CelObject,
  type CelValue,
  dynType,
  type Equality,
  equal,
  fail,
  opaqueType,
  type Result,
  stringType,
  type TypeResolver,
  typeNameOf,
} from "../lib/cel/index.ts";

const rootName = "Object";
/** The name of the type `JSONPatch`. */
export const jsonPatchName = "JSONPatch";

function isObjectName(name: string): boolean {
  return name === rootName || name.startsWith(`${rootName}.`);
}

/** `Object{…}`. */
export class ObjectValue extends CelObject {
  readonly typeName: string;
  readonly fields: ReadonlyMap<string, CelValue>;

  constructor(typeName: string, fields: ReadonlyMap<string, CelValue>) {
    super();
    this.typeName = typeName;
    this.fields = fields;
  }

  /** A field that is not set is null. */
  field(name: string): CelValue | undefined {
    return this.fields.get(name) ?? null;
  }

  has(name: string): boolean {
    return this.fields.has(name);
  }

  equals(other: CelObject): boolean {
    if (!(other instanceof ObjectValue) || other.typeName !== this.typeName || other.fields.size !== this.fields.size)
      return false;
    return [...this.fields].every(([name, value]) => {
      const found = other.fields.get(name);
      return found !== undefined && equal(value, found) === true;
    });
  }
}

/** `JSONPatch{op: …, path: …}`. String fields that are not set are empty. */
export class JsonPatchValue extends CelObject {
  readonly typeName = jsonPatchName;
  readonly fields: ReadonlyMap<string, CelValue>;

  constructor(fields: ReadonlyMap<string, CelValue>) {
    super();
    this.fields = fields;
  }

  field(name: string): CelValue | undefined {
    return this.fields.get(name) ?? (name === "value" ? undefined : "");
  }

  has(name: string): boolean {
    const value = this.fields.get(name);
    return value !== undefined && (name === "value" || value !== "");
  }

  equals(other: CelObject): Equality {
    if (!(other instanceof JsonPatchValue)) return false;
    if (texts.some((name) => this.field(name) !== other.field(name))) return false;
    const [value, found] = [this.field("value"), other.field("value")];
    return value === undefined || found === undefined ? value === found : equal(value, found);
  }
}

const texts = ["op", "path", "from"];

/**
 * The type of an unknown field. As in kube-apiserver, only values of type dyn are assignable to it.
 */
const noType = opaqueType("");

/** Resolves `Object`, types below it, and `JSONPatch`. */
export const mutationTypes: TypeResolver = {
  hasType: (name) => name === jsonPatchName || isObjectName(name),
  isNameable: (name) => name === jsonPatchName || isObjectName(name),
  fieldType: (typeName, field) => {
    if (typeName !== jsonPatchName || field === "value") return dynType;
    return texts.includes(field) ? stringType : noType;
  },
  create: (typeName, fields) => (typeName === jsonPatchName ? patchOf(fields) : new ObjectValue(typeName, fields)),
};

const goNames = new Map([
  ["int", "int64"],
  ["uint", "uint64"],
  ["double", "float64"],
]);

function goNameOf(value: CelValue): string {
  return goNames.get(typeNameOf(value)) ?? typeNameOf(value);
}

function patchOf(fields: ReadonlyMap<string, CelValue>): Result {
  for (const [name, value] of fields) {
    if (texts.includes(name) && typeof value !== "string")
      return fail(`unexpected type ${goNameOf(value)} for JSONPatchType '${name}' field`);
    if (!texts.includes(name) && name !== "value") return fail(`unexpected JSONPatchType field: ${name}`);
  }
  return new JsonPatchValue(fields);
}

/** Returns an error for each object whose type name does not match its position. */
export function typeNameErrors(value: CelValue, expected: string = rootName): readonly string[] {
  if (value instanceof ObjectValue) {
    const own = `unexpected type name "${value.typeName}", expected "${expected}", which matches field name path from root Object type`;
    const below = [...value.fields].flatMap(([name, field]) => typeNameErrors(field, `${expected}.${name}`));
    return value.typeName === expected ? below : [own, ...below];
  }
  if (value instanceof CelList)
    return Array.from({ length: value.size }, (_, at) => typeNameErrors(value.at(at), expected)).flat();
  if (value instanceof CelMap)
    return value.keys().flatMap((key) => typeNameErrors(value.find(key) as CelValue, expected));
  return [];
}
