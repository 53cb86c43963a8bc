/** What compiles the expressions of webhooks and policies: loaded for the first of them that is written. */
export { policyChecker } from "../cel-environment/policy-checker.ts";
