/**
 * The Common Expression Language (CEL). Start with `kubernetesEnvironment(version)`; see README.md.
 * Source: cel-spec, https://github.com/google/cel-spec.
 */
export { type Ast, children, type Expr } from "./ast.ts";
export { type CheckedAst, qualifiedName, type Reference } from "./checker.ts";
export { noHints, sizeOrUnknown } from "./cost/estimate.ts";
export * from "./cost/range.ts";
export * from "./declarations.ts";
export { type Environment, type Extension, standardEnvironment } from "./environment.ts";
export { CelError, CelSyntaxError } from "./errors.ts";
export * from "./functions/costs.ts";
export { declare, member, overload } from "./functions/declare.ts";
export * from "./functions/kubernetes/authorizer.ts";
export { jsonPatchKeys } from "./functions/kubernetes/json-patch.ts";
export { CelQuantity, quantityType } from "./functions/kubernetes/quantity.ts";
export { optionalTypes } from "./functions/optional.ts";
export { twoVariableComprehensions } from "./functions/two-variable.ts";
export { kubernetesEnvironment, kubernetesLibraries } from "./kubernetes-environment.ts";
export * from "./library.ts";
export type { Activation, Evaluated, EvaluationOptions, Program } from "./program.ts";
export * from "./schema-types/index.ts";
export type { Issue } from "./source.ts";
export { type Tagged, taggedOf, untagged } from "./tagged.ts";
export * from "./types.ts";
export { homogeneousLiterals, literalArguments, type ValidatedExpr, type Validator } from "./validators.ts";
export { failedValue } from "./values/access.ts";
export { ArrayList, codePoints, HashMap, sizeOf, TextList } from "./values/containers.ts";
export { compareNumbers, compareStrings, equal, isNumber } from "./values/equality.ts";
export * from "./values/failure.ts";
export * from "./values/int.ts";
export { JsonList, type JsonValue, jsonValue } from "./values/json.ts";
export { formatSeconds } from "./values/numbers.ts";
export { PlainMap } from "./values/plain-map.ts";
export { compileRegex } from "./values/regex.ts";
export { formatTimestamp, parseTimestamp } from "./values/time.ts";
export { goTypeNameOf, typeNameOf } from "./values/type-names.ts";
export * from "./values/value.ts";
