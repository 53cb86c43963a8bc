/**
 * What mutating policies make: objects called after their place (`Object.spec.template`), of which nothing is known but what is written,
 * and JSON patches. Source: k8s.io/apiserver pkg/cel/mutation
 */
import {
  CelList,
  CelMap,
  CelObject,
  type CelValue,
  dynType,
  equal,
  fail,
  opaqueType,
  type Result,
  stringType,
  type TypeResolver,
  typeNameOf,
} from "../lib/cel/index.ts";

const rootName = "Object";
export const jsonPatchName = "JSONPatch";

function isObjectName(name: string): boolean {
  return name === rootName || name.startsWith(`${rootName}.`);
}

/** `Object{…}`, as it was written. */
export class WrittenObject extends CelObject {
  readonly typeName: string;
  readonly fields: ReadonlyMap<string, CelValue>;

  constructor(typeName: string, fields: ReadonlyMap<string, CelValue>) {
    super();
    this.typeName = typeName;
    this.fields = fields;
  }

  /** What was not written is null. */
  field(name: string): CelValue | undefined {
    return this.fields.get(name) ?? null;
  }

  has(name: string): boolean {
    return this.fields.has(name);
  }

  equals(other: CelObject): boolean {
    if (!(other instanceof WrittenObject) || other.typeName !== this.typeName || other.fields.size !== this.fields.size)
      return false;
    return [...this.fields].every(([name, value]) => {
      const found = other.fields.get(name);
      return found !== undefined && equal(value, found);
    });
  }
}

/** `JSONPatch{op: …, path: …}`: texts that were not written are empty. */
export class WrittenPatch extends CelObject {
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

  equals(other: CelObject): boolean {
    if (!(other instanceof WrittenPatch)) return false;
    const [value, found] = [this.field("value"), other.field("value")];
    const isSameValue = value === undefined || found === undefined ? value === found : equal(value, found);
    return isSameValue && texts.every((name) => this.field(name) === other.field(name));
  }
}

const texts = ["op", "path", "from"];

/** Of a field that there is not: upstream finds one, and nothing but dynamic values fit. */
const noType = opaqueType("");

export const mutationTypes: TypeResolver = {
  hasType: (name) => name === jsonPatchName || isObjectName(name),
  isNameable: (name) => name === jsonPatchName || isObjectName(name),
  fieldType: (typeName, field) => {
    if (typeName !== jsonPatchName || field === "value") return dynType;
    return texts.includes(field) ? stringType : noType;
  },
  create: (typeName, fields) => (typeName === jsonPatchName ? patchOf(fields) : new WrittenObject(typeName, fields)),
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
  return new WrittenPatch(fields);
}

/** Objects whose type is not called after the place where they stand. Empty when all are. */
export function misnamedObjects(value: CelValue, expected: string = rootName): readonly string[] {
  if (value instanceof WrittenObject) {
    const own = `unexpected type name "${value.typeName}", expected "${expected}", which matches field name path from root Object type`;
    const below = [...value.fields].flatMap(([name, field]) => misnamedObjects(field, `${expected}.${name}`));
    return value.typeName === expected ? below : [own, ...below];
  }
  if (value instanceof CelList)
    return Array.from({ length: value.size }, (_, at) => misnamedObjects(value.at(at), expected)).flat();
  if (value instanceof CelMap)
    return value.keys().flatMap((key) => misnamedObjects(value.find(key) as CelValue, expected));
  return [];
}
