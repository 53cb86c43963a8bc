/** The types of src/apimachinery/data/types.json: every type of the built-in API, by OpenAPI definition name. */
import { readTable } from "../apimachinery/data/data-file.ts";

/**
 * One field of a struct.
 *
 * - `type`: `string`, `int32`, `int64`, `bool`, `double`, `bytes`, `any` or the name of a
 *   definition; the prefix `[]` makes it a list, `{}` a map with string keys.
 * - `flags`: i embedded struct, p pointer, e omitempty, z omitzero, r required, d union
 *   discriminator, a atomic list, s set list, m atomic map, g granular map or struct.
 * - `protobuf`: the field number, 0 for none.
 */
export type FieldRow = readonly [name: string, type: string, flags: string, protobuf: number, extras?: FieldExtras];

/** Rare properties of a field. */
export interface FieldExtras {
  /** The list is a map with these keys. */
  readonly keys?: readonly string[];
  /** Comma-separated patch strategies: `merge`, `replace`, `retainKeys`. */
  readonly patch?: string;
  readonly mergeKey?: string;
  readonly default?: unknown;
  /** Allowed values of the field, or of the items of a list or map. */
  readonly enum?: readonly string[];
  readonly gates?: readonly string[];
  readonly dropsHolder?: true;
  /** Markers of declarative validation on the field; `typeMarkers` are those of its named type. */
  readonly markers?: readonly string[];
  readonly typeMarkers?: readonly string[];
  readonly oneOf?: string;
  readonly zeroOrOneOf?: string;
  /** Go names of the field's type and of its items; set if they cannot be derived. */
  readonly go?: readonly string[];
  readonly protobufName?: string;
  readonly protobufType?: string;
}

/** One type. */
export interface TypeRow {
  readonly gvk?: readonly (readonly [group: string, version: string, kind: string])[];
  /** Registered in every group and version (options of requests). */
  readonly everyGroupVersion?: true;
  /** False if the type has no protobuf message. */
  readonly protobuf?: false;
  /** False if OpenAPI has no definition of the type. */
  readonly openApi?: false;
  readonly atomic?: true;
  readonly markers?: readonly string[];
  readonly unions?: readonly unknown[];
  /** A type with its own JSON encoding, such as `Quantity`. */
  readonly special?: string;
  readonly fields?: readonly FieldRow[];
}

/** Reads the table, which takes a few milliseconds the first time. */
export function readTypesTable(): Readonly<Record<string, TypeRow>> {
  return readTable("types.json");
}
