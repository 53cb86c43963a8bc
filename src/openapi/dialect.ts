/** A version of OpenAPI. */
export interface Dialect {
  readonly version: "v2" | "v3";
  /** The prefix of references to definitions. */
  readonly references: string;
}

/** OpenAPI 2.0. */
export const openApiV2: Dialect = { version: "v2", references: "#/definitions/" };
/** OpenAPI 3.0. */
export const openApiV3: Dialect = { version: "v3", references: "#/components/schemas/" };
