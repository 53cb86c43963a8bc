/**
 * Describes the types of OpenAPI v2 documents, so that one walk serves every purpose. Source:
 * https://spec.openapis.org/oas/v2.0.html.
 */

/** A type. */
export type Shape =
  | "text"
  | "flag"
  | "number"
  | "integer"
  | "texts"
  | "any"
  | StructShape
  | { readonly kind: "map" | "list"; readonly of: () => Shape }
  /** An object whose keys select the type of the value; other keys are removed. */
  | { readonly kind: "keyed"; readonly of: (key: string) => Shape | undefined; readonly omittedWhenEmpty?: string }
  | SchemaOrShape
  | "textOrTexts";

/** A schema, or the other form. */
export interface SchemaOrShape {
  readonly kind: "schemaOr";
  readonly otherwise: "flag" | "schemas" | "texts";
  readonly schema: () => Shape;
}

/** An object with known fields. */
export interface StructShape {
  readonly kind: "struct";
  /** In the order of the encoded document. */
  readonly fields: Readonly<Record<string, FieldShape>>;
  /** The position of `$ref` among the members; without one it is removed. */
  readonly reference?: "first" | "afterFields" | "last";
  /** Which unknown members are kept: extensions `x-…`, all, or none. */
  readonly unknown: "extensions" | "all" | "none";
}

export interface FieldShape {
  readonly shape: Shape;
  /** Whether an empty value is kept. */
  readonly keepEmpty: boolean;
}

/** A field that is omitted when it is empty. */
export const field = (shape: Shape): FieldShape => ({ shape, keepEmpty: false });
/** A field that is omitted only when it is missing. */
export const kept = (shape: Shape): FieldShape => ({ shape, keepEmpty: true });
export const mapOf = (of: () => Shape): Shape => ({ kind: "map", of });
export const listOf = (of: () => Shape): Shape => ({ kind: "list", of });

/** Whether a key is an extension of OpenAPI. */
export function isExtension(key: string): boolean {
  return /^[xX]-/.test(key);
}
