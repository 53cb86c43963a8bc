/**
 * Expressions over schemas, requests and identities, with the cost limits of Kubernetes.
 *
 * - Write of a CustomResourceDefinition: `checkRuleFields` for each node, then `checkRules` for the
 *   schema of a version, add field errors (see `definition-rules.ts`).
 * - Write of a custom resource: `compileRules` once per schema, then `validateRules` with the
 *   object and the old object, which adds field errors (see `object-rules.ts`).
 * - Admission policies and webhook configurations: a `PolicyCompiler` with its variables; first
 *   `addVariable` for each, then `compile`; for each request an `evaluator` with a budget.
 *   `plainValue` and `typeNameErrors` are for the results of mutating policies.
 * - Authentication and authorization configuration: `claimsExpressions()`, `userExpressions()` and
 *   `reviewExpressions()`.
 */

export { checkRuleFields } from "./check-rule-fields.ts";
export { checkRules } from "./check-rules.ts";
export type { Compiled } from "./compile-expression.ts";
export { newExpressions } from "./environments.ts";
export * from "./identity-expressions.ts";
export { perCallLimit } from "./limits.ts";
