/**
 * Converts schemas to OpenAPI definitions, in upstream's order of fields. Source:
 * `k8s.io/kube-openapi@v0.0.0-20260317180543-43fb72c5454a/pkg/builder` and `pkg/builder3`.
 */

import { builtinSchema } from "../catalog/builtin-schemas.ts";
import type { Json } from "../lib/json/values.ts";
import type { Any, Field, Scalar, ScalarKind, Struct, Type } from "../lib/schema/schema.ts";
import { customDefinition, customDefinitionName, type DefinitionWriter } from "./custom-definitions.ts";
import type { Descriptions } from "./descriptions.ts";
import type { Dialect } from "./dialect.ts";
import type { CustomKind } from "./path-item.ts";

/** Collects the definitions that a document references, including indirect references. */
export interface Definitions {
  /** A reference to a type, such as `{"$ref": "#/definitions/…"}`. */
  reference(type: Type): Json;
  /** A reference to a custom kind. */
  referenceCustom(kind: CustomKind): Json;
  /** Removes and returns one collected definition. @returns undefined if none is left */
  take(): [name: string, body: Json] | undefined;
}

/** A group and a version. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

interface DefinitionOptions {
  readonly descriptions: Descriptions;
  /** Whether fields list their allowed values. */
  readonly enums: boolean;
  /**
   * Whether a kind of every group and version is listed with this one; undefined if with all of them.
   */
  readonly lists?: ((groupVersion: GroupVersion) => boolean) | undefined;
}

/** Starts with an empty collection. */
export function collectDefinitions(dialect: Dialect, options: DefinitionOptions): Definitions {
  const names = new Set<string>();
  const waiting: [name: string, makeBody: () => Json][] = [];
  const referTo = (name: string, makeBody: () => Json): Json => {
    if (!names.has(name)) {
      names.add(name);
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

function definitionWriter(writer: Writer): DefinitionWriter {
  return {
    dialect: writer.dialect,
    typeMeta() {
      const like = builtinSchema("io.k8s.api.core.v1.ConfigMap");
      const bodyOf = (name: string): Json => fieldBody(like, like.byName.get(name) as Field, writer);
      return { apiVersion: bodyOf("apiVersion"), kind: bodyOf("kind") };
    },
    metadata: (type) =>
      withSiblings(
        typeBody(type, writer),
        { description: metadataDescription(type, writer), isWrapped: true },
        writer.dialect,
      ),
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
  const kinds = groupVersionKinds(struct, writer.lists);
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

function groupVersionKinds(struct: Struct, lists: DefinitionOptions["lists"]): Struct["groupVersionKinds"] {
  return lists === undefined || struct.everyGroupVersion !== true
    ? struct.groupVersionKinds
    : struct.groupVersionKinds?.filter(lists);
}

function gvkBody({ group, version, kind }: { group: string; version: string; kind: string }): Json {
  return { group, kind, version };
}

function fieldBody(struct: Struct, field: Field, writer: Writer): Json {
  // A field may merge differently than its type; its definition is still that of the type.
  const type =
    field.mapType === "granular" && field.type.kind === "struct" ? builtinSchema(field.type.definition) : field.type;
  const body = typeBody(type, writer);
  const isDescribed = !isUndescribed(struct, field);
  const siblings: Siblings = {
    description: isDescribed ? fieldDescription(struct, field, writer) : undefined,
    default: writer.dialect.version === "v3" ? fieldDefault(field) : undefined,
    extensions: fieldExtensions(field),
    isWrapped: isDescribed,
  };
  return withSiblings(body, siblings, writer.dialect);
}

/**
 * The description of a field. Some alpha and beta types have none for fields that reference a type.
 * v2 documents use the description of the type for them, because clients do not resolve the
 * reference; v3 documents do not, because clients would show it twice.
 */
function fieldDescription({ definition }: Struct, { name, type }: Field, writer: Writer): string | undefined {
  const { descriptions, dialect } = writer;
  const own = descriptions.field(definition, name);
  if (own !== undefined) return writer.enums ? own : own.split(enumValues)[0];
  if (type.kind !== "struct") return undefined;
  return (
    metadataDescription(type, writer) ?? (dialect.version === "v2" ? descriptions.type(type.definition) : undefined)
  );
}

/** Before the values of an enum in the description of its field. */
const enumValues = "\n\nPossible enum values:\n";

/** Kinds with the usual description of metadata, by the type of their metadata. */
const usualMetadata: Readonly<Record<string, string>> = {
  "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": "io.k8s.api.core.v1.ConfigMap",
  "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta": "io.k8s.apimachinery.pkg.apis.meta.v1.Status",
};

function metadataDescription({ definition }: Struct, { descriptions }: Writer): string | undefined {
  const kind = usualMetadata[definition];
  return kind === undefined ? undefined : descriptions.field(kind, "metadata");
}

function isUndescribed({ definition }: Struct, { name }: Field): boolean {
  return Object.hasOwn(undescribed, definition) && undescribed[definition]?.includes(name) === true;
}

/** Fields without a description in upstream's documents, so that their reference is not wrapped. */
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
  /** Upstream's document has a description, even if this one does not. */
  readonly isWrapped?: boolean;
}

/** Adds siblings in upstream's order; v3 wraps a reference that has siblings. */
function withSiblings(
  body: Json,
  { description, default: byDefault, extensions = {}, isWrapped = false }: Siblings,
  { version }: Dialect,
): Json {
  const { type, format, ...rest } = body;
  const siblings =
    isWrapped || description !== undefined || byDefault !== undefined || Object.keys(extensions).length > 0;
  return {
    ...(description !== undefined && { description }),
    ...(type !== undefined && { type }),
    ...(format !== undefined && { format }),
    ...(byDefault !== undefined && { default: byDefault }),
    ...("$ref" in rest && siblings && version === "v3" ? { allOf: [rest] } : rest),
    ...extensions,
  };
}

/** The default of a field in v3: the declared one, or Go's zero value if that is always encoded. */
function fieldDefault({ default: declared, type, pointer, omitEmpty }: Field): unknown {
  if (declared !== undefined) return declared;
  if (pointer) return undefined;
  return type.kind === "struct" || !omitEmpty ? elementDefault(type) : undefined;
}

/** The default of a list or map element, or of a field that is always encoded, in v3. */
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

/** Scalars with their own definition. */
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

/** The definition of a type that is not a struct. */
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
