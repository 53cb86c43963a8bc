/**
 * The tree of types that decoding, field validation, encoding, defaulting, merging, the other
 * codecs and OpenAPI use. Schemas of built-in kinds come from generated tables, those of custom
 * resources from CustomResourceDefinitions.
 */

/** The kinds of scalar values. */
export type ScalarKind =
  | "string"
  | "int32"
  | "int64" // A number while safe, a bigint beyond.
  | "bool"
  | "double"
  | "bytes" // Base64 text in JSON and in plain objects.
  | "time" // RFC 3339, UTC, whole seconds.
  | "microtime" // RFC 3339, UTC, six fraction digits.
  | "duration" // Go duration text.
  | "quantity" // Canonical quantity text.
  | "intOrString";

/** A scalar type. */
export interface Scalar {
  readonly kind: ScalarKind;
  /** The values of an enumeration. OpenAPI and validation use it, the decoder does not. */
  readonly enum?: readonly string[];
}

/** A field of a struct. */
export interface Field {
  readonly name: string;
  readonly type: Type;
  /** A Go pointer: null means absent, and a zero value is kept. */
  readonly pointer: boolean;
  /** Go's `omitempty`: left out of JSON when empty. Structs are never empty. */
  readonly omitEmpty: boolean;
  /** Go's `omitzero`: left out of JSON when it is the zero value, also for a struct or a time. */
  readonly omitZero: boolean;
  readonly required: boolean;
  /** The declared default, as plain JSON. */
  readonly default?: unknown;
  readonly patchStrategy?: readonly ("merge" | "replace" | "retainKeys")[];
  readonly patchMergeKey?: string;
  /**
   * Set when the field merges differently than its type declares. `type` includes this; OpenAPI
   * repeats it.
   */
  readonly mapType?: "atomic" | "granular";
  /** Set for bytes, which are a list in Go; only OpenAPI uses it. */
  readonly listType?: "atomic";
  /**
   * Any of these feature gates must be on for the field to be written, unless it was already set.
   */
  readonly gates?: readonly string[];
  /** When its gates drop the field, a struct that contains nothing else is dropped too. */
  readonly dropsHolder?: boolean;
  /**
   * Protobuf field number, and name where it differs from `name`; absent when protobuf lacks the
   * field.
   */
  readonly protobuf?: { readonly number: number; readonly type: string; readonly name?: string };
  /**
   * The embedded Go struct that has this field: part of the outer object in JSON, a nested message
   * in protobuf.
   */
  readonly embedded?: Embedding;
  /**
   * Names of the Go type, then of its elements, as decoding errors print them; absent when they
   * follow from `type`.
   */
  readonly goTypes?: readonly string[];
  /** Declarative validation: markers of the field and of its named type, verbatim. */
  readonly markers?: readonly string[];
  readonly typeMarkers?: readonly string[];
  /** The union of which exactly one member must be set. */
  readonly oneOf?: string;
  /** The union of which at most one member may be set. */
  readonly zeroOrOneOf?: string;
  readonly unionDiscriminator?: boolean;
}

/** A Go struct that is embedded in another one. */
export interface Embedding {
  /** Go's field name, which is the name of its type. */
  readonly name: string;
  readonly definition: string;
  /** Absent when protobuf lacks it (TypeMeta). */
  readonly protobuf?: { readonly number: number; readonly type: string; readonly name?: string };
  /** The embedding that contains this one, for structs embedded in embedded structs. */
  readonly outer?: Embedding;
}

/** An object with declared fields. */
export interface Struct {
  readonly kind: "struct";
  /** OpenAPI definition name, such as `io.k8s.api.core.v1.Pod`. */
  readonly definition: string;
  /** Go type name with its package, such as `v1.Pod`, as decoding errors print it. */
  readonly goType: string;
  /** In wire order. `apiVersion`/`kind` of top-level kinds are fields here too, `kind` first. */
  readonly fields: readonly Field[];
  readonly byName: ReadonlyMap<string, Field>;
  readonly atomic: boolean;
  /** Keeps unknown fields (custom resources only). */
  readonly preserveUnknown: boolean;
  /**
   * Set for the root of a custom resource: `fields` describe merging, this decodes and defaults
   * objects.
   */
  readonly custom?: CustomForm;
  /** Whether the struct is a definition of OpenAPI; unset for custom resources. */
  readonly openApi?: boolean;
  /** Full name of the protobuf message; absent where there is none. */
  readonly protobufName?: string;
  readonly groupVersionKinds?: readonly { readonly group: string; readonly version: string; readonly kind: string }[];
  /** Registered in every group and version, like the options of requests. */
  readonly everyGroupVersion?: boolean;
  readonly markers?: readonly string[];
  /** `x-kubernetes-unions`, as OpenAPI writes it. */
  readonly unions?: readonly unknown[];
}

/**
 * How objects of a custom resource are decoded. Types are not checked here: validation checks them
 * later, with better messages. Such objects are encoded with all keys sorted.
 */
export interface CustomForm {
  /**
   * Decodes an object of a client, in place: decodes metadata as ObjectMeta, removes unknown fields
   * and sets defaults.
   * @returns strict errors such as `unknown field "spec.nope"`
   * @throws DecodeError for metadata that does not fit
   */
  conform(object: Record<string, unknown>): readonly string[];
  /**
   * Decodes an object that the server composed, in place. Metadata that does not fit is removed from
   * the object; in embedded resources, validation reports it. Nothing is pruned, so that validation
   * reports a null that is not allowed.
   */
  complete(object: Record<string, unknown>): void;
  /**
   * Decodes a stored object, in place. Values that do not fit the current schema are removed.
   * @throws DecodeError for top-level metadata that does not fit
   */
  restore(object: Record<string, unknown>): void;
  /**
   * Prunes and sets defaults again, in place, before storing, because admission may have changed
   * the object.
   */
  settle(object: Record<string, unknown>): void;
  /** The types of an object of the kind at a version without a schema: only metadata. */
  readonly metadataOnly: Struct;
  /** Differs between schemas for which `conform` may return different objects. */
  readonly fingerprint: string;
}

/** An object with arbitrary keys. */
export interface MapType {
  readonly kind: "map";
  readonly values: Type;
  readonly atomic: boolean;
}

/** A list. */
export interface List {
  readonly kind: "list";
  readonly items: Type;
  readonly listType: "atomic" | "set" | "map";
  readonly mapKeys: readonly string[];
  /** Whether `listType` was declared; otherwise it is the default. */
  readonly listTypeDeclared?: boolean;
}

/** Any JSON value: RawExtension, JSON, FieldsV1, schema-less parts of custom resources. */
export interface Any {
  readonly kind: "any";
  readonly definition: string;
  /**
   * The typed forms of the value, such as a schema or a list of schemas; other forms are kept or
   * rejected.
   */
  readonly forms?: readonly Type[];
}

/** Any type. */
export type Type = Scalar | Struct | MapType | List | Any;
