/**
 * The modules for each authorization mode. Source: Kubernetes docs, Authorization, Authorization
 * modes.
 */
import { nodeIdentity } from "../apimachinery/node-identity.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import { joinErrors } from "../lib/json/quote.ts";
import { abacAuthorizer, abacRules } from "./abac/abac.ts";
import type { AbacPolicy } from "./abac/policy-file.ts";
import type { Authorizer, DecisionCounts, PolicyRule, UserRules } from "./contract.ts";
import { allow, noOpinion } from "./decisions.ts";
import { type NodeAuthorizerOptions, nodeAuthorizer } from "./node/node.ts";
import type { NodeRelations } from "./node/relations.ts";
import type { Policy } from "./rbac/policy.ts";
import { listedRules, rbacAuthorizer } from "./rbac/rbac.ts";
import { unionAuthorizer } from "./union.ts";

/** The rules that one module lists for a user. */
interface ModuleRules extends Omit<UserRules, "problem"> {
  readonly problems: readonly string[];
}

/** An authorizer with its list of rules and its counters. */
export interface AuthorizationModule {
  readonly authorize: Authorizer;
  /** The chain counts the final decisions of the module here. */
  readonly counts?: DecisionCounts;
  rulesOf(user: UserInfo, namespace: string): ModuleRules;
}

const noRules: ModuleRules = { rules: [], incomplete: false, problems: [] };
/** Rules that allow every request. */
export const everything: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/** The mode AlwaysAllow. */
export const alwaysAllowModule: AuthorizationModule = {
  authorize: () => allow,
  rulesOf: () => ({ ...noRules, rules: everything }),
};

/** The mode AlwaysDeny. */
export const alwaysDenyModule: AuthorizationModule = {
  authorize: () => ({ decision: "noOpinion", reason: "Everything is forbidden." }),
  rulesOf: () => noRules,
};

/** Members of `system:masters` have unrestricted access. */
const masters: Authorizer = ({ user }) => (user.groups.includes("system:masters") ? allow : noOpinion);

/** The mode ABAC. @param policies the lines of `--authorization-policy-file` */
export function abacModule(policies: readonly AbacPolicy[]): AuthorizationModule {
  return {
    authorize: abacAuthorizer(policies),
    rulesOf: (user, namespace) => ({ ...noRules, rules: abacRules(policies, user, namespace) }),
  };
}

/** The mode Node. */
export function nodeModule(relations: NodeRelations, options: NodeAuthorizerOptions): AuthorizationModule {
  const incomplete = {
    rules: [],
    incomplete: true,
    problems: ["node authorizer does not support user rule resolution"],
  };
  return {
    authorize: nodeAuthorizer(relations, options),
    rulesOf: (user) => (nodeIdentity(user) === undefined ? noRules : incomplete),
  };
}

/** The mode RBAC. */
export function rbacModule(policy: Policy): AuthorizationModule {
  return {
    authorize: rbacAuthorizer(policy),
    rulesOf: (user, namespace) => listedRules(policy, user, namespace),
  };
}

/** The mode Webhook. */
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

/**
 * @returns one authorizer for all modules. As upstream, `system:masters` is checked before all
 *   modes and is not counted.
 */
export function authorizerOf(modules: readonly AuthorizationModule[]): Authorizer {
  return unionAuthorizer([{ authorize: masters }, ...modules]);
}

/** @returns a function that lists the rules of a user in a namespace, from all modules */
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
