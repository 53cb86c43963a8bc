/** Which bindings, roles and rules allow what is asked, and which come close. */
import { serviceAccountOf } from "../../apimachinery/service-account.ts";
import { type Binding, type Grant, Policy, type Role, type Subject } from "../../authorization/rbac/policy.ts";
import { boundRole } from "../../authorization/rbac/rbac.ts";
import { type PolicyRule, ruleAllows } from "../../authorization/rbac/rule.ts";
import { type Miss, missOf } from "./miss.ts";
import type { Question } from "./question.ts";
import type { PolicyObjects } from "./server.ts";

/** A binding and the rule of its role. */
export interface Way {
  readonly binding: Binding;
  readonly subject: Subject;
  readonly role: Role;
  readonly rule: PolicyRule;
  /** Counted from 1. */
  readonly ruleNumber: number;
}

export type NearWay =
  /** Bound, but what the binding names is not there. */
  | { readonly why: "missing role"; readonly binding: Binding; readonly subject: Subject; readonly problem: string }
  /** Bound, but the rule is about something else. */
  | ({ readonly why: Miss } & Way)
  /** Bound by a rule that would do, but for another namespace. */
  | ({ readonly why: "other namespace" } & Way)
  /** A rule that would do is bound to a group that the user is not in, or to somebody of a similar name. */
  | ({ readonly why: "other subject" } & Way)
  /** A role would do, and nobody has bound it here. */
  | ({ readonly why: "not bound" } & Pick<Way, "role" | "rule" | "ruleNumber">);

export interface RbacWays {
  /** In the order in which the authorizer looks: the first one decides. */
  readonly allowing: readonly Way[];
  /** None when something allows. At most some of each sort. */
  readonly near: readonly NearWay[];
  /** Near ones that are left out. */
  readonly more: number;
}

/** Near ways of one sort. */
const nearOfSortMax = 5;

export function rbacWays({ roles, bindings }: PolicyObjects, question: Question): RbacWays {
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
    ...elsewhere(policy, bindings, question),
    ...othersWays(policy, bindings, question),
    ...unboundRoles(roles, bindings, question),
  ];
  const kept = limited(near);
  return { allowing, near: kept, more: near.length - kept.length };
}

function limited(near: readonly NearWay[]): NearWay[] {
  const counts = new Map<string, number>();
  return near.filter(({ why }) => {
    const count = (counts.get(why) ?? 0) + 1;
    counts.set(why, count);
    return count <= nearOfSortMax;
  });
}

function ways(role: Role): Pick<Way, "role" | "rule" | "ruleNumber">[] {
  return role.rules.map((rule, at) => ({ role, rule, ruleNumber: at + 1 }));
}

/** The first rule that allows it. */
function firstAllowing(role: Role, question: Question): Pick<Way, "role" | "rule" | "ruleNumber">[] {
  const found = ways(role).find(({ rule }) => ruleAllows(rule, question));
  return found === undefined ? [] : [found];
}

function allowedBy(policy: Policy, grant: Grant, question: Question): Way[] {
  const role = boundRole(policy, grant.binding);
  return typeof role === "string" ? [] : firstAllowing(role, question).map((found) => ({ ...grant, ...found }));
}

function missingRole(policy: Policy, grant: Grant): NearWay[] {
  const role = boundRole(policy, grant.binding);
  return typeof role === "string" ? [{ why: "missing role", ...grant, problem: role }] : [];
}

function misses(policy: Policy, grant: Grant, question: Question): NearWay[] {
  const role = boundRole(policy, grant.binding);
  if (typeof role === "string") return [];
  return ways(role).flatMap((found) => {
    const why = missOf(found.rule, question);
    return why === undefined ? [] : [{ why, ...grant, ...found }];
  });
}

/** Bound to the user, but in another namespace than the one that was asked about. */
function elsewhere(policy: Policy, bindings: readonly Binding[], question: Question): NearWay[] {
  if (!question.isResourceRequest) return [];
  return bindings
    .filter(({ namespace }) => namespace !== "" && namespace !== question.namespace)
    .flatMap((binding) => binding.subjects.map((subject) => ({ binding, subject })))
    .filter((grant) => isFor(grant, question))
    .flatMap((grant) => allowedBy(policy, grant, question))
    .map((way) => ({ why: "other namespace", ...way }));
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

function othersWays(policy: Policy, bindings: readonly Binding[], question: Question): NearWay[] {
  return bindings
    .filter(({ namespace }) => namespace === "" || (question.isResourceRequest && namespace === question.namespace))
    .flatMap((binding) => binding.subjects.map((subject) => ({ binding, subject })))
    .filter((grant) => !isFor(grant, question) && isClose(grant.subject, question))
    .flatMap((grant) => allowedBy(policy, grant, question))
    .map((way) => ({ why: "other subject", ...way }));
}

/** A group, or a name that differs in its kind, its case, or what stands around it. Masters may do all anyway. */
function isClose({ kind, name }: Subject, { user }: Question): boolean {
  if (bareName(name) === bareName(user.name)) return true;
  return kind === "Group" && name !== "system:masters";
}

/** `oidc:Ann@example.com` and `ann` are one. */
function bareName(name: string): string {
  return (name.split(/[:#/]/).at(-1) ?? "").split("@")[0]?.toLowerCase() ?? "";
}

/** Those with the fewest rules first: a role for all is seldom what is wanted, nor are those of the system. */
function unboundRoles(roles: readonly Role[], bindings: readonly Binding[], question: Question): NearWay[] {
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
