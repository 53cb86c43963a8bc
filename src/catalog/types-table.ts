/** The shape of src/data/types.json: every type of the built-in API, by OpenAPI definition name. */
import { readTable } from "../data/data-file.ts";

/**
 * Name, type, flags, protobuf number (0 for none), the rest.
 * Type: `string` `int32` `int64` `bool` `double` `bytes` `any` or a definition's name, after `[]` for a list of it, `{}` for a map to it.
 * Flags: i embedded struct, p pointer, e omitempty, z omitzero, r required, d union discriminator, a atomic list, s set list, m atomic map,
 * g granular map or struct.
 */
export type FieldRow = readonly [name: string, type: string, flags: string, protobuf: number, extras?: FieldExtras];

export interface FieldExtras {
  /** The list is a map with these keys. */
  readonly keys?: readonly string[];
  /** `merge`, `replace`, `retainKeys`, joined by commas. */
  readonly patch?: string;
  readonly mergeKey?: string;
  readonly default?: unknown;
  /** What the field accepts, or what a list or a map in it holds. */
  readonly enum?: readonly string[];
  readonly gates?: readonly string[];
  readonly dropsHolder?: true;
  /** Declarative validation of the field, and of its named type. */
  readonly markers?: readonly string[];
  readonly typeMarkers?: readonly string[];
  readonly oneOf?: string;
  readonly zeroOrOneOf?: string;
  /** Go names of the field's type and, for lists and maps, of what they hold; given where the general rule does not tell. */
  readonly go?: readonly string[];
  readonly protobufName?: string;
  readonly protobufType?: string;
}

export interface TypeRow {
  readonly gvk?: readonly (readonly [group: string, version: string, kind: string])[];
  /** Registered in each group and version (options of requests). */
  readonly everyGroupVersion?: true;
  /** Has no protobuf message. */
  readonly protobuf?: false;
  /** Is no definition of OpenAPI. */
  readonly openApi?: false;
  readonly atomic?: true;
  readonly markers?: readonly string[];
  readonly unions?: readonly unknown[];
  /** A type with JSON of its own, such as `Quantity`. */
  readonly special?: string;
  readonly fields?: readonly FieldRow[];
}

/** Reads the table; some milliseconds. */
export function readTypesTable(): Readonly<Record<string, TypeRow>> {
  return readTable("types.json");
}
