/** JSONPath templates of kubectl and of printer columns. Source: Kubernetes docs, "JSONPath Support". */
export { findResults, JsonPathError } from "./find.ts";
export { NumberLiteral, TextByte } from "./go-kinds.ts";
export { JsonPathSyntaxError, type Part, parseTemplate } from "./template.ts";
