/**
 * Declared types: types and maximum sizes of data with a schema, for the checker and for cost
 * estimates. Source: k8s.io/apiserver@v0.36.0/pkg/cel/types.go
 */
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  stringType,
  timestampType,
} from "../types.ts";

/** What all declared types have. */
export interface Sized {
  /** The maximum number of elements, entries, code points or bytes; -1 if unknown. */
  readonly maxElements: number;
  /** Bytes of the shortest valid JSON. */
  readonly minSerializedSize: number;
}

/** A scalar type. */
export interface ScalarDecl extends Sized {
  readonly kind: "scalar";
  readonly type: CelType;
}

/** A list type. */
export interface ListDecl extends Sized {
  readonly kind: "list";
  readonly element: DeclType;
}

/** A map type. */
export interface MapDecl extends Sized {
  readonly kind: "map";
  readonly key: DeclType;
  readonly element: DeclType;
}

/** An object type. */
export interface ObjectDecl extends Sized {
  readonly kind: "object";
  /** If undefined, the type is named after its position. */
  readonly name: string | undefined;
  /** By escaped name. */
  readonly fields: ReadonlyMap<string, DeclType>;
}

/** A declared type. */
export type DeclType = ScalarDecl | ListDecl | MapDecl | ObjectDecl;

/** Declares a scalar. */
export function scalarDecl(type: CelType, minSerializedSize: number, maxElements = 0): ScalarDecl {
  return { kind: "scalar", type, minSerializedSize, maxElements };
}

/** Declares a list. */
export function listDecl(element: DeclType, maxElements = -1): ListDecl {
  return { kind: "list", element, maxElements, minSerializedSize: 2 };
}

/** Declares a map. */
export function mapDecl(element: DeclType, maxElements = -1, key: DeclType = stringDecl): MapDecl {
  return { kind: "map", key, element, maxElements, minSerializedSize: 2 };
}

/** Declares an object type with a name. */
export function objectDecl(name: string, fields: Readonly<Record<string, DeclType>>): ObjectDecl {
  return { kind: "object", name, fields: new Map(Object.entries(fields)), maxElements: 0, minSerializedSize: 2 };
}

/** Declares an object type that is named after its position. */
export function objectDeclOf(fields: ReadonlyMap<string, DeclType>, minSerializedSize = 2): ObjectDecl {
  return { kind: "object", name: undefined, fields, maxElements: 0, minSerializedSize };
}

/** A boolean. */
export const boolDecl = scalarDecl(boolType, 4);
/** An integer. */
export const intDecl = scalarDecl(intType, 1);
/** A number. */
export const doubleDecl = scalarDecl(doubleType, 1);
/** A string. Its maximum size is 0; `scalarDecl` declares strings with another one. */
export const stringDecl = scalarDecl(stringType, 2);
/** Bytes. Their maximum size is 0; `scalarDecl` declares bytes with another one. */
export const bytesDecl = scalarDecl(bytesType, 2);
/** A point in time. */
export const timestampDecl = scalarDecl(timestampType, 12);
/** A span of time. */
export const durationDecl = scalarDecl(durationType, 3);
/** Any value. */
export const dynDecl = scalarDecl(dynType, 1);
