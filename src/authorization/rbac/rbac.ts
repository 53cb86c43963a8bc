/** The mode RBAC. Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/auth/authorizer/rbac/rbac.go. */
import type { UserInfo } from "../../apimachinery/user.ts";
import { joinErrors, quoteGo } from "../../lib/json/quote.ts";
import type { Authorizer, PolicyRule } from "../contract.ts";
import { noOpinion } from "../decisions.ts";
import { allowingGrant } from "./allowing-grant.ts";
import { type Binding, boundRole, type Grant, type Policy, type Role, type Subject } from "./policy.ts";

/** @returns an authorizer that allows each request that a role bound to the user allows */
export function rbacAuthorizer(policy: Policy): Authorizer {
  return (request) => {
    const problems = new Set<string>();
    for (const grants of policy.grantLists(request.user, request.isResourceRequest ? request.namespace : "")) {
      const grant = allowingGrant(policy, grants, request, problems);
      if (grant !== undefined) return { decision: "allow", reason: `RBAC: allowed by ${describeGrant(grant)}` };
    }
    return problems.size === 0 ? noOpinion : { decision: "noOpinion", reason: `RBAC: ${joinErrors([...problems])}` };
  };
}

/** Rules of a user, and one message for each role that could not be resolved. */
interface FoundRules {
  readonly rules: PolicyRule[];
  readonly problems: string[];
}

/**
 * Finds what the user may do: the rules of all roles that are bound to the user, those of each role once.
 *
 * @param missingAs as in {@link boundRole}
 */
export function rulesFor(policy: Policy, user: UserInfo, namespace: string, missingAs?: string): FoundRules {
  const rules: PolicyRule[] = [];
  const problems = new Set<string>();
  const seen = new Set<Role | string>();
  for (const { binding } of policy.grants(user, namespace)) {
    const role = boundRole(policy, binding, missingAs);
    if (seen.has(role)) continue;
    seen.add(role);
    if (typeof role === "string") problems.add(role);
    else for (const rule of role.rules) rules.push(rule); // A role can have more rules than a call has arguments.
  }
  return { rules, problems: [...problems] };
}

/** Of listed rules, with a hundred more for each: a thousand bindings of one large role would be gigabytes. */
const listedCharactersMax = 4 * 1024 * 1024;

/**
 * Lists the rules of each binding of the user, like upstream, until they are too long.
 *
 * @returns `incomplete`: whether rules are missing, which is also a problem
 */
export function listedRules(
  policy: Policy,
  user: UserInfo,
  namespace: string,
): FoundRules & { readonly incomplete: boolean } {
  const rules: PolicyRule[] = [];
  const problems = new Set<string>();
  const seen = new Set<Binding>();
  let characters = 0;
  for (const { binding } of policy.grants(user, namespace)) {
    if (seen.has(binding)) continue;
    seen.add(binding);
    const role = boundRole(policy, binding);
    if (typeof role === "string") problems.add(role);
    else
      for (const rule of role.rules) {
        characters += charactersOf(rule);
        if (characters > listedCharactersMax) {
          problems.add(`the rules of the user are too long, and only the first ${rules.length} are listed`);
          return { rules, problems: [...problems], incomplete: true };
        }
        rules.push(rule);
      }
  }
  return { rules, problems: [...problems], incomplete: false };
}

function charactersOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number {
  let sum = 100;
  for (const list of [verbs, apiGroups, resources, resourceNames, nonResourceURLs])
    for (const { length } of list ?? []) sum += length + 3; // With its quotes and comma.
  return sum;
}

/** Formats a grant for the reason of a decision. */
function describeGrant({ binding, subject }: Grant): string {
  const { name, namespace, roleRef } = binding;
  const what =
    namespace === "" ? `ClusterRoleBinding ${quoteGo(name)}` : `RoleBinding ${quoteGo(`${name}/${namespace}`)}`;
  return `${what} of ${roleRef.kind} ${quoteGo(roleRef.name)} to ${describeSubject(subject, namespace)}`;
}

function describeSubject({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  if (kind !== "ServiceAccount") return `${kind} ${quoteGo(name)}`;
  return `${kind} ${quoteGo(`${name}/${namespace === "" ? bindingNamespace : namespace}`)}`;
}
