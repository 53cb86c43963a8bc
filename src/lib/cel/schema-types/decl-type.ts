/**
 * Declared types: what the checker needs to know of data that a schema describes, and how large it may get, which estimates of costs
 * are made from. Source: k8s.io/apiserver pkg/cel/types.go
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

interface Sized {
  /** The most elements, entries, code points or bytes it may have; -1 when nobody knows. */
  readonly maxElements: number;
  /** Bytes of the shortest JSON that is one. */
  readonly minSerializedSize: number;
}

export interface ScalarDecl extends Sized {
  readonly kind: "scalar";
  readonly type: CelType;
}

export interface ListDecl extends Sized {
  readonly kind: "list";
  readonly element: DeclType;
}

export interface MapDecl extends Sized {
  readonly kind: "map";
  readonly key: DeclType;
  readonly element: DeclType;
}

export interface ObjectDecl extends Sized {
  readonly kind: "object";
  /** Undefined: it is called after the place where it stands. */
  readonly name: string | undefined;
  /** By name as expressions write it (escaped). */
  readonly fields: ReadonlyMap<string, DeclType>;
}

export type DeclType = ScalarDecl | ListDecl | MapDecl | ObjectDecl;

export function scalarDecl(type: CelType, minSerializedSize: number, maxElements = 0): ScalarDecl {
  return { kind: "scalar", type, minSerializedSize, maxElements };
}

export function listDecl(element: DeclType, maxElements = -1): ListDecl {
  return { kind: "list", element, maxElements, minSerializedSize: 2 };
}

export function mapDecl(element: DeclType, maxElements = -1, key: DeclType = stringDecl): MapDecl {
  return { kind: "map", key, element, maxElements, minSerializedSize: 2 };
}

/** With a name of its own. */
export function objectDecl(name: string, fields: Readonly<Record<string, DeclType>>): ObjectDecl {
  return { kind: "object", name, fields: new Map(Object.entries(fields)), maxElements: 0, minSerializedSize: 2 };
}

/** Called after the place where it stands. */
export function objectDeclOf(fields: ReadonlyMap<string, DeclType>, minSerializedSize = 2): ObjectDecl {
  return { kind: "object", name: undefined, fields, maxElements: 0, minSerializedSize };
}

export const boolDecl = scalarDecl(boolType, 4);
export const intDecl = scalarDecl(intType, 1);
export const doubleDecl = scalarDecl(doubleType, 1);
export const stringDecl = scalarDecl(stringType, 2);
export const bytesDecl = scalarDecl(bytesType, 2);
export const timestampDecl = scalarDecl(timestampType, 12);
export const durationDecl = scalarDecl(durationType, 3);
export const dynDecl = scalarDecl(dynType, 1);
