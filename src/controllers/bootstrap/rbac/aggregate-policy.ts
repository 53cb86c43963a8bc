/** Aggregates the ClusterRoles of the bootstrap policy, so that a first start does not create and then update them. */
import { aggregatedRules, aggregatorName, type CollectedRole } from "../../role-aggregation.ts";
import type { BootObject } from "../ensure-object.ts";

/** Returns the objects with what the controller `clusterrole-aggregation-controller` would apply to them. */
export function aggregatePolicy(policy: readonly BootObject[]): BootObject[] {
  const roles = policy
    .filter(({ resource }) => resource === "clusterroles")
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const rulesOf = (role: BootObject): readonly unknown[] => {
    const { aggregationRule, rules } = role.object;
    if (aggregationRule === undefined) return (rules as unknown[] | undefined) ?? [];
    const others = roles.filter((other) => other !== role).map(collected);
    return [...aggregatedRules(others, aggregationRule.clusterRoleSelectors).values()];
  };
  const collected = (role: BootObject): CollectedRole => ({
    labels: new Map(Object.entries(role.object.metadata.labels ?? {})),
    read() {
      const rules = rulesOf(role);
      return { rules, texts: rules.map((rule) => JSON.stringify(rule)) };
    },
  });
  return policy.map((role) =>
    role.object.aggregationRule === undefined
      ? role
      : { ...role, applied: { manager: aggregatorName, fields: { rules: rulesOf(role) } } },
  );
}

function nameOf({ object }: BootObject): string {
  return object.metadata.name as string;
}
