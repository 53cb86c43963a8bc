/** What of a rule does not fit, when it nearly does. */
import { pathMatches } from "../../apimachinery/path-pattern.ts";
import { type PolicyRule, ruleAllows } from "../../authorization/rbac/rule.ts";
import type { Question } from "./question.ts";

export type Miss = "other verb" | "other name" | "other subresource" | "other API group" | "other path";

/** @returns undefined when it fits, or is about something else altogether */
export function missOf(rule: PolicyRule, question: Question): Miss | undefined {
  return question.isResourceRequest ? resourceMiss(rule, question) : pathMiss(rule, question);
}

function pathMiss({ verbs = [], nonResourceURLs = [] }: PolicyRule, { verb, path }: Question): Miss | undefined {
  const hasVerb = verbs.includes(verb) || verbs.includes("*");
  if (nonResourceURLs.some((url) => pathMatches(url, path))) return hasVerb ? undefined : "other verb";
  const isNear = (url: string): boolean => {
    const fixed = url.replace(/\*$/, "");
    return fixed.length > 1 && (path.startsWith(fixed) || fixed.startsWith(path));
  };
  return hasVerb && path !== "/" && nonResourceURLs.some(isNear) ? "other path" : undefined;
}

/** Looks what would fit if one thing about it were otherwise. */
function resourceMiss(rule: PolicyRule, question: Question): Miss | undefined {
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
