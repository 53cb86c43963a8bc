/**
 * Evaluates an audit policy: the first matching rule applies.
 * Source: k8s.io/apiserver@v0.36.0/pkg/audit/policy/checker.go.
 */
import { pathMatches } from "../apimachinery/path-pattern.ts";
import type { AuthorizationAttributes } from "../authorization/contract.ts";
import type { AuditLevel } from "../request/audit.ts";
import type { AuditStage } from "./contract.ts";

/** A Policy of audit.k8s.io/v1. */
export interface AuditPolicy {
  readonly rules: readonly AuditRule[];
  readonly omitStages: readonly AuditStage[];
  readonly omitManagedFields: boolean;
}

/** One rule. An empty list matches every request. */
export interface AuditRule {
  readonly level: AuditLevel;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  /** An empty string matches cluster-scoped resources. */
  readonly namespaces: readonly string[];
  readonly nonResourceUrls: readonly string[];
  readonly omitStages: readonly AuditStage[];
  /** Undefined for the value of the policy. */
  readonly omitManagedFields: boolean | undefined;
}

/** Resources of one API group. */
export interface GroupResources {
  readonly group: string;
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

/** The settings of the policy for one request. */
export interface RequestAuditConfig {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

/** The attributes that rules match. `user` is undefined when authentication failed. */
export type AuditAttributes = Omit<AuthorizationAttributes, "user"> & {
  readonly user: AuthorizationAttributes["user"] | undefined;
};

/** @returns a function that evaluates the policy; the level is `None` when no rule matches */
export function policyEvaluator(policy: AuditPolicy): (attributes: AuditAttributes) => RequestAuditConfig {
  const prepared = policy.rules.map((rule) => ({
    rule,
    config: {
      level: rule.level,
      omitStages: new Set([...policy.omitStages, ...rule.omitStages]),
      omitManagedFields: rule.omitManagedFields ?? policy.omitManagedFields,
    },
  }));
  const none: RequestAuditConfig = {
    level: "None",
    omitStages: new Set(policy.omitStages),
    omitManagedFields: policy.omitManagedFields,
  };
  return (attributes) => {
    for (const { rule, config } of prepared) if (matches(rule, attributes)) return config;
    return none;
  };
}

function matches(rule: AuditRule, attributes: AuditAttributes): boolean {
  const { user, verb } = attributes;
  if (rule.users.length > 0 && (user === undefined || !rule.users.includes(user.name))) return false;
  if (rule.userGroups.length > 0 && !user?.groups.some((group) => rule.userGroups.includes(group))) return false;
  if (rule.verbs.length > 0 && !rule.verbs.includes(verb)) return false;
  if (rule.namespaces.length > 0 || rule.resources.length > 0) return matchesResource(rule, attributes);
  if (rule.nonResourceUrls.length === 0) return true;
  return !attributes.isResourceRequest && rule.nonResourceUrls.some((spec) => pathMatches(spec, attributes.path));
}

function matchesResource({ namespaces, resources }: AuditRule, attributes: AuditAttributes): boolean {
  if (!attributes.isResourceRequest) return false;
  if (namespaces.length > 0 && !namespaces.includes(attributes.namespace)) return false;
  return resources.length === 0 || resources.some((one) => matchesGroup(one, attributes));
}

function matchesGroup({ group, resources, resourceNames }: GroupResources, attributes: AuditAttributes): boolean {
  if (group !== attributes.group && group !== "*") return false;
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(attributes.name)) return false;
  const { resource, subresource } = attributes;
  const combined = subresource === "" ? resource : `${resource}/${subresource}`;
  return resources.some(
    (one) =>
      // Matches with and without a subresource.
      one === combined || one === "*" || (subresource !== "" && one === `*/${subresource}`) || one === `${resource}/*`,
  );
}
