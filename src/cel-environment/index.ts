/**
 * Kubernetes' expressions over schemas and objects, with their budgets.
 *
 * - A definition is written: `checkRuleFields` for each node, then `checkRules` for a version's schema, add field errors.
 * - A definition is installed: `compileRules` once for a version's schema; undefined when there are no rules.
 * - An object is written: `validateRules` with what was compiled, the object and the old one; it adds field errors, and says what is left of
 *   the budget.
 * - One rule by itself, as a tool for authors needs it: `ruleEnvironments(newExpressions(), declTypeOfSchema(node, isRoot))`, then `compileRule`;
 *   `wrapOf(node, isRoot)` makes `self` of plain JSON. Of each compiled expression: `error`, or `program`, `checked` and `costMax`.
 * - A policy or webhook: a `PolicyCompiler` with its variables, first `addVariable` for each in their order, then `compile`; for each request an
 *   `evaluator` with a budget. `misnamedObjects` and `plainValue` are for what mutating policies make.
 * - Configuration of authentication and authorization: `claimsExpressions()`, `userExpressions()` and `reviewExpressions()` compile and evaluate.
 */

export { checkRuleFields } from "./check-rule-fields.ts";
export { type CheckOptions, checkRules, type Expressions, expressionsOf } from "./check-rules.ts";
export { type Compiled, compileExpression } from "./compile-expression.ts";
export {
  type CompiledExpression,
  type CompiledRule,
  compileRule,
  type RuleEnvironments,
  ruleEnvironments,
} from "./compile-rule.ts";
export { type CompileOptions, compileRules, hasRules, type RuleNode } from "./compile-rules.ts";
export { environmentOf, newExpressions, storedExpressions } from "./environments.ts";
export { type FieldPath, parseFieldPath } from "./field-path.ts";
export * from "./identity-expressions.ts";
export * from "./limits.ts";
export { jsonPatchName, misnamedObjects, WrittenObject, WrittenPatch } from "./mutation-types.ts";
export { NoPlainValue, plainValue } from "./plain-value.ts";
export { OutOfBudget, type PolicyBindings, PolicyEvaluator, type PolicyResult } from "./policy-evaluator.ts";
export { type NamedExpression, PolicyCompiler, type PolicyVariables } from "./policy-expressions.ts";
export {
  type GroupVersionKind,
  type GroupVersionResource,
  namespaceValue,
  type RequestAttributes,
  requestValue,
} from "./request-value.ts";
export { type ValidateOptions, validateRules } from "./validate-rules.ts";
