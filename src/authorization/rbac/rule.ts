/** What one rule of a role allows. Source: access-control §5.3, "RBAC"; upstream's rule evaluation. */
import { pathMatches } from "../../apimachinery/path-pattern.ts";
import type { AuthorizationAttributes } from "../contract.ts";

/** As roles hold it; a list that is absent names nothing. */
export interface PolicyRule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  /** None means any name. */
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export type RuleRequest = Pick<
  AuthorizationAttributes,
  "isResourceRequest" | "verb" | "group" | "resource" | "subresource" | "name" | "path"
>;

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

/** Whether any of a role's rules allows it. Most of what is asked is whether one of a thousand rules does, and most of these name other resources. */
export function rulesAllow(rules: readonly PolicyRule[], request: RuleRequest): boolean {
  if (!request.isResourceRequest) return anyAllows(rules, request);
  const naming = rulesByResource(rules);
  const { resource, subresource } = request;
  if (anyAllows(naming.get("*"), request)) return true;
  if (subresource === "") return anyAllows(naming.get(resource), request);
  return (
    anyAllows(naming.get(`${resource}/${subresource}`), request) || anyAllows(naming.get(`*/${subresource}`), request)
  );
}

function anyAllows(rules: readonly PolicyRule[] | undefined, request: RuleRequest): boolean {
  if (rules === undefined) return false;
  for (const rule of rules) if (ruleAllows(rule, request)) return true;
  return false;
}

/** Made when a role is first asked about, and gone with it. */
const byResource = new WeakMap<readonly PolicyRule[], ReadonlyMap<string, readonly PolicyRule[]>>();

function rulesByResource(rules: readonly PolicyRule[]): ReadonlyMap<string, readonly PolicyRule[]> {
  const known = byResource.get(rules);
  if (known !== undefined) return known;
  const naming = new Map<string, PolicyRule[]>();
  for (const rule of rules) {
    for (const resource of new Set(rule.resources)) {
      const others = naming.get(resource);
      if (others === undefined) naming.set(resource, [rule]);
      else others.push(rule);
    }
  }
  byResource.set(rules, naming);
  return naming;
}

/** A loop, since most of what is asked is whether any of a thousand rules matches. */
function names(listed: readonly string[] | undefined, wanted: string): boolean {
  if (listed === undefined) return false;
  for (const each of listed) if (each === wanted || each === "*") return true;
  return false;
}

/** `pods`, `pods/log`, `*` for all of them, or `*` before a subresource. */
function resourceMatches(listed: readonly string[] | undefined, { resource, subresource }: RuleRequest): boolean {
  if (subresource === "") return names(listed, resource);
  return names(listed, `${resource}/${subresource}`) || names(listed, `*/${subresource}`);
}

function nameMatches(listed: readonly string[] = [], name: string): boolean {
  return listed.length === 0 || listed.includes(name);
}
