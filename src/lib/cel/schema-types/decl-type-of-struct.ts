/**
 * Declared types from the schemas of built-in kinds, as upstream takes them from their OpenAPI definitions.
 * Source: k8s.io/apiserver pkg/cel/common/schemas.go and pkg/cel/openapi/resolver
 */
import type { Any, Scalar, Struct, Type } from "../../schema/schema.ts";
import {
  boolDecl,
  bytesDecl,
  type DeclType,
  doubleDecl,
  dynDecl,
  intDecl,
  listDecl,
  mapDecl,
  type ObjectDecl,
  objectDeclOf,
  stringDecl,
  timestampDecl,
} from "./decl-type.ts";
import { escapeName } from "./escape.ts";

/**
 * Sizes are not known: nothing that is checked against built-in kinds is held to an estimate.
 * @param struct of a kind: type and metadata, as every resource has them, are added where they are missing
 */
export function declTypeOfStruct(struct: Struct): ObjectDecl {
  const decl = objectOf(struct, new Set([struct.definition]));
  const metadata = decl.fields.get("metadata");
  const isComplete = metadata?.kind === "object" && metadata.fields.has("name") && metadata.fields.has("generateName");
  const simple = objectDeclOf(new Map([["name", stringDecl] as const, ["generateName", stringDecl] as const]));
  return objectDeclOf(
    new Map([
      ...decl.fields,
      ["apiVersion", stringDecl],
      ["kind", stringDecl],
      ...(isComplete ? [] : [["metadata", simple] as const]),
    ]),
  );
}

/** @param around definitions that this stands in: within itself, a definition is an object of which nothing is known */
function objectOf(struct: Struct, around: ReadonlySet<string>): ObjectDecl {
  const fields = new Map<string, DeclType>();
  for (const { name, type } of struct.fields) {
    const decl = declOf(type, around);
    const written = escapeName(name);
    if (decl !== undefined && written !== undefined) fields.set(written, decl);
  }
  return objectDeclOf(fields);
}

/** @returns undefined when expressions cannot see it */
function declOf(type: Type, around: ReadonlySet<string>): DeclType | undefined {
  switch (type.kind) {
    case "struct":
      return around.has(type.definition)
        ? objectDeclOf(new Map())
        : objectOf(type, new Set([...around, type.definition]));
    case "list": {
      const items = declOf(type.items, around);
      return items && listDecl(items);
    }
    case "map": {
      const values = declOf(type.values, around);
      return values && mapDecl(values);
    }
    case "any":
      return anyOf(type);
    default:
      return scalars.get(type.kind);
  }
}

/** Quantities are texts or numbers in OpenAPI, and so cannot be seen. */
const scalars: ReadonlyMap<Scalar["kind"], DeclType> = new Map([
  ["string", stringDecl],
  ["duration", stringDecl],
  ["bool", boolDecl],
  ["int32", intDecl],
  ["int64", intDecl],
  ["double", doubleDecl],
  ["bytes", bytesDecl],
  ["time", timestampDecl],
  ["microtime", timestampDecl],
  ["intOrString", dynDecl],
]);

/** Definitions that are objects of anything; the others have no type. */
function anyOf({ definition }: Any): DeclType | undefined {
  return /\.(?:RawExtension|FieldsV1)$/.test(definition) ? objectDeclOf(new Map()) : undefined;
}
