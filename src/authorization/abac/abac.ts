/** The mode ABAC: allows what a line of the policy file allows. Source: access-control §5.3. */
import { pathMatches } from "../../apimachinery/path-pattern.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import type { AuthorizationAttributes, Authorizer } from "../contract.ts";
import { allow } from "../decisions.ts";
import type { PolicyRule } from "../rbac/rule.ts";
import type { AbacPolicy } from "./policy-file.ts";

export function abacAuthorizer(policies: readonly AbacPolicy[]): Authorizer {
  return (request) =>
    policies.some((policy) => allows(policy, request))
      ? allow
      : { decision: "noOpinion", reason: "No policy matched." };
}

/** What the file allows the user in the namespace, as rules. */
export function abacRules(policies: readonly AbacPolicy[], user: UserInfo, namespace: string): PolicyRule[] {
  return policies
    .filter((policy) => isFor(policy, user) && named(policy.namespace, namespace))
    .flatMap(({ readonly, apiGroup, resource, nonResourcePath }) => {
      const verbs = readonly ? ["get", "list", "watch"] : ["*"];
      return [
        ...(resource === "" ? [] : [{ verbs, apiGroups: [apiGroup], resources: [resource] }]),
        ...(nonResourcePath === "" ? [] : [{ verbs, nonResourceURLs: [nonResourcePath] }]),
      ];
    });
}

function allows(policy: AbacPolicy, request: AuthorizationAttributes): boolean {
  if (!isFor(policy, request.user)) return false;
  if (policy.readonly && !["get", "list", "watch"].includes(request.verb)) return false;
  if (!request.isResourceRequest) return pathMatches(policy.nonResourcePath, request.path);
  return (
    named(policy.namespace, request.namespace) &&
    named(policy.resource, request.resource) &&
    named(policy.apiGroup, request.group)
  );
}

/** Who names a user and a group means both. */
function isFor({ user, group }: AbacPolicy, { name, groups }: UserInfo): boolean {
  if (user === "" && group === "") return false;
  return (user === "" || user === "*" || user === name) && (group === "" || group === "*" || groups.includes(group));
}

function named(pattern: string, value: string): boolean {
  return pattern === "*" || pattern === value;
}
