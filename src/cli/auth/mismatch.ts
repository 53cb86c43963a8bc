/** Finds the one property by which an RBAC rule fails to match a request. */
import { pathMatches } from "../../apimachinery/path-pattern.ts";
import type { PolicyRule } from "../../authorization/contract.ts";
import { ruleAllows } from "../../authorization/rbac/rule.ts";
import type { Question } from "./question.ts";

/** The property of the request that the rule does not match. */
export type Mismatch = "other verb" | "other name" | "other subresource" | "other API group" | "other path";

/**
 * @returns undefined when the rule matches, or differs from the request in more than one property
 */
export function mismatchOf(rule: PolicyRule, question: Question): Mismatch | undefined {
  return question.isResourceRequest ? resourceMismatch(rule, question) : pathMismatch(rule, question);
}

function pathMismatch(
  { verbs = [], nonResourceURLs = [] }: PolicyRule,
  { verb, path }: Question,
): Mismatch | undefined {
  const hasVerb = verbs.includes(verb) || verbs.includes("*");
  if (nonResourceURLs.some((url) => pathMatches(url, path))) return hasVerb ? undefined : "other verb";
  const isNear = (url: string): boolean => {
    const fixed = url.replace(/\*$/, "");
    return fixed.length > 1 && (path.startsWith(fixed) || fixed.startsWith(path));
  };
  return hasVerb && path !== "/" && nonResourceURLs.some(isNear) ? "other path" : undefined;
}

/** Checks whether the rule would match if one of its properties had another value. */
function resourceMismatch(rule: PolicyRule, question: Question): Mismatch | undefined {
  if (ruleAllows(rule, question)) return undefined;
  const fits = (changed: Partial<PolicyRule>): boolean => ruleAllows({ ...rule, ...changed }, question);
  const { resources = [] } = rule;
  const { resource, subresource } = question;
  if (fits({ resourceNames: [] })) return "other name";
  if (fits({ verbs: ["*"], resourceNames: [] })) return (rule.verbs ?? []).length > 0 ? "other verb" : undefined;
  const sameBase = resources.some(
    (each) => each.split("/")[0] === resource || (subresource !== "" && each === `*/${subresource}`),
  );
  if (sameBase && fits({ resources: ["*", `*/${subresource}`] })) return "other subresource";
  return resources.some((each) => each !== "*") && fits({ apiGroups: ["*"] }) ? "other API group" : undefined;
}
