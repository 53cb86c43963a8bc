/**
 * Declared types of built-in kinds. kube-apiserver derives them from the OpenAPI definitions.
 * Source: k8s.io/apiserver@v0.36.0/pkg/cel/common/schemas.go and pkg/cel/openapi/resolver
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
 * Returns the declared type of a kind, and adds `apiVersion`, `kind` and `metadata` if they are
 * missing. Sizes are unknown, because no cost estimate is made for built-in kinds.
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

/**
 * @param enclosing definitions enclosing the struct; a definition within itself becomes an object
 *   without fields
 */
function objectOf(struct: Struct, enclosing: ReadonlySet<string>): ObjectDecl {
  const fields = new Map<string, DeclType>();
  for (const { name, type } of struct.fields) {
    const decl = declOf(type, enclosing);
    const written = escapeName(name);
    if (decl !== undefined && written !== undefined) fields.set(written, decl);
  }
  return objectDeclOf(fields);
}

/** @returns undefined if expressions cannot access the type */
function declOf(type: Type, enclosing: ReadonlySet<string>): DeclType | undefined {
  switch (type.kind) {
    case "struct":
      return enclosing.has(type.definition)
        ? objectDeclOf(new Map())
        : objectOf(type, new Set([...enclosing, type.definition]));
    case "list": {
      const items = declOf(type.items, enclosing);
      return items && listDecl(items);
    }
    case "map": {
      const values = declOf(type.values, enclosing);
      return values && mapDecl(values);
    }
    case "any":
      return anyOf(type);
    default:
      return scalars.get(type.kind);
  }
}

/** Quantities are missing: in OpenAPI they are strings or numbers, which have no declared type. */
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

/** Definitions that are objects with any content; other definitions have no declared type. */
function anyOf({ definition }: Any): DeclType | undefined {
  return /\.(?:RawExtension|FieldsV1)$/.test(definition) ? objectDeclOf(new Map()) : undefined;
}
