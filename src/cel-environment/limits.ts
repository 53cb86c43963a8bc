/**
 * How much expressions may cost, and how large what they make may get. Source: access-control §2.4 and §8; k8s.io/apiserver
 * pkg/apis/cel/config.go, k8s.io/apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go
 */

/** Units for one evaluation. */
export const perCallLimit = 1_000_000;
/** Units for all evaluations of a write: of an object's rules, or of a policy binding's validations. */
export const runtimeBudget = 10_000_000;
/** Units for all match conditions of a webhook or policy binding. */
export const matchConditionsBudget = 2_500_000;
/** Estimated units of a rule of a custom resource, at worst, for all places it may stand in. */
export const estimatedRuleLimit = 10_000_000n;
/** Estimated units of all rules of a schema. */
export const estimatedSchemaLimit = 100_000_000n;
/** Of the text that a `messageExpression` makes. */
export const messageBytesMax = 5 * 1024;
