/** JSONPath templates, as kubectl and definitions use them. */
export { findResults, JsonPathError } from "./find.ts";
export { NumberLiteral, TextByte } from "./go-kinds.ts";
export { JsonPathSyntaxError, type Part, parseTemplate } from "./template.ts";
