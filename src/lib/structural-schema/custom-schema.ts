/**
 * The `Struct` of a custom resource, which makes decoding, encoding and merging work as for
 * built-in kinds. Nested types are created at first use, because definitions may be large and most
 * are never used by an apply.
 * Source: k8s.io/kube-openapi pkg/schemaconv; unstructuredSchemaCoercer in
 * k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/customresource_handler.go
 */
import { createHash } from "node:crypto";
import { encodeSorted } from "../json/encode-any.ts";
import { quoteGo } from "../json/quote.ts";
import { DecodeError } from "../schema/decode.ts";
import type { Any, CustomForm, Field, List, MapType, Struct, Type } from "../schema/schema.ts";
import { coerceMetadata, coerceObjectMeta, type InvalidFields } from "./coerce-metadata.ts";
import { prune, pruneAndReport } from "./prune.ts";
import { pruneNulls, setDefaults } from "./set-defaults.ts";
import { asResourceRoot, metaFields, parseStructuralSchema, type StructuralSchema } from "./structural-schema.ts";

/** A version of a custom resource's kind. */
export interface CustomKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** ObjectMeta's schema. */
  readonly objectMeta: Struct;
  /** `spec.preserveUnknownFields` of old definitions, which disables pruning. */
  readonly preserveUnknownFields: boolean;
}

/** Creates the types of a custom resource from its structural schema. */
export function customSchema(schema: StructuralSchema, kind: CustomKind): Struct {
  const { group, version } = kind;
  const root = asResourceRoot(schema);
  return new CustomStruct(root, {
    definition: [...group.split(".").reverse(), version, kind.kind].join("."),
    goType: `${version}.${kind.kind}`,
    objectMeta: kind.objectMeta,
    keepsUnknown: kind.preserveUnknownFields || schema.preserveUnknownFields,
    custom: customForm(schema, kind),
  });
}

function customForm(schema: StructuralSchema, kind: CustomKind): CustomForm {
  const root = asResourceRoot(schema);
  let fingerprint: string | undefined;
  return {
    conform(object) {
      const unknown = coerce(object, schema, { ...kind, invalid: "reject" });
      setDefaults(object, root);
      return unknown.map((path) => `unknown field ${quoteGo(path)}`);
    },
    complete(object) {
      if (Object.hasOwn(object, "metadata"))
        coerceObjectMeta(object, "metadata", { objectMeta: kind.objectMeta, invalid: "drop" });
      coerceMetadata(object, schema, "", { objectMeta: kind.objectMeta, invalid: "keep" });
      setDefaults(object, root);
    },
    restore(object) {
      coerce(object, schema, { ...kind, invalid: "drop" });
      setDefaults(object, root);
    },
    settle(object) {
      if (!kind.preserveUnknownFields) {
        prune(object, root);
        pruneNulls(object, root);
      }
      coerceMetadata(object, schema, "", { objectMeta: kind.objectMeta, invalid: "drop" });
      setDefaults(object, root);
    },
    get metadataOnly() {
      return customSchema(parseStructuralSchema({ type: "object" }), kind);
    },
    get fingerprint() {
      fingerprint ??= createHash("sha256")
        .update(encodeSorted(root.source))
        .update(String(kind.preserveUnknownFields))
        .digest("base64");
      return fingerprint;
    },
  };
}

/** Options of `coerce`. */
export interface CoerceOptions extends Pick<CustomKind, "objectMeta" | "preserveUnknownFields"> {
  readonly invalid: InvalidFields;
}

/**
 * Prunes an object and coerces its metadata, in place: decoding without defaults.
 * @returns the paths of the removed fields
 * @throws DecodeError for metadata that does not fit
 */
export function coerce(
  object: Record<string, unknown>,
  schema: StructuralSchema,
  { objectMeta, preserveUnknownFields, invalid }: CoerceOptions,
): readonly string[] {
  const root = asResourceRoot(schema);
  const unknown: string[] = [];
  const options = { objectMeta, invalid, noteUnknown: (path: string) => unknown.push(path) };
  const wrong = Object.hasOwn(object, "metadata") ? coerceObjectMeta(object, "metadata", options) : undefined;
  if (wrong !== undefined) throw new DecodeError(wrong.detail);
  if (!preserveUnknownFields) {
    unknown.push(...pruneAndReport(object, root));
    pruneNulls(object, root);
  }
  const embedded = coerceMetadata(object, schema, "", options);
  if (embedded !== undefined) throw new DecodeError(textOf(embedded));
  return unknown;
}

function textOf({ path, value, detail }: { path: string; value: unknown; detail: string }): string {
  return `${path}: Invalid value: ${typeof value === "string" ? quoteGo(value) : encodeSorted(value)}: ${detail}`;
}

interface StructOptions {
  readonly definition: string;
  readonly goType: string;
  readonly objectMeta: Struct;
  /** Whether unknown fields are kept here and below. */
  readonly keepsUnknown: boolean;
  readonly custom?: CustomForm;
}

class CustomStruct implements Struct {
  readonly kind = "struct";
  readonly definition: string;
  readonly goType: string;
  readonly atomic: boolean;
  readonly preserveUnknown: boolean;
  readonly custom?: CustomForm;
  readonly #schema: StructuralSchema;
  readonly #options: StructOptions;
  #fields: readonly Field[] | undefined;
  #byName: ReadonlyMap<string, Field> | undefined;

  constructor(schema: StructuralSchema, options: StructOptions) {
    this.definition = options.definition;
    this.goType = options.goType;
    this.atomic = schema.mapType === "atomic";
    this.preserveUnknown = options.keepsUnknown || schema.additionalProperties === true;
    if (options.custom !== undefined) this.custom = options.custom;
    this.#schema = schema;
    this.#options = options;
  }

  get fields(): readonly Field[] {
    this.#fields ??= [...this.#metaFields(), ...this.#ownFields()];
    return this.#fields;
  }

  get byName(): ReadonlyMap<string, Field> {
    this.#byName ??= new Map(this.fields.map((field) => [field.name, field]));
    return this.#byName;
  }

  #metaFields(): Field[] {
    if (!this.#schema.embeddedResource) return [];
    return [
      fieldOf("apiVersion", { kind: "string" }),
      fieldOf("kind", { kind: "string" }),
      fieldOf("metadata", this.#options.objectMeta),
    ];
  }

  #ownFields(): Field[] {
    const { embeddedResource, properties } = this.#schema;
    const named = [...properties].filter(([name]) => !(embeddedResource && metaFields.has(name)));
    return named.map(([name, property]) => fieldOf(name, typeOf(property, this.#options), property.default));
  }
}

/** A field without a zero value: it is either present or absent. */
function fieldOf(name: string, type: Type, value?: unknown): Field {
  return {
    name,
    type,
    pointer: true,
    omitEmpty: true,
    omitZero: false,
    required: false,
    ...(value !== undefined && { default: value }),
  };
}

/** A value that merges by its form: maps by key, all else as a whole. */
const deduced: Any = { kind: "any", definition: "" };
/** A value that merges as a whole, whatever its form. */
const leaf: Any = { kind: "any", definition: "untyped scalar" };

function typeOf(schema: StructuralSchema, outer: StructOptions): Type {
  const keepsUnknown = outer.keepsUnknown || schema.preserveUnknownFields;
  const options: StructOptions = { definition: "", goType: outer.goType, objectMeta: outer.objectMeta, keepsUnknown };
  switch (schema.type) {
    case "object":
      return objectType(schema, options);
    case "array":
      return new CustomList(schema, options);
    case "integer":
    case "number":
      return { kind: "double" };
    case "boolean":
      return { kind: "bool" };
    case "string":
      return ["", "byte"].includes(schema.source.format ?? "") ? { kind: "string" } : leaf;
    default:
      return schema.properties.size > 0 || typeof schema.additionalProperties === "object"
        ? objectType(schema, options)
        : deduced;
  }
}

function objectType(schema: StructuralSchema, options: StructOptions): Type {
  if (schema.properties.size > 0 || schema.embeddedResource || schema.additionalProperties === false)
    return new CustomStruct(schema, options);
  return new CustomMap(schema, options);
}

class CustomMap implements MapType {
  readonly kind = "map";
  readonly atomic: boolean;
  readonly #schema: StructuralSchema;
  readonly #options: StructOptions;
  #values: Type | undefined;

  constructor(schema: StructuralSchema, options: StructOptions) {
    this.atomic = schema.mapType === "atomic";
    this.#schema = schema;
    this.#options = options;
  }

  get values(): Type {
    const { additionalProperties } = this.#schema;
    this.#values ??= typeof additionalProperties === "object" ? typeOf(additionalProperties, this.#options) : deduced;
    return this.#values;
  }
}

class CustomList implements List {
  readonly kind = "list";
  readonly listType: "atomic" | "set" | "map";
  readonly mapKeys: readonly string[];
  readonly listTypeDeclared: boolean;
  readonly #schema: StructuralSchema;
  readonly #options: StructOptions;
  #items: Type | undefined;

  constructor(schema: StructuralSchema, options: StructOptions) {
    this.listType = schema.listType === "set" || schema.listType === "map" ? schema.listType : "atomic";
    this.mapKeys = schema.listMapKeys;
    this.listTypeDeclared = schema.listType !== undefined;
    this.#schema = schema;
    this.#options = options;
  }

  get items(): Type {
    const { items } = this.#schema;
    this.#items ??= items === undefined ? leaf : typeOf(items, this.#options);
    return this.#items;
  }
}
