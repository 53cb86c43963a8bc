/**
 * The schemas of the built-in API, from src/apimachinery/data/types.json. They are built when first used;
 * references between types are resolved lazily, so that types can be recursive.
 */
import assert from "node:assert/strict";
import type { Any, Embedding, Field, List, MapType, Scalar, ScalarKind, Struct, Type } from "../lib/schema/schema.ts";
import { storedTypeRow } from "./stored-kinds.ts";
import { type FieldExtras, type FieldRow, readTypesTable, type TypeRow } from "./types-table.ts";

/**
 * The schema of a struct; asserts that the table has it.
 *
 * @param definition OpenAPI name, such as `io.k8s.api.core.v1.Pod`
 */
export function builtinSchema(definition: string): Struct {
  const existing = structs.get(definition);
  if (existing !== undefined) return existing;
  const row = rowOf(definition);
  assert.ok(row.fields !== undefined, `${definition} is not a struct`);
  const struct = new BuiltinStruct(definition, row, row.atomic === true);
  structs.set(definition, struct);
  return struct;
}

/** The schema of any definition, including special types (Quantity, Time …). */
export function builtinType(definition: string): Type {
  const row = rowOf(definition);
  return row.special === undefined ? builtinSchema(definition) : specialType(definition, row.special);
}

/** The names of all definitions in the order of the table, including special types. */
export function builtinDefinitionNames(): string[] {
  return Object.keys(readTypesTable());
}

/**
 * The name of the definition of a kind. Kinds of every group and version (DeleteOptions …) are
 * found in any.
 */
export function definitionOf(group: string, version: string, kind: string): string | undefined {
  kinds ??= kindIndex();
  return kinds.get(`${group}/${version}/${kind}`) ?? kinds.get(`*/${kind}`);
}

// Caches of immutable data; nothing here depends on the options of a server.
let kinds: ReadonlyMap<string, string> | undefined;
const structs = new Map<string, Struct>();

function rowOf(definition: string): TypeRow {
  const row = readTypesTable()[definition] ?? storedTypeRow(definition);
  assert.ok(row !== undefined, `no type ${definition}`);
  return row;
}

function kindIndex(): ReadonlyMap<string, string> {
  const index = new Map<string, string>();
  for (const [definition, row] of Object.entries(readTypesTable())) {
    for (const [group, version, kind] of row.gvk ?? []) {
      const key = row.everyGroupVersion ? `*/${kind}` : `${group}/${version}/${kind}`;
      if (!index.has(key)) index.set(key, definition);
    }
  }
  return index;
}

class BuiltinStruct implements Struct {
  readonly kind = "struct";
  readonly definition: string;
  readonly goType: string;
  readonly atomic: boolean;
  readonly preserveUnknown = false;
  readonly openApi: boolean;
  readonly protobufName: string | undefined;
  readonly groupVersionKinds: Struct["groupVersionKinds"];
  readonly everyGroupVersion: boolean;
  readonly markers: readonly string[] | undefined;
  readonly unions: readonly unknown[] | undefined;
  readonly #row: TypeRow;
  #fields: readonly Field[] | undefined;
  #byName: ReadonlyMap<string, Field> | undefined;

  constructor(definition: string, row: TypeRow, atomic: boolean) {
    this.definition = definition;
    this.goType = definition.split(".").slice(-2).join(".");
    this.atomic = atomic;
    this.openApi = row.openApi !== false;
    this.protobufName = row.protobuf === false ? undefined : protobufNameOf(definition);
    this.groupVersionKinds = row.gvk?.map(([group, version, kind]) => ({ group, version, kind }));
    this.everyGroupVersion = row.everyGroupVersion === true;
    this.markers = row.markers;
    this.unions = row.unions;
    this.#row = row;
  }

  get fields(): readonly Field[] {
    this.#fields ??= buildFields(this.#row, undefined);
    return this.#fields;
  }

  get byName(): ReadonlyMap<string, Field> {
    this.#byName ??= new Map(this.fields.map((field) => [field.name, field]));
    return this.#byName;
  }
}

/** Replaces embedded structs by their fields, at the same position. */
function buildFields(row: TypeRow, outer: Embedding | undefined): Field[] {
  return (row.fields ?? []).flatMap((fieldRow) => {
    const [name, typeText, flags] = fieldRow;
    if (!flags.includes("i")) return [buildField(fieldRow, outer)];
    const protobuf = protobufOf(fieldRow);
    const embedding: Embedding = { name, definition: typeText, ...(protobuf && { protobuf }), ...(outer && { outer }) };
    return buildFields(rowOf(typeText), embedding);
  });
}

function buildField(row: FieldRow, embedded: Embedding | undefined): Field {
  const [name, typeText, flags, , extras = {}] = row;
  const protobuf = protobufOf(row);
  const mapType = flags.includes("m") ? "atomic" : flags.includes("g") ? "granular" : undefined;
  let type: Type | undefined;
  return {
    name,
    get type() {
      type ??= buildType(typeText, flags, extras);
      return type;
    },
    pointer: flags.includes("p"),
    omitEmpty: flags.includes("e"),
    omitZero: flags.includes("z"),
    required: flags.includes("r"),
    ...("default" in extras && { default: extras.default }),
    ...(extras.patch !== undefined && {
      patchStrategy: extras.patch.split(",") as ("merge" | "replace" | "retainKeys")[],
    }),
    ...(extras.mergeKey !== undefined && { patchMergeKey: extras.mergeKey }),
    ...(mapType !== undefined && { mapType }),
    ...(typeText === "bytes" && flags.includes("a") && { listType: "atomic" as const }),
    ...(extras.gates !== undefined && { gates: extras.gates }),
    ...(extras.dropsHolder === true && { dropsHolder: true }),
    ...(protobuf && { protobuf }),
    ...(embedded && { embedded }),
    ...(extras.go !== undefined && { goTypes: extras.go }),
    ...(extras.markers !== undefined && { markers: extras.markers }),
    ...(extras.typeMarkers !== undefined && { typeMarkers: extras.typeMarkers }),
    ...(extras.oneOf !== undefined && { oneOf: extras.oneOf }),
    ...(extras.zeroOrOneOf !== undefined && { zeroOrOneOf: extras.zeroOrOneOf }),
    ...(flags.includes("d") && { unionDiscriminator: true }),
  };
}

function protobufOf([, typeText, , number, extras = {}]: FieldRow): Field["protobuf"] {
  if (number === 0) return undefined;
  const type = extras.protobufType ?? protobufTypeOf(typeText);
  return { number, type, ...(extras.protobufName !== undefined && { name: extras.protobufName }) };
}

function protobufTypeOf(typeText: string): string {
  if (typeText.startsWith("[]")) return `repeated ${protobufTypeOf(typeText.slice(2))}`;
  if (typeText.startsWith("{}")) return `map<string,${protobufTypeOf(typeText.slice(2))}>`;
  return isDefinition(typeText) ? protobufNameOf(typeText) : typeText;
}

/** Whether the text of a type is the name of a definition, which has dots, instead of that of a scalar. */
function isDefinition(typeText: string): boolean {
  return typeText.includes(".");
}

/** The protobuf name of `io.k8s.api.core.v1.Pod` is `k8s.io.api.core.v1.Pod`. */
function protobufNameOf(definition: string): string {
  return definition.replace("io.k8s.", "k8s.io.").replaceAll("-", "_");
}

function buildType(text: string, flags: string, extras: FieldExtras): Type {
  if (text.startsWith("[]")) return listOf(plainType(text.slice(2), extras), flags, extras);
  if (text.startsWith("{}")) return mapOf(plainType(text.slice(2), extras), flags.includes("m"));
  if (flags.includes("g") && isDefinition(text)) return new BuiltinStruct(text, rowOf(text), false);
  return plainType(text, extras);
}

function listOf(items: Type, flags: string, extras: FieldExtras): List {
  const listType = extras.keys !== undefined ? "map" : flags.includes("s") ? "set" : "atomic";
  return {
    kind: "list",
    items,
    listType,
    mapKeys: extras.keys ?? [],
    listTypeDeclared: listType !== "atomic" || flags.includes("a"),
  };
}

function mapOf(values: Type, atomic: boolean): MapType {
  return { kind: "map", values, atomic };
}

function plainType(text: string, extras: FieldExtras): Type {
  if (text.startsWith("[]")) return listOf(plainType(text.slice(2), {}), "", {});
  if (text === "any") return { kind: "any", definition: "" };
  if (isDefinition(text)) return builtinType(text);
  return { kind: text as ScalarKind, ...(extras.enum !== undefined && { enum: extras.enum }) };
}

const specialScalars: Readonly<Record<string, ScalarKind>> = {
  Duration: "duration",
  IntOrString: "intOrString",
  MicroTime: "microtime",
  Quantity: "quantity",
  QuantityValue: "quantity",
  Time: "time",
};

function specialType(definition: string, special: string): Type {
  const scalar = specialScalars[special];
  if (scalar !== undefined) return { kind: scalar } satisfies Scalar;
  if (special === "ExtraValue" || special === "Verbs") return listOf({ kind: "string" }, "", {});
  const forms = schemaForms[special];
  return forms === undefined
    ? ({ kind: "any", definition } satisfies Any)
    : { kind: "any", definition, forms: forms(schemaOfSchemas(definition)) };
}

/** Fields of a JSON Schema that accept several types. */
const schemaForms: Readonly<Record<string, (schema: Struct) => readonly Type[]>> = {
  JSONSchemaPropsOrArray: (schema) => [schema, listOf(schema, "", {})],
  JSONSchemaPropsOrBool: (schema) => [schema, { kind: "bool" }],
  JSONSchemaPropsOrStringArray: (schema) => [schema, listOf({ kind: "string" }, "", {})],
};

function schemaOfSchemas(definition: string): Struct {
  return builtinSchema(`${definition.slice(0, definition.lastIndexOf(".") + 1)}JSONSchemaProps`);
}
