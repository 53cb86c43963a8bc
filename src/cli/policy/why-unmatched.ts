/**
 * Says why a policy or binding does not match a request. Sources: matching.go in
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/matching, and rules.go in
 * pkg/admission/plugin/webhook/predicates/rules.
 */
import { isObject } from "../../lib/json/values.ts";
import { matchesLabels } from "../../lib/selectors/label.ts";
import {
  formatLabelSelectorObject,
  type LabelSelectorObject,
  labelSelectorFromObject,
} from "../../lib/selectors/label-object.ts";
import type { PlainObject } from "../cel/documents.ts";
import type { TestedRequest } from "./tested-request.ts";

/** `matchConstraints` or `matchResources`, as written. */
interface Criteria {
  readonly resourceRules?: readonly Rule[];
  readonly excludeResourceRules?: readonly Rule[];
  readonly namespaceSelector?: LabelSelectorObject;
  readonly objectSelector?: LabelSelectorObject;
  readonly matchPolicy?: string;
}

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly operations?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly scope?: string;
}

/** @param field the name of the criteria, such as `matchConstraints` @returns undefined for a match */
export function whyUnmatched(
  criteria: Criteria | undefined,
  request: TestedRequest,
  field: string,
): string | undefined {
  if (criteria === undefined) return undefined;
  const { resourceRules = [], excludeResourceRules = [], namespaceSelector, objectSelector, matchPolicy } = criteria;
  const isExact = matchPolicy === "Exact";
  if (resourceRules.length > 0) {
    const reasons = resourceRules.map((rule) => whyRuleUnmatched(rule, request, isExact));
    if (!reasons.includes(undefined))
      return reasons.map((reason, index) => `${field}.resourceRules[${index}]: ${reason}`).join("; ");
  }
  const excluded = excludeResourceRules.findIndex((rule) => whyRuleUnmatched(rule, request, isExact) === undefined);
  if (excluded >= 0) return `${field}.excludeResourceRules[${excluded}] matches`;
  if (request.namespaceObject !== undefined && !selects(namespaceSelector, [request.namespaceObject]))
    return `${field}.namespaceSelector: the namespace ${request.namespace} does not have ${formatLabelSelectorObject(namespaceSelector)}`;
  if (!selects(objectSelector, [request.object, request.oldObject]))
    return `${field}.objectSelector: the object does not have ${formatLabelSelectorObject(objectSelector)}`;
  return undefined;
}

/** With `matchPolicy: Equivalent`, another version of the group matches, too. */
function whyRuleUnmatched(rule: Rule, request: TestedRequest, isExact: boolean): string | undefined {
  const { operation, group, version, resource, namespace, name } = request;
  const resources = (rule.resources ?? []).map((each) => each.replace(/^\*\/\*$/, "*"));
  if (!includes(rule.operations, operation)) return `operations do not include ${operation}`;
  if (!includes(rule.apiGroups, group)) return `apiGroups do not include ${JSON.stringify(group)}`;
  if (isExact && !includes(rule.apiVersions, version)) return `apiVersions do not include ${version}`;
  if (!includes(resources, resource)) return `resources do not include ${resource}`;
  if (rule.scope === "Namespaced" && namespace === "") return "the scope is Namespaced";
  if (rule.scope === "Cluster" && namespace !== "") return "the scope is Cluster";
  const { resourceNames = [] } = rule;
  return resourceNames.length === 0 || resourceNames.includes(name)
    ? undefined
    : `resourceNames do not include ${JSON.stringify(name)}`;
}

function includes(list: readonly string[] | undefined, item: string): boolean {
  return list?.some((each) => each === "*" || each === item) ?? false;
}

function selects(selector: LabelSelectorObject | undefined, objects: readonly (PlainObject | null)[]): boolean {
  if (selector === undefined) return true;
  const parsed = labelSelectorFromObject(selector);
  return objects.some((object) => object !== null && matchesLabels(parsed, labelsOf(object)));
}

function labelsOf({ metadata }: PlainObject): ReadonlyMap<string, string> {
  const labels = isObject(metadata) && isObject(metadata.labels) ? metadata.labels : {};
  return new Map(Object.entries(labels).map(([key, value]) => [key, String(value)]));
}
