/** Which rule of the policy a request falls under: the first that matches. Source: audit.k8s.io/v1; upstream's policy checker. */
import { pathMatches } from "../apimachinery/path-pattern.ts";
import type { AuthorizationAttributes } from "../authorization/contract.ts";
import type { AuditLevel, AuditStage } from "./contract.ts";

export interface AuditPolicy {
  readonly rules: readonly AuditRule[];
  readonly omitStages: readonly AuditStage[];
  readonly omitManagedFields: boolean;
}

/** Empty lists ask for nothing. */
export interface AuditRule {
  readonly level: AuditLevel;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  /** Empty text: resources of the cluster. */
  readonly namespaces: readonly string[];
  readonly nonResourceUrls: readonly string[];
  readonly omitStages: readonly AuditStage[];
  /** Undefined: as the policy says. */
  readonly omitManagedFields: boolean | undefined;
}

export interface GroupResources {
  readonly group: string;
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

/** How one request is audited. */
export interface RequestAuditConfig {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

/** What the policy is asked about; without a user where authentication failed. */
export type AuditAttributes = Omit<AuthorizationAttributes, "user"> & {
  readonly user: AuthorizationAttributes["user"] | undefined;
};

/** @returns the evaluation; nothing matched is `None` */
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

function matchesGroup({ group, resources, resourceNames }: GroupResources, asked: AuditAttributes): boolean {
  if (group !== asked.group && group !== "*") return false;
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(asked.name)) return false;
  const { resource, subresource } = asked;
  const combined = subresource === "" ? resource : `${resource}/${subresource}`;
  return resources.some(
    (one) =>
      one === combined || one === "*" || (subresource !== "" && one === `*/${subresource}`) || one === `${resource}/*`, // With or without a subresource.
  );
}
