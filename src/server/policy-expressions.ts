/** Compiles and evaluates CEL expressions of webhooks, policies and devices. Loaded with the first of them. */
export { mutatingEvaluation } from "../admission/policies/mutating.ts";
export { validatingEvaluation } from "../admission/policies/validating.ts";
export { openConditions } from "../admission/webhooks/conditions.ts";
export { deviceChecker } from "../cel-environment/device-checker.ts";
export { policyChecker } from "../cel-environment/policy-checker.ts";
export { policyTypeChecker } from "../cel-environment/policy-type-checker.ts";
