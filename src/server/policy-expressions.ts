/** Compiles CEL expressions of webhooks, policies and claims. Loaded when a client writes the first of them. */
export { deviceChecker } from "../cel-environment/device-checker.ts";
export { policyChecker } from "../cel-environment/policy-checker.ts";
