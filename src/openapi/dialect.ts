/** What the two versions of OpenAPI say differently about the same thing. */
export interface Dialect {
  readonly version: "v2" | "v3";
  /** What the name of a definition follows in a reference. */
  readonly references: string;
}

export const openApiV2: Dialect = { version: "v2", references: "#/definitions/" };
export const openApiV3: Dialect = { version: "v3", references: "#/components/schemas/" };

/** A piece of an OpenAPI document. */
export type Json = { readonly [key: string]: unknown };
