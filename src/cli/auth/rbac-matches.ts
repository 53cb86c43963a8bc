/** Finds the bindings, roles and rules that allow a request, and those that nearly do. */
import { serviceAccountOf } from "../../apimachinery/service-account.ts";
import type { PolicyRule } from "../../authorization/contract.ts";
import {
  type Binding,
  boundRole,
  type Grant,
  Policy,
  type Role,
  type Subject,
} from "../../authorization/rbac/policy.ts";
import { ruleAllows } from "../../authorization/rbac/rule.ts";
import { type Mismatch, mismatchOf } from "./mismatch.ts";
import type { Question } from "./question.ts";
import type { PolicyObjects } from "./server.ts";

/** A rule of a role that a binding grants to the subject. */
export interface RuleMatch {
  readonly binding: Binding;
  readonly subject: Subject;
  readonly role: Role;
  readonly rule: PolicyRule;
  /** Counted from 1. */
  readonly ruleNumber: number;
}

export type MatchedRule = Pick<RuleMatch, "role" | "rule" | "ruleNumber">;

/** A binding or rule that does not allow the request, and why. */
export type NearMiss =
  /** Bound, but the role of the binding does not exist. */
  | { readonly why: "missing role"; readonly binding: Binding; readonly subject: Subject; readonly problem: string }
  /** Bound, but the rule does not match in one property. */
  | ({ readonly why: Mismatch } & RuleMatch)
  /** Bound, and the rule matches, but in another namespace. */
  | ({ readonly why: "other namespace" } & RuleMatch)
  /**
   * The rule matches, but is bound to a group that the user is not in, or to a user with a similar
   * name.
   */
  | ({ readonly why: "other subject" } & RuleMatch)
  /** The role would match, but no binding grants it in this namespace. */
  | ({ readonly why: "not bound" } & MatchedRule);

/** The result of {@link rbacMatches}. */
export interface RbacMatches {
  /** In the order in which the authorizer evaluates them: the first one decides. */
  readonly allowing: readonly RuleMatch[];
  /** Empty when a rule allows the request. At most `nearOfReasonMax` of each reason. */
  readonly near: readonly NearMiss[];
  /** How many near misses are left out. */
  readonly more: number;
}

/** Near misses that are reported of one reason. */
const nearOfReasonMax = 5;

/** Evaluates the RBAC objects for a request as the RBAC authorizer does. */
export function rbacMatches({ roles, bindings }: PolicyObjects, question: Question): RbacMatches {
  const policy = new Policy();
  for (const role of roles) policy.setRole(`${role.namespace}/${role.name}`, role);
  for (const [at, binding] of bindings.entries()) policy.setBinding(String(at), binding);
  const namespace = question.isResourceRequest ? question.namespace : "";
  const own = [...policy.grants(question.user, namespace)];
  const allowing = own.flatMap((grant) => allowedBy(policy, grant, question));
  if (allowing.length > 0) return { allowing, near: [], more: 0 };
  const near = [
    ...own.flatMap((grant) => missingRole(policy, grant)),
    ...own.flatMap((grant) => misses(policy, grant, question)),
    ...inOtherNamespaces(policy, bindings, question),
    ...ofOtherSubjects(policy, bindings, question),
    ...unboundRoles(roles, bindings, question),
  ];
  const kept = limited(near);
  return { allowing, near: kept, more: near.length - kept.length };
}

function limited(near: readonly NearMiss[]): NearMiss[] {
  const counts = new Map<string, number>();
  return near.filter(({ why }) => {
    const count = (counts.get(why) ?? 0) + 1;
    counts.set(why, count);
    return count <= nearOfReasonMax;
  });
}

function numberedRules(role: Role): MatchedRule[] {
  return role.rules.map((rule, at) => ({ role, rule, ruleNumber: at + 1 }));
}

/** The first rule that allows the request, or an empty array. */
function firstAllowing(role: Role, question: Question): MatchedRule[] {
  const found = numberedRules(role).find(({ rule }) => ruleAllows(rule, question));
  return found === undefined ? [] : [found];
}

function allowedBy(policy: Policy, grant: Grant, question: Question): RuleMatch[] {
  const role = boundRole(policy, grant.binding);
  return typeof role === "string" ? [] : firstAllowing(role, question).map((found) => ({ ...grant, ...found }));
}

function missingRole(policy: Policy, grant: Grant): NearMiss[] {
  const role = boundRole(policy, grant.binding);
  return typeof role === "string" ? [{ why: "missing role", ...grant, problem: role }] : [];
}

function misses(policy: Policy, grant: Grant, question: Question): NearMiss[] {
  const role = boundRole(policy, grant.binding);
  if (typeof role === "string") return [];
  return numberedRules(role).flatMap((found) => {
    const why = mismatchOf(found.rule, question);
    return why === undefined ? [] : [{ why, ...grant, ...found }];
  });
}

/** Rules that are bound to the user in another namespace than the requested one. */
function inOtherNamespaces(policy: Policy, bindings: readonly Binding[], question: Question): NearMiss[] {
  if (!question.isResourceRequest) return [];
  return bindings
    .filter(({ namespace }) => namespace !== "" && namespace !== question.namespace)
    .flatMap((binding) => binding.subjects.map((subject) => ({ binding, subject })))
    .filter((grant) => isFor(grant, question))
    .flatMap((grant) => allowedBy(policy, grant, question))
    .map((match) => ({ why: "other namespace", ...match }));
}

function isFor({ binding, subject }: Grant, { user }: Question): boolean {
  if (subject.kind === "Group") return user.groups.includes(subject.name);
  if (subject.kind === "User") return user.name === subject.name;
  const account = subject.kind === "ServiceAccount" ? serviceAccountOf(user.name) : undefined;
  return (
    account !== undefined &&
    account.name === subject.name &&
    account.namespace === (subject.namespace || binding.namespace)
  );
}

function ofOtherSubjects(policy: Policy, bindings: readonly Binding[], question: Question): NearMiss[] {
  return bindings
    .filter(({ namespace }) => namespace === "" || (question.isResourceRequest && namespace === question.namespace))
    .flatMap((binding) => binding.subjects.map((subject) => ({ binding, subject })))
    .filter((grant) => !isFor(grant, question) && isClose(grant.subject, question))
    .flatMap((grant) => allowedBy(policy, grant, question))
    .map((match) => ({ why: "other subject", ...match }));
}

/** Any group except system:masters, or a name that differs only in kind, case, prefix or domain. */
function isClose({ kind, name }: Subject, { user }: Question): boolean {
  if (bareName(name) === bareName(user.name)) return true;
  return kind === "Group" && name !== "system:masters";
}

/** Removes prefix and domain: `oidc:Ann@example.com` becomes `ann`. */
function bareName(name: string): string {
  return (name.split(/[:#/]/).at(-1) ?? "").split("@")[0]?.toLowerCase() ?? "";
}

/**
 * Roles with the fewest rules first, because broad roles are rarely the right ones to bind; system
 * roles are left out.
 */
function unboundRoles(roles: readonly Role[], bindings: readonly Binding[], question: Question): NearMiss[] {
  const bound = new Set(
    bindings.map(({ namespace, roleRef: { kind, name } }) => `${kind === "Role" ? namespace : ""}/${name}`),
  );
  return roles
    .filter(({ name }) => !name.startsWith("system:"))
    .filter(
      ({ namespace, name }) =>
        !bound.has(`${namespace}/${name}`) && (namespace === "" || namespace === question.namespace),
    )
    .flatMap((role) => firstAllowing(role, question))
    .sort((a, b) => a.role.rules.length - b.role.rules.length)
    .map((found) => ({ why: "not bound", ...found }));
}
