/**
 * Formats the explanation as text and as JSON. Names come from other users and may contain any
 * characters, so that they are quoted.
 */

import type { PolicyRule } from "../../authorization/contract.ts";
import type { Binding, Role, Subject } from "../../authorization/rbac/policy.ts";
import { printable } from "../../lib/json/printable.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { decidedBy, type Explanation, isAllowed } from "./explanation.ts";
import type { Question } from "./question.ts";
import type { MatchedRule, NearMiss, RbacMatches, RuleMatch } from "./rbac-matches.ts";

export function formatText(explanation: Explanation): string {
  const { question, verdict, rbac, notes } = explanation;
  const { authorizer, how } = decidedBy(explanation);
  const may = isAllowed(explanation) ? "may" : "may not";
  const lines = [
    ...notes.map((note) => `Note: ${note}`),
    `${formatUser(question)} ${may} ${formatRequest(question)}.`,
    `Decided by: ${authorizer} (${how})`,
    ...("problem" in verdict
      ? [`The server answered: ${verdict.problem}`]
      : formatVerdict(verdict.reason, verdict.evaluationError)),
    "",
    ...("problem" in rbac
      ? [`Roles and bindings cannot be read: ${rbac.problem}`]
      : formatRbac(rbac, question, { allowed: isAllowed(explanation) })),
  ];
  return `${lines.join("\n")}\n`;
}

function formatVerdict(reason: string, evaluationError: string): string[] {
  return [
    ...(reason === "" ? [] : [`Reason: ${indented(reason)}`]),
    ...(evaluationError === "" ? [] : [`Evaluation error: ${indented(evaluationError)}`]),
  ];
}

/** Puts each authorizer's reason on its own line. */
function indented(text: string): string {
  return text.split("\n").map(printable).join("\n  ");
}

function formatUser({ user: { name, groups } }: Question): string {
  return `User ${quoteGo(name)}${groups.length === 0 ? "" : ` (groups ${groups.map(quoteGo).join(", ")})`}`;
}

function formatRequest(question: Question): string {
  const { verb, isResourceRequest, path, group, resource, subresource, namespace, name, fieldSelector, labelSelector } =
    question;
  if (!isResourceRequest) return `${word(verb)} the path ${quoteGo(path)}`;
  const what = `${word(resource)}${group === "" ? "" : `.${word(group)}`}${subresource === "" ? "" : `/${word(subresource)}`}`;
  return [
    `${word(verb)} ${what}`,
    ...(name === "" ? [] : [quoteGo(name)]),
    ...(fieldSelector === "" ? [] : [`with the field selector ${quoteGo(fieldSelector)}`]),
    ...(labelSelector === "" ? [] : [`with the label selector ${quoteGo(labelSelector)}`]),
    namespace === "" ? "in the whole cluster" : `in the namespace ${quoteGo(namespace)}`,
  ].join(" ");
}

/** Quotes a text unless it has only characters of names. */
function word(text: string): string {
  return /^[\w*./:-]+$/.test(text) ? text : quoteGo(text);
}

function formatRbac(
  { allowing, near, more }: RbacMatches,
  question: Question,
  { allowed }: { allowed: boolean },
): string[] {
  if (allowing.length > 0) return ["RBAC allows it:", ...allowing.flatMap((match) => formatMatch(match, question))];
  if (allowed) return ["RBAC alone would not allow it."];
  if (near.length === 0) return ["RBAC does not allow it, and no rule comes close."];
  const lines = near.flatMap((each) => formatNear(each, question));
  return ["RBAC does not allow it. What comes closest:", ...lines, ...(more > 0 ? [`  … and ${more} more`] : [])];
}

function formatMatch({ binding, subject, ...found }: RuleMatch, question: Question): string[] {
  return [`  ${formatBinding(binding)} to ${formatSubject(subject, binding)}`, `    ${formatFound(found, question)}`];
}

function formatFound({ role, rule, ruleNumber }: MatchedRule, question: Question): string {
  return `${formatRole(role)}, rule ${ruleNumber}: ${formatRule(rule, question)}`;
}

function formatNear(near: NearMiss, question: Question): string[] {
  if (near.why === "not bound") return [`  not bound: ${formatFound(near, question)}`];
  const bound = `  ${near.why}: ${formatBinding(near.binding)} to ${formatSubject(near.subject, near.binding)}`;
  return [bound, `    ${near.why === "missing role" ? near.problem : formatFound(near, question)}`];
}

function formatBinding({ namespace, name }: Binding): string {
  return namespace === "" ? `ClusterRoleBinding ${quoteGo(name)}` : `RoleBinding ${quoteGo(`${namespace}/${name}`)}`;
}

function formatRole({ namespace, name }: Role): string {
  return namespace === "" ? `ClusterRole ${quoteGo(name)}` : `Role ${quoteGo(`${namespace}/${name}`)}`;
}

function formatSubject({ kind, name, namespace }: Subject, binding: Binding): string {
  if (kind !== "ServiceAccount") return `${word(kind)} ${quoteGo(name)}`;
  return `${kind} ${quoteGo(`${namespace || binding.namespace}/${name}`)}`;
}

/** Words that are shown of one list. */
const wordsMax = 6;

/** Shows the requested value first, and cuts long lists. */
function formatRule(rule: PolicyRule, { verb, resource, subresource, name, path }: Question): string {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const list = (words: readonly string[], requested: string): string => {
    const sorted = [...words.filter((each) => each === requested), ...words.filter((each) => each !== requested)];
    const shown = sorted.slice(0, wordsMax).map((each) => (each === "" ? '""' : word(each)));
    return words.length > wordsMax ? `${shown.join(", ")} … (${words.length - wordsMax} more)` : shown.join(", ");
  };
  const parts = [`verbs ${list(verbs, verb)}`];
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  if (resources.length > 0) parts.push(`resources ${list(resources, what)}`, `API groups ${list(apiGroups, "")}`);
  if (resourceNames.length > 0) parts.push(`names ${list(resourceNames, name)}`);
  if (nonResourceURLs.length > 0) parts.push(`paths ${list(nonResourceURLs, path)}`);
  return parts.join("; ");
}

export function formatJson(explanation: Explanation): string {
  const { question, verdict, rbac, notes } = explanation;
  const { user, ...request } = question;
  const { authorizer, how } = decidedBy(explanation);
  const value = {
    user: { name: user.name, groups: user.groups, ...(user.uid !== "" && { uid: user.uid }) },
    request: Object.fromEntries(Object.entries(request).filter(([, each]) => each !== "")),
    allowed: isAllowed(explanation),
    decidedBy: { authorizer, how },
    review: verdict,
    rbac:
      "problem" in rbac
        ? rbac
        : { allowing: rbac.allowing.map(plainMatch), closest: rbac.near.map(plainMatch), more: rbac.more },
    notes,
  };
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Reduces roles and bindings to their references. */
function plainMatch(match: RuleMatch | NearMiss): object {
  const { role, binding, ...rest } = match as RuleMatch;
  return {
    ...rest,
    ...(binding !== undefined && { binding: { ...which(binding, "Binding"), roleRef: binding.roleRef } }),
    ...(role !== undefined && { role: which(role, "") }),
  };
}

function which({ namespace, name }: Role | Binding, suffix: "Binding" | ""): object {
  return namespace === "" ? { kind: `ClusterRole${suffix}`, name } : { kind: `Role${suffix}`, namespace, name };
}
