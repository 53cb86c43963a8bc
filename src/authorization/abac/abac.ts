/** The mode ABAC. Source: k8s.io/kubernetes@v1.36.0/pkg/auth/authorizer/abac/abac.go. */
import { pathMatches } from "../../apimachinery/path-pattern.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import type { AuthorizationAttributes, Authorizer, PolicyRule } from "../contract.ts";
import { allow } from "../decisions.ts";
import type { AbacPolicy } from "./policy-file.ts";

/** @returns an authorizer that allows each request that at least one policy allows */
export function abacAuthorizer(policies: readonly AbacPolicy[]): Authorizer {
  return (request) =>
    policies.some((policy) => allows(policy, request))
      ? allow
      : { decision: "noOpinion", reason: "No policy matched." };
}

/** Lists the policies for the user in the namespace as rules. */
export function abacRules(policies: readonly AbacPolicy[], user: UserInfo, namespace: string): PolicyRule[] {
  return policies
    .filter((policy) => appliesTo(policy, user) && matches(policy.namespace, namespace))
    .flatMap(({ readonly, apiGroup, resource, nonResourcePath }) => {
      const verbs = readonly ? ["get", "list", "watch"] : ["*"];
      return [
        ...(resource === "" ? [] : [{ verbs, apiGroups: [apiGroup], resources: [resource] }]),
        ...(nonResourcePath === "" ? [] : [{ verbs, nonResourceURLs: [nonResourcePath] }]),
      ];
    });
}

function allows(policy: AbacPolicy, request: AuthorizationAttributes): boolean {
  if (!appliesTo(policy, request.user)) return false;
  if (policy.readonly && !["get", "list", "watch"].includes(request.verb)) return false;
  if (!request.isResourceRequest) return pathMatches(policy.nonResourcePath, request.path);
  return (
    matches(policy.namespace, request.namespace) &&
    matches(policy.resource, request.resource) &&
    matches(policy.apiGroup, request.group)
  );
}

/** A policy that names a user and a group requires both. */
function appliesTo({ user, group }: AbacPolicy, { name, groups }: UserInfo): boolean {
  if (user === "" && group === "") return false;
  return (user === "" || user === "*" || user === name) && (group === "" || group === "*" || groups.includes(group));
}

function matches(pattern: string, value: string): boolean {
  return pattern === "*" || pattern === value;
}
