/**
 * The parts of a schema that decide how values are merged and owned. The schemas of the server have
 * more fields, so they fit here.
 * Source: https://github.com/kubernetes-sigs/structured-merge-diff.
 */
import type { ScalarKind } from "../schema/schema.ts";

export type { ScalarKind } from "../schema/schema.ts";

/** A scalar type. */
export interface Scalar {
  readonly kind: ScalarKind;
}

/** A field of a struct. */
export interface Field {
  /** The JSON name. */
  readonly name: string;
  readonly type: Type;
  /** A Go pointer: null means absent, and a zero value is kept. */
  readonly pointer: boolean;
  /** Go's `omitempty`: left out of JSON when empty. Structs are never empty. */
  readonly omitEmpty: boolean;
  /** Go's `omitzero`: left out of JSON when it is the zero value, also for a struct or a time. */
  readonly omitZero: boolean;
  /** The declared default, as plain JSON. */
  readonly default?: unknown;
}

/** An object with declared fields. */
export interface Struct {
  readonly kind: "struct";
  readonly fields: readonly Field[];
  /** The same fields by name. */
  readonly byName: ReadonlyMap<string, Field>;
  /** Whether the object is owned and replaced as a whole. */
  readonly atomic: boolean;
  /** Whether undeclared fields are valid. */
  readonly preserveUnknown: boolean;
  /** Set for the root of a custom resource: Go serializes no zero values of absent fields. */
  readonly custom?: object;
}

/** An object with arbitrary keys. */
export interface MapType {
  readonly kind: "map";
  readonly values: Type;
  /** Whether the object is owned and replaced as a whole. */
  readonly atomic: boolean;
}

/** A list. */
export interface List {
  readonly kind: "list";
  readonly items: Type;
  /** `atomic` lists are owned and replaced as a whole. Items of a `map` are identified by `mapKeys`. */
  readonly listType: "atomic" | "set" | "map";
  /** The fields that identify an item of a `map` list; empty for others. */
  readonly mapKeys: readonly string[];
}

/** Any JSON value. */
export interface Any {
  readonly kind: "any";
  /** Empty: maps are merged by key, and other values as a whole. A name: all values as a whole. */
  readonly definition: string;
}

/** Any type. */
export type Type = Scalar | Struct | MapType | List | Any;
