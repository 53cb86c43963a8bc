/** Schemas as OpenAPI definitions, in upstream's order of fields. Source: kube-openapi; facts about 1.36's published documents. */

import { builtinSchema } from "../catalog/builtin-schemas.ts";
import type { Any, Field, Scalar, ScalarKind, Struct, Type } from "../lib/schema/schema.ts";
import { customDefinition, customDefinitionName } from "./custom-definitions.ts";
import type { Descriptions } from "./descriptions.ts";
import type { Dialect, Json } from "./dialect.ts";
import type { CustomKind } from "./path-item.ts";

/** Gathers definitions while documents refer to them, and those they refer to in turn. */
export interface Definitions {
  /** A reference to a type, such as `{"$ref": "#/definitions/…"}`. */
  reference(type: Type): Json;
  /** The same for a custom kind. */
  referenceCustom(kind: CustomKind): Json;
  /** Takes one definition nobody has taken yet, name and body. @returns undefined when all are taken */
  take(): [name: string, body: Json] | undefined;
}

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

export interface DefinitionOptions {
  readonly descriptions: Descriptions;
  /** Whether fields say which values they accept. */
  readonly enums: boolean;
  /** What the document is about; kinds that belong to every group and version name only this one and their own. Left out: they name all. */
  readonly groupVersion?: GroupVersion | undefined;
}

export function collectDefinitions(dialect: Dialect, options: DefinitionOptions): Definitions {
  const known = new Set<string>();
  const waiting: [name: string, makeBody: () => Json][] = [];
  const referTo = (name: string, makeBody: () => Json): Json => {
    if (!known.has(name)) {
      known.add(name);
      waiting.push([name, makeBody]);
    }
    return { $ref: dialect.references + name };
  };
  const writer: Writer = {
    ...options,
    dialect,
    refer: (name, type) => referTo(name, () => definitionBody(name, type, writer)),
  };
  const customWriter = definitionWriter(writer);
  return {
    reference: (type) => typeBody(type, writer),
    referenceCustom: (kind) => referTo(customDefinitionName(kind), () => customDefinition(kind, customWriter)),
    take() {
      const next = waiting.pop();
      return next && [next[0], next[1]()];
    },
  };
}

/** What definitions of custom kinds share with those of built-in ones. */
export interface DefinitionWriter {
  readonly dialect: Dialect;
  /** `apiVersion` and `kind`. */
  typeMeta(): Json;
  /** A field that holds metadata of this type. */
  metadata(type: Struct): Json;
}

function definitionWriter(writer: Writer): DefinitionWriter {
  return {
    dialect: writer.dialect,
    typeMeta() {
      const like = builtinSchema("io.k8s.api.core.v1.ConfigMap");
      const bodyOf = (name: string): Json => fieldBody(like, like.byName.get(name) as Field, writer);
      return { apiVersion: bodyOf("apiVersion"), kind: bodyOf("kind") };
    },
    metadata: (type) => withSiblings(typeBody(type, writer), { wrapped: true }, writer.dialect),
  };
}

interface Writer extends DefinitionOptions {
  readonly dialect: Dialect;
  refer(name: string, type: Type): Json;
}

function definitionBody(name: string, type: Type, writer: Writer): Json {
  const description = writer.descriptions.type(name);
  const head = description === undefined ? {} : { description };
  if (type.kind === "struct") return { ...head, ...structBody(type, writer) };
  return { ...head, ...specialBody(type, writer.dialect) };
}

function structBody(struct: Struct, writer: Writer): Json {
  const fields = [...struct.fields].sort((a, b) => (a.name < b.name ? -1 : 1));
  const kinds = groupVersionKinds(struct, writer.groupVersion);
  const required = struct.fields.filter((field) => field.required).map(({ name }) => name);
  return {
    type: "object",
    ...(required.length > 0 && { required }),
    ...(fields.length > 0 && {
      properties: Object.fromEntries(fields.map((field) => [field.name, fieldBody(struct, field, writer)])),
    }),
    ...(kinds && { "x-kubernetes-group-version-kind": kinds.map(gvkBody) }),
    ...(struct.atomic && { "x-kubernetes-map-type": "atomic" }),
    ...(struct.unions && { "x-kubernetes-unions": struct.unions }),
  };
}

function groupVersionKinds(struct: Struct, only: GroupVersion | undefined): Struct["groupVersionKinds"] {
  if (only === undefined || struct.everyGroupVersion !== true) return struct.groupVersionKinds;
  return struct.groupVersionKinds?.filter(
    ({ group, version }) => group === "" || (group === only.group && version === only.version),
  );
}

function gvkBody({ group, version, kind }: { group: string; version: string; kind: string }): Json {
  return { group, kind, version };
}

function fieldBody(struct: Struct, field: Field, writer: Writer): Json {
  // A field may merge otherwise than its type does; the definition is the type's all the same.
  const type =
    field.mapType === "granular" && field.type.kind === "struct" ? builtinSchema(field.type.definition) : field.type;
  const body = typeBody(type, writer);
  const described = !isUndescribed(struct, field);
  const siblings: Siblings = {
    description: described ? fieldDescription(struct, field, writer) : undefined,
    default: writer.dialect.version === "v3" ? fieldDefault(field) : undefined,
    extensions: fieldExtensions(field),
    wrapped: described,
  };
  return withSiblings(body, siblings, writer.dialect);
}

/**
 * What is known of the field. Of fields that refer to a type nothing is: what the type says of itself stands for it in v2, where nobody looks
 * further, and not in v3, where readers would see it twice.
 */
function fieldDescription(
  { definition }: Struct,
  { name, type }: Field,
  { descriptions, dialect }: Writer,
): string | undefined {
  const ofType = type.kind === "struct" && dialect.version === "v2" ? descriptions.type(type.definition) : undefined;
  return descriptions.field(definition, name) ?? ofType;
}

function isUndescribed({ definition }: Struct, { name }: Field): boolean {
  return Object.hasOwn(undescribed, definition) && undescribed[definition]?.includes(name) === true;
}

/** Fields that upstream's documents say nothing about; it shows in the form of their reference. */
const undescribed: Readonly<Record<string, readonly string[]>> = {
  "io.k8s.api.certificates.v1.CertificateSigningRequest": ["metadata"],
  "io.k8s.api.certificates.v1.CertificateSigningRequestList": ["metadata"],
  "io.k8s.api.networking.v1.IngressRule": ["http"],
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps": [
    "additionalItems",
    "additionalProperties",
    "example",
    "externalDocs",
    "items",
    "not",
  ],
};

function fieldExtensions({ type, mapType, listType, patchMergeKey, patchStrategy }: Field): Json {
  return {
    ...(type.kind === "list" && type.mapKeys.length > 0 && { "x-kubernetes-list-map-keys": type.mapKeys }),
    ...(type.kind === "list" && type.listTypeDeclared !== false && { "x-kubernetes-list-type": type.listType }),
    ...(listType !== undefined && { "x-kubernetes-list-type": listType }),
    ...(mapType !== undefined && { "x-kubernetes-map-type": mapType }),
    ...(patchMergeKey !== undefined && { "x-kubernetes-patch-merge-key": patchMergeKey }),
    ...(patchStrategy !== undefined && { "x-kubernetes-patch-strategy": patchStrategy.join(",") }),
  };
}

interface Siblings {
  readonly description?: string | undefined;
  readonly default?: unknown;
  readonly extensions?: Json;
  /** Something is said in upstream's document, even if not here. */
  readonly wrapped?: boolean;
}

/** Adds what else is to be said, each in its place; a reference that has siblings is wrapped in v3. */
function withSiblings(
  body: Json,
  { description, default: byDefault, extensions = {}, wrapped = false }: Siblings,
  { version }: Dialect,
): Json {
  const { type, format, ...rest } = body;
  const siblings =
    wrapped || description !== undefined || byDefault !== undefined || Object.keys(extensions).length > 0;
  return {
    ...(description !== undefined && { description }),
    ...(type !== undefined && { type }),
    ...(format !== undefined && { format }),
    ...(byDefault !== undefined && { default: byDefault }),
    ...("$ref" in rest && siblings && version === "v3" ? { allOf: [rest] } : rest),
    ...extensions,
  };
}

/** What v3 says a field holds when nothing is given: what was declared, or Go's zero value where that is what is written. */
function fieldDefault({ default: declared, type, pointer, omitEmpty }: Field): unknown {
  if (declared !== undefined) return declared;
  if (pointer) return undefined;
  return type.kind === "struct" || !omitEmpty ? elementDefault(type) : undefined;
}

/** What v3 says an element of a list or map, or a field that is always written, holds when nothing is given. */
function elementDefault(type: Type): unknown {
  return type.kind === "struct" ? {} : zeroValues[type.kind as ScalarKind];
}

const zeroValues: Readonly<Partial<Record<ScalarKind, unknown>>> = {
  string: "",
  int32: 0,
  int64: 0,
  bool: false,
  double: 0,
};

function typeBody(type: Type, writer: Writer): Json {
  switch (type.kind) {
    case "struct":
      return writer.refer(type.definition, type);
    case "list":
      return { type: "array", items: elementBody(type.items, writer) };
    case "map":
      return { type: "object", additionalProperties: elementBody(type.values, writer) };
    case "any":
      return type.definition === "" ? {} : writer.refer(type.definition, type);
    default:
      return scalarBody(type, writer);
  }
}

function elementBody(type: Type, writer: Writer): Json {
  return withSiblings(
    typeBody(type, writer),
    { default: writer.dialect.version === "v3" ? elementDefault(type) : undefined },
    writer.dialect,
  );
}

/** Scalars whose type has a definition of its own. */
const scalarDefinitions: Readonly<Partial<Record<ScalarKind, string>>> = {
  time: "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
  microtime: "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
  duration: "io.k8s.apimachinery.pkg.apis.meta.v1.Duration",
  quantity: "io.k8s.apimachinery.pkg.api.resource.Quantity",
  intOrString: "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
};

const scalarBodies: Readonly<Partial<Record<ScalarKind, Json>>> = {
  string: { type: "string" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  bool: { type: "boolean" },
  double: { type: "number", format: "double" },
  bytes: { type: "string", format: "byte" },
};

function scalarBody(type: Scalar, writer: Writer): Json {
  const definition = scalarDefinitions[type.kind];
  if (definition !== undefined) return writer.refer(definition, { kind: type.kind });
  const body = scalarBodies[type.kind] as Json;
  return type.enum !== undefined && writer.enums ? { ...body, enum: type.enum } : body;
}

/** Definitions that are no structs. */
function specialBody(type: Type, { version }: Dialect): Json {
  switch (type.kind) {
    case "time":
    case "microtime":
      return { type: "string", format: "date-time" };
    case "quantity":
      return version === "v2" ? { type: "string" } : { oneOf: [{ type: "string" }, { type: "number" }] };
    case "intOrString":
      return version === "v2"
        ? { type: "string", format: "int-or-string" }
        : { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] };
    case "any":
      return anyBody(type);
    default:
      return { type: "string" };
  }
}

function anyBody({ definition }: Any): Json {
  return definition.endsWith(".FieldsV1") || definition.endsWith(".RawExtension") ? { type: "object" } : {};
}
