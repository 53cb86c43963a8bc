/**
 * The Common Expression Language (CEL) with the extensions of Kubernetes, independent of the server:
 * the part of `index.ts` that is useful on its own. Start with `kubernetesEnvironment`.
 * Source: cel-spec, https://github.com/google/cel-spec.
 *
 * @packageDocumentation
 */

export { NumberLiteral } from "../json/number-literal.ts";
export type { Quantity, QuantityFormat } from "../quantity/quantity.ts";
export type {
  Ast,
  Call,
  Comprehension,
  Constant,
  Expr,
  Identifier,
  ListLiteral,
  MapEntry,
  MapLiteral,
  Node,
  Select,
  StructField,
  StructLiteral,
} from "./ast.ts";
export { children } from "./ast.ts";
export { type CheckedAst, qualifiedName, type Reference } from "./checker.ts";
export { noHints, sizeOrUnknown } from "./cost/estimate.ts";
export * from "./cost/range.ts";
export * from "./declarations.ts";
export { type Environment, type Extension, standardEnvironment } from "./environment.ts";
export { CelError, CelSyntaxError } from "./errors.ts";
export * from "./functions/costs.ts";
export { declare, declareShared, member, type OverloadBody, overload } from "./functions/declare.ts";
export * from "./functions/kubernetes/authorizer.ts";
export { CelQuantity, quantityType } from "./functions/kubernetes/quantity.ts";
export { optionalTypes } from "./functions/optional.ts";
export { twoVariableComprehensions } from "./functions/two-variable.ts";
export { kubernetesEnvironment, kubernetesLibraries } from "./kubernetes-environment.ts";
export * from "./library.ts";
export type { Activation, Evaluated, EvaluationOptions, Program } from "./program.ts";
export * from "./schema-types/decl-type.ts";
export { declTypeOfSchema } from "./schema-types/decl-type-of-schema.ts";
export { escapeName, unescapeName } from "./schema-types/escape.ts";
export type { JsonSchema, ValidationRule } from "./schema-types/json-schema.ts";
export type { Wrap } from "./schema-types/schema-objects.ts";
export { wrapOf } from "./schema-types/schema-value.ts";
export { sizeHintsOf, type TypeRegistry, typeRegistry } from "./schema-types/type-registry.ts";
export type { Issue, Source } from "./source.ts";
export * from "./types.ts";
export { homogeneousLiterals, literalArguments, type ValidatedExpr, type Validator } from "./validators.ts";
export { ArrayList, HashMap, sizeOf, TextList } from "./values/containers.ts";
export { type CelNumber, compareStrings, equal, isNumber } from "./values/equality.ts";
export { CelFailure, fail, noSuchOverload } from "./values/failure.ts";
export { int64Max, int64Min, intOf, isInt } from "./values/int.ts";
export { JsonList, type JsonValue, jsonValue } from "./values/json.ts";
export { PlainMap } from "./values/plain-map.ts";
export { formatTimestamp, parseTimestamp } from "./values/time.ts";
export { typeNameOf } from "./values/type-names.ts";
export * from "./values/value.ts";
