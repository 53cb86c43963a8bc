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
  /** Any of these feature gates must be on for the field to be written, unless it was already set. */
  readonly gates?: readonly string[];
  /** Protobuf field number, and name where it differs from `name`; absent for what protobuf does not carry. */
  readonly protobuf?: { readonly number: number; readonly type: string; readonly name?: string };
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
}

/** Any JSON value: RawExtension, JSON, FieldsV1, schema-less parts of custom resources. */
export interface Any {
  readonly kind: "any";
  readonly definition: string;
}

export type Type = Scalar | Struct | MapType | List | Any;
