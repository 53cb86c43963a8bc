/**
 * The one tree of types that drives decoding, field validation, encoding, defaulting, merges, other codecs and OpenAPI.
 * Built-in schemas come from our tables; those of custom resources from OpenAPI. Nothing here knows a server.
 */

export type ScalarKind =
  | "string"
  | "int32"
  | "int64" // A number while safe, a bigint beyond.
  | "bool"
  | "double"
  | "bytes" // Base64 text in JSON and in our plain objects.
  | "time" // RFC 3339, UTC, whole seconds.
  | "microtime" // RFC 3339, UTC, six fraction digits.
  | "duration" // Go duration text.
  | "quantity" // Canonical quantity text.
  | "intOrString";

export interface Scalar {
  readonly kind: ScalarKind;
  /** Accepted values, where the table declares an enumeration; OpenAPI and validation use it, decoding does not. */
  readonly enum?: readonly string[];
}

export interface Field {
  readonly name: string;
  readonly type: Type;
  /** Go pointer: `null` and absence are the same, zero is kept. */
  readonly pointer: boolean;
  /** Left out of JSON when it holds Go's empty value. Structs are never empty. */
  readonly omitEmpty: boolean;
  /** Left out when it is the zero value, also for a struct or a time. */
  readonly omitZero: boolean;
  readonly required: boolean;
  /** The declared default, as plain JSON. */
  readonly default?: unknown;
  readonly patchStrategy?: readonly ("merge" | "replace" | "retainKeys")[];
  readonly patchMergeKey?: string;
  /** The field holds a struct or map that merges otherwise than its type says; `type` already tells, OpenAPI repeats it. */
  readonly mapType?: "atomic" | "granular";
  /** Said of bytes, which Go has as a list; only OpenAPI repeats it. */
  readonly listType?: "atomic";
  /** Any of these feature gates must be on for the field to be written, unless it was already set. */
  readonly gates?: readonly string[];
  /** Dropped by its gates, it takes the struct along that holds nothing else. */
  readonly dropsHolder?: boolean;
  /** Protobuf field number, and name where it differs from `name`; absent for what protobuf does not carry. */
  readonly protobuf?: { readonly number: number; readonly type: string; readonly name?: string };
  /** Go struct this field is embedded by: part of the outer object in JSON, a message of its own in protobuf. */
  readonly embedded?: Embedding;
  /** Names of the Go type, then of what its list or map holds, as decoding errors print them; where they follow from `type` they are left out. */
  readonly goTypes?: readonly string[];
  /** Declarative validation: markers of the field and of its named type, verbatim. */
  readonly markers?: readonly string[];
  readonly typeMarkers?: readonly string[];
  /** Names the union of which exactly one, or at most one, member may be set. */
  readonly oneOf?: string;
  readonly zeroOrOneOf?: string;
  readonly unionDiscriminator?: boolean;
}

export interface Embedding {
  /** Go's field name, which is its type's. */
  readonly name: string;
  readonly definition: string;
  /** Absent where protobuf does not carry it (TypeMeta). */
  readonly protobuf?: { readonly number: number; readonly type: string; readonly name?: string };
  /** The embedding around this one, for structs embedded by embedded structs. */
  readonly outer?: Embedding;
}

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
  /** Keeps what it does not know (custom resources only). */
  readonly preserveUnknown: boolean;
  /** Of the root of a custom resource: its fields say how objects merge, and this what is done with them when they are decoded. */
  readonly custom?: CustomForm;
  /** A definition of OpenAPI; unset for custom resources. */
  readonly openApi?: boolean;
  /** Full name of the protobuf message; absent where there is none. */
  readonly protobufName?: string;
  readonly groupVersionKinds?: readonly { readonly group: string; readonly version: string; readonly kind: string }[];
  /** Registered in every group and version (options of requests). */
  readonly everyGroupVersion?: boolean;
  readonly markers?: readonly string[];
  /** `x-kubernetes-unions`, as OpenAPI writes it. */
  readonly unions?: readonly unknown[];
}

/** Objects whose types are looked at by validation, which comes later and tells more than decoding could. They are written with all keys sorted. */
export interface CustomForm {
  /**
   * Brings an object into form, in place: metadata as ObjectMeta has it, without unknown fields, with defaults.
   * @returns strict errors such as `unknown field "spec.nope"` @throws DecodeError for metadata that does not fit
   */
  conform(object: Record<string, unknown>): readonly string[];
  /**
   * The same, in place, of an object that was put together here: nothing is pruned, so that a null where none may be is left to validation.
   * @throws DecodeError for metadata that does not fit
   */
  complete(object: Record<string, unknown>): void;
  /** The same, in place, of an object that was stored, by another schema perhaps: what does not fit goes. @throws DecodeError for metadata of its own */
  restore(object: Record<string, unknown>): void;
  /** Prunes and sets defaults once more, in place, in what is about to be stored: others than the client have changed it since. */
  settle(object: Record<string, unknown>): void;
  /** The types of an object of the kind at a version that no schema is known for: metadata, and nothing else. */
  readonly metadataOnly: Struct;
  /** Another one where `conform` may make something else of the same object. */
  readonly fingerprint: string;
}

export interface MapType {
  readonly kind: "map";
  readonly values: Type;
  readonly atomic: boolean;
}

export interface List {
  readonly kind: "list";
  readonly items: Type;
  readonly listType: "atomic" | "set" | "map";
  readonly mapKeys: readonly string[];
  /** Whether `listType` was said, or is only what holds when nothing is said. */
  readonly listTypeDeclared?: boolean;
}

/** Any JSON value: RawExtension, JSON, FieldsV1, schema-less parts of custom resources. */
export interface Any {
  readonly kind: "any";
  readonly definition: string;
  /** The forms that are typed nevertheless (a schema, or a list of schemas, where JSON schema allows several things); all else is kept or refused. */
  readonly forms?: readonly Type[];
}

export type Type = Scalar | Struct | MapType | List | Any;
