/** Types, sizes and values of data that a JSON schema describes. Source: k8s.io/apiserver@v0.36.0/pkg/cel/common. */
export * from "./decl-type.ts";
export { declTypeOfSchema, maxRequestBytes } from "./decl-type-of-schema.ts";
export { declTypeOfStruct } from "./decl-type-of-struct.ts";
export { escapeName, isReserved, unescapeName } from "./escape.ts";
export * from "./json-schema.ts";
export type { Wrap } from "./schema-objects.ts";
export { wrapOf } from "./schema-value.ts";
export { sizeHintsOf, type TypeRegistry, typeRegistry } from "./type-registry.ts";
