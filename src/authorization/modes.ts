/** The authorizers that one chooses from, and the chain they make. Source: access-control §5.3. */
import { nodeIdentity } from "../apimachinery/node-identity.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import { joinErrors } from "../lib/json/quote.ts";
import { abacAuthorizer, abacRules } from "./abac/abac.ts";
import type { AbacPolicy } from "./abac/policy-file.ts";
import { alwaysAllow, alwaysDeny } from "./always.ts";
import type { Authorizer, DecisionCounts, UserRules } from "./contract.ts";
import { masters } from "./masters.ts";
import { type NodeAuthorizerOptions, nodeAuthorizer } from "./node/node.ts";
import type { NodeRelations } from "./node/relations.ts";
import type { Policy } from "./rbac/policy.ts";
import { rbacAuthorizer, rulesFor } from "./rbac/rbac.ts";
import type { PolicyRule } from "./rbac/rule.ts";
import { unionAuthorizer } from "./union.ts";

/** What one module lists. */
export interface ModuleRules extends Omit<UserRules, "problem"> {
  readonly problems: readonly string[];
}

export interface AuthorizationModule {
  readonly authorize: Authorizer;
  /** Where it is counted what it decides. */
  readonly counts?: DecisionCounts;
  rulesOf(user: UserInfo, namespace: string): ModuleRules;
}

const noRules: ModuleRules = { rules: [], incomplete: false, problems: [] };
const everything: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

export const alwaysAllowModule: AuthorizationModule = {
  authorize: alwaysAllow,
  rulesOf: () => ({ ...noRules, rules: everything }),
};

export const alwaysDenyModule: AuthorizationModule = { authorize: alwaysDeny, rulesOf: () => noRules };

export function abacModule(policies: readonly AbacPolicy[]): AuthorizationModule {
  return {
    authorize: abacAuthorizer(policies),
    rulesOf: (user, namespace) => ({ ...noRules, rules: abacRules(policies, user, namespace) }),
  };
}

export function nodeModule(relations: NodeRelations, options: NodeAuthorizerOptions): AuthorizationModule {
  const unlisted = { rules: [], incomplete: true, problems: ["node authorizer does not support user rule resolution"] };
  return {
    authorize: nodeAuthorizer(relations, options),
    rulesOf: (user) => (nodeIdentity(user) === undefined ? noRules : unlisted),
  };
}

export function rbacModule(policy: Policy): AuthorizationModule {
  return {
    authorize: rbacAuthorizer(policy),
    rulesOf: (user, namespace) => ({ ...noRules, ...rulesFor(policy, user, namespace) }),
  };
}

export function webhookModule(authorize: Authorizer): AuthorizationModule {
  return {
    authorize,
    rulesOf: () => ({
      rules: [],
      incomplete: true,
      problems: ["webhook authorizer does not support user rule resolution"],
    }),
  };
}

/** As upstream, system:masters is asked before any mode, and not counted. */
export function authorizerOf(modules: readonly AuthorizationModule[]): Authorizer {
  return unionAuthorizer([{ authorize: masters }, ...modules]);
}

/** All rules of all modules. */
export function ruleResolverOf(modules: readonly AuthorizationModule[]) {
  return (user: UserInfo, namespace: string): UserRules => {
    const each = modules.map((module) => module.rulesOf(user, namespace));
    return {
      rules: each.flatMap(({ rules }) => rules),
      incomplete: each.some(({ incomplete }) => incomplete),
      problem: joinErrors(each.flatMap(({ problems }) => problems)),
    };
  };
}
