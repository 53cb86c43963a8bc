/** Rejects rules that can never apply: they would only hide that a test does not test what it says. */
import type { ResourceDefinition } from "../../catalog/contract.ts";
import { FaultRuleError } from "./check-rule.ts";
import type { Fault, FaultRule, TextMatch } from "./contract.ts";
import { canApply, textMatcher } from "./match.ts";

/** The names of a resource. */
export type ResourceNames = Pick<ResourceDefinition, "group" | "resource" | "singular" | "kind" | "shortNames">;

/** The names of rule and fault in messages. */
export interface CheckedFields {
  readonly rule: string;
  readonly fault: string;
}

const resourceVerbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "proxy"];
const pathVerbs = ["get", "head", "post", "put", "patch", "delete", "options"];
/** Requests to which these apply have no subresource. */
const withoutSubresource: ReadonlySet<Fault["type"]> = new Set([
  "gone",
  "staleRead",
  "cutWatch",
  "stallWatch",
  "missingBookmark",
]);

/**
 * @param resources those that the server has now; others can be added later
 * @throws FaultRuleError which names what is possible
 */
export function checkPossible(
  rule: FaultRule,
  fault: Fault,
  resources: readonly ResourceNames[],
  fields: CheckedFields,
): void {
  const { type } = fault;
  checkResources(rule.resource, resources, `${fields.rule}.resource`);
  const ofPaths = pathVerbs.filter((verb) => canApply(fault, infoOf(verb, false)));
  const ofResources = resourceVerbs.filter((verb) => canApply(fault, infoOf(verb, true)));
  const [forPaths, forResources] = [matches(rule.resource, ""), !isOnly(rule.resource, "")];
  if (!forResources && ofPaths.length === 0)
    throw new FaultRuleError(`${fields.fault}.type`, `${type} applies only to requests for resources`);
  const possible = [...(forResources ? ofResources : []), ...(forPaths ? ofPaths : [])];
  if (!possible.some((verb) => matches(rule.verb, verb)))
    throw new FaultRuleError(
      `${fields.rule}.verb`,
      `${type} never applies to ${[rule.verb].flat().join(", ")}: only to ${[...new Set(possible)].join(", ")}`,
    );
  if (withoutSubresource.has(type) && !matches(rule.subresource, ""))
    throw new FaultRuleError(`${fields.rule}.subresource`, `${type} applies only to requests without a subresource`);
}

function infoOf(verb: string, isResourceRequest: boolean): Parameters<typeof canApply>[1] {
  return { info: { verb, isResourceRequest, subresource: "" } };
}

/** Whether a condition holds for a text; one that is not set always does. */
function matches(match: TextMatch | undefined, text: string): boolean {
  return match === undefined || [match].flat().some((pattern) => textMatcher(pattern)(text));
}

function isOnly(match: TextMatch | undefined, text: string): boolean {
  return match !== undefined && [match].flat().every((pattern) => pattern === text);
}

/** @throws FaultRuleError */
function checkResources(match: TextMatch | undefined, resources: readonly ResourceNames[], field: string): void {
  for (const word of match === undefined ? [] : [match].flat()) {
    if (word.includes("/"))
      throw new FaultRuleError(field, `"${word.slice(0, 50)}": the subresource is a field of its own, subresource`);
    const right = word.includes("*") ? undefined : rightWord(word, resources);
    if (right !== undefined) throw new FaultRuleError(field, `no resource has the name "${word}": use ${right}`);
  }
}

/** @returns the name of the resource that another word means; undefined for unknown ones */
function rightWord(word: string, resources: readonly ResourceNames[]): string | undefined {
  const [base = "", ...rest] = word.split(".");
  const group = rest.join(".");
  const inGroup = resources.filter((one) => group === "" || one.group === group);
  if (inGroup.some(({ resource }) => resource === base)) return undefined;
  const lower = base.toLowerCase();
  const found = inGroup.find(
    ({ resource, singular, kind, shortNames }) =>
      resource === lower || singular === lower || kind.toLowerCase() === lower || shortNames.includes(lower),
  );
  return found && `${found.resource}${group === "" ? "" : `.${group}`}`;
}
