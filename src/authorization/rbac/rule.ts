/**
 * Evaluates the rules of a role.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/rbac/v1/evaluation_helpers.go.
 */
import { pathMatches } from "../../apimachinery/path-pattern.ts";
import type { AuthorizationAttributes, PolicyRule } from "../contract.ts";

/** The parts of a request that rules check. */
export type RuleRequest = Pick<
  AuthorizationAttributes,
  "isResourceRequest" | "verb" | "group" | "resource" | "subresource" | "name" | "path"
>;

/** @returns whether one rule allows the request */
export function ruleAllows(rule: PolicyRule, request: RuleRequest): boolean {
  if (!request.isResourceRequest)
    return (
      names(rule.verbs, request.verb) && (rule.nonResourceURLs?.some((url) => pathMatches(url, request.path)) ?? false)
    );
  return (
    resourceMatches(rule.resources, request) &&
    names(rule.verbs, request.verb) &&
    names(rule.apiGroups, request.group) &&
    nameMatches(rule.resourceNames, request.name)
  );
}

/**
 * @param rules all rules of one role; the index by resource is cached for this array
 * @returns whether at least one rule allows the request
 */
export function rulesAllow(rules: readonly PolicyRule[], request: RuleRequest): boolean {
  if (!request.isResourceRequest) return anyAllows(rules, request);
  const index = rulesByResource(rules);
  const { resource, subresource } = request;
  if (anyAllows(index.get("*"), request)) return true;
  if (subresource === "") return anyAllows(index.get(resource), request);
  return (
    anyAllows(index.get(`${resource}/${subresource}`), request) || anyAllows(index.get(`*/${subresource}`), request)
  );
}

function anyAllows(rules: readonly PolicyRule[] | undefined, request: RuleRequest): boolean {
  if (rules === undefined) return false;
  for (const rule of rules) if (ruleAllows(rule, request)) return true;
  return false;
}

/** Filled when a role is evaluated for the first time; an entry lives as long as its role. */
const byResource = new WeakMap<readonly PolicyRule[], ReadonlyMap<string, readonly PolicyRule[]>>();

function rulesByResource(rules: readonly PolicyRule[]): ReadonlyMap<string, readonly PolicyRule[]> {
  const existing = byResource.get(rules);
  if (existing !== undefined) return existing;
  const index = new Map<string, PolicyRule[]>();
  for (const rule of rules) {
    for (const resource of new Set(rule.resources)) {
      const others = index.get(resource);
      if (others === undefined) index.set(resource, [rule]);
      else others.push(rule);
    }
  }
  byResource.set(rules, index);
  return index;
}

/** A plain loop, because this is the hottest function of an authorization with many rules. */
function names(listed: readonly string[] | undefined, value: string): boolean {
  if (listed === undefined) return false;
  for (const each of listed) if (each === value || each === "*") return true;
  return false;
}

/** A list contains `pods`, `pods/log`, `*` for all resources, or `*` with a subresource. */
function resourceMatches(listed: readonly string[] | undefined, { resource, subresource }: RuleRequest): boolean {
  if (subresource === "") return names(listed, resource);
  return names(listed, `${resource}/${subresource}`) || names(listed, `*/${subresource}`);
}

function nameMatches(listed: readonly string[] = [], name: string): boolean {
  return listed.length === 0 || listed.includes(name);
}
