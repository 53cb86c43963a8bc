/** `--authorization-mode`: which authorizers are asked, and in which order. Source: access-control §5.3. */

import type { UserInfo } from "../api/user.ts";
import { alwaysAllow, alwaysDeny } from "./always.ts";
import type { Authorizer } from "./contract.ts";
import { masters } from "./masters.ts";
import { nodeIdentity } from "./node/node.ts";
import type { Policy } from "./rbac/policy.ts";
import { aggregate, rulesFor } from "./rbac/rbac.ts";
import type { PolicyRule } from "./rbac/rule.ts";
import { unionAuthorizer } from "./union.ts";

export const authorizationModes = ["AlwaysAllow", "AlwaysDeny", "Node", "RBAC"] as const;

export type AuthorizationMode = (typeof authorizationModes)[number];

/** @param names none for the default @throws Error for a mode that is not known, or given twice */
export function parseAuthorizationModes(names: readonly string[]): readonly AuthorizationMode[] {
  if (names.length === 0) return ["Node", "RBAC"];
  return names.map((name, index) => {
    const mode = authorizationModes.find((known) => known === name);
    if (mode === undefined)
      throw new Error(`authorization-mode ${JSON.stringify(name)} is not a valid mode: this server has ${authorizationModes.join(", ")}`);
    if (names.indexOf(name) !== index) throw new Error(`authorization-mode ${JSON.stringify(names)} has mode specified more than once`);
    return mode;
  });
}

/** As upstream, system:masters is asked before any mode. @param others the authorizers that follow what is stored */
export function authorizerOf(modes: readonly AuthorizationMode[], others: Readonly<Record<"Node" | "RBAC", Authorizer>>): Authorizer {
  const byMode = { AlwaysAllow: alwaysAllow, AlwaysDeny: alwaysDeny, ...others };
  return unionAuthorizer([masters, ...modes.map((mode) => byMode[mode])]);
}

/** What a user may do, as far as rules can tell. */
export interface UserRules {
  readonly rules: readonly PolicyRule[];
  /** Some authorizer cannot list what it allows. */
  readonly incomplete: boolean;
  /** Empty when nothing went wrong. */
  readonly problem: string;
}

const everything: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

export function ruleResolverOf(modes: readonly AuthorizationMode[], policy: Policy): (user: UserInfo, namespace: string) => UserRules {
  return (user, namespace) => {
    const rules: PolicyRule[] = [];
    const problems: string[] = [];
    const isNode = modes.includes("Node") && nodeIdentity(user) !== undefined;
    if (isNode) problems.push("node authorizer does not support user rule resolution");
    for (const mode of modes) {
      if (mode === "AlwaysAllow") rules.push(...everything);
      if (mode !== "RBAC") continue;
      const bound = rulesFor(policy, user, namespace);
      rules.push(...bound.rules);
      problems.push(...bound.problems);
    }
    return { rules, incomplete: isNode, problem: aggregate(problems) };
  };
}
