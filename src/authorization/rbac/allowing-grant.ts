/** Finds the grant that allows a request among those of one subject, however many others the subject has. */
import type { PolicyRule } from "../contract.ts";
import { boundRole, type Grant, type Policy, type Role } from "./policy.ts";
import { type RuleRequest, rulesAllow } from "./rule.ts";

/** A list of fewer grants is read as it is, which is faster than its index. */
const indexedMin = 16;

/** A role, and the first grant of it in the list. */
interface GrantedRole {
  readonly role: Role;
  readonly grant: Grant;
  /** Position of the grant in the list. */
  readonly at: number;
}

interface GrantIndex {
  /** The state of the policy that it shows. */
  readonly rolesVersion: number;
  readonly length: number;
  /** By what rules list as resource; those of other rules under {@link paths}. Each role is in a list once, in order. */
  readonly byResource: ReadonlyMap<string, readonly GrantedRole[]>;
  /** Messages about roles that do not exist. */
  readonly problems: readonly string[];
}

const paths = "\0";

/** By list. A list that loses a grant is replaced. */
const indexes = new WeakMap<readonly Grant[], GrantIndex>();

/**
 * @param grants a list of the policy
 * @param problems receives a message for each role of the list that cannot be resolved, if no grant allows the request
 * @returns the first grant that allows the request
 */
export function allowingGrant(
  policy: Policy,
  grants: readonly Grant[],
  request: RuleRequest,
  problems: Set<string>,
): Grant | undefined {
  if (grants.length >= indexedMin) return allowingIndexed(indexOf(policy, grants), request, problems);
  for (const grant of grants) {
    const role = boundRole(policy, grant.binding);
    if (typeof role === "string") problems.add(role);
    else if (rulesAllow(role.rules, request)) return grant;
  }
  return undefined;
}

function allowingIndexed(index: GrantIndex, request: RuleRequest, problems: Set<string>): Grant | undefined {
  let found: GrantedRole | undefined;
  for (const key of keysOf(request)) {
    for (const granted of index.byResource.get(key) ?? []) {
      if (found !== undefined && granted.at > found.at) break;
      if (!rulesAllow(granted.role.rules, request)) continue;
      found = granted;
      break;
    }
  }
  if (found === undefined) for (const problem of index.problems) problems.add(problem);
  return found?.grant;
}

function keysOf({ isResourceRequest, resource, subresource }: RuleRequest): readonly string[] {
  if (!isResourceRequest) return [paths];
  return subresource === "" ? ["*", resource] : ["*", `${resource}/${subresource}`, `*/${subresource}`];
}

function indexOf(policy: Policy, grants: readonly Grant[]): GrantIndex {
  const { rolesVersion } = policy;
  const existing = indexes.get(grants);
  if (existing?.rolesVersion === rolesVersion && existing.length === grants.length) return existing;
  const index = { rolesVersion, length: grants.length, ...readGrants(policy, grants) };
  indexes.set(grants, index);
  return index;
}

function readGrants(policy: Policy, grants: readonly Grant[]): Pick<GrantIndex, "byResource" | "problems"> {
  const byResource = new Map<string, GrantedRole[]>();
  const seen = new Set<Role | string>();
  for (const [at, grant] of grants.entries()) {
    const role = boundRole(policy, grant.binding);
    if (seen.has(role)) continue;
    seen.add(role);
    if (typeof role === "string") continue;
    for (const key of listedKeys(role.rules)) {
      const granted = byResource.get(key) ?? [];
      granted.push({ role, grant, at });
      byResource.set(key, granted);
    }
  }
  return { byResource, problems: [...seen].filter((one) => typeof one === "string") };
}

function listedKeys(rules: readonly PolicyRule[]): Set<string> {
  const keys = new Set<string>();
  for (const { resources = [], nonResourceURLs = [] } of rules) {
    for (const resource of resources) keys.add(resource);
    if (nonResourceURLs.length > 0) keys.add(paths);
  }
  return keys;
}
