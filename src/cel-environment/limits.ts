/**
 * Cost limits of expressions, in units, and size limits of their results.
 * Source: k8s.io/apiserver@v0.36.0/pkg/apis/cel/config.go and
 * k8s.io/apiextensions-apiserver@v0.36.0/pkg/apis/apiextensions/validation/validation.go
 */

/** For one evaluation. */
export const perCallLimit = 1_000_000;
/**
 * For all evaluations of a write: the rules of an object, or the validations of a policy binding.
 */
export const runtimeBudget = 10_000_000;
/** For the match conditions of a webhook or a policy binding. */
export const matchConditionsBudget = 2_500_000;
/** Estimated cost of one rule of a custom resource for all values it applies to. */
export const estimatedRuleLimit = 10_000_000n;
/** Estimated cost of all rules of a schema. */
export const estimatedSchemaLimit = 100_000_000n;
/** Limits the result of a `messageExpression`. */
export const messageBytesMax = 5 * 1024;
