/** What compiles the expressions of webhooks, policies and claims: loaded for the first of them that is written. */
export { deviceChecker } from "../cel-environment/device-checker.ts";
export { policyChecker } from "../cel-environment/policy-checker.ts";
