/**
 * Decides which requests a webhook or policy applies to. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/matching/matching.go.
 */
import { internalError } from "../../apimachinery/errors.ts";
import type { GroupVersionResource, KubeObject } from "../../apimachinery/object.ts";
import type { Catalog } from "../../catalog/contract.ts";
import { type LabelSelector, matchesLabels } from "../../lib/selectors/label.ts";
import { type LabelSelectorObject, labelSelectorFromObject } from "../../lib/selectors/label-object.ts";
import { SelectorError } from "../../lib/selectors/selector-error.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { Match, MatchCriteria, Matcher } from "./contract.ts";
import {
  equivalentResources,
  type FindEquivalents,
  kindOfResource,
  requestedKind,
  requestedResource,
} from "./kinds.ts";
import { type Namespaces, namespacesOf } from "./namespaces.ts";
import { type CompiledRule, compileRule, matchesName, matchesRule } from "./rules.ts";

/** Compiles the criteria of webhooks and policies of one server. */
export interface Matching {
  readonly namespaces: Namespaces;
  /** Compiles criteria. Errors of selectors are thrown by `match`. */
  compile(criteria: MatchCriteria): Matcher;
}

/** Creates what the matchers of one server share. */
export function openMatching(catalog: Catalog): Matching {
  const namespaces = namespacesOf(catalog);
  const findEquivalents = equivalentResources(catalog);
  return { namespaces, compile: (criteria) => compileMatcher(criteria, { catalog, namespaces, findEquivalents }) };
}

interface Needs {
  readonly catalog: Catalog;
  readonly namespaces: Namespaces;
  readonly findEquivalents: FindEquivalents;
}

function compileMatcher(criteria: MatchCriteria, needs: Needs): Matcher {
  const included = criteria.resourceRules.map(compileRule);
  const excluded = (criteria.excludeResourceRules ?? []).map(compileRule);
  const namespaceSelector = parseSelector(criteria.namespaceSelector);
  const objectSelector = parseSelector(criteria.objectSelector);
  const options = { ...needs, isExact: criteria.matchPolicy === "Exact" };
  const matchesNamespace = async (attributes: AdmissionAttributes): Promise<boolean> => {
    const selector = valid(namespaceSelector);
    return matchesLabels(selector, await needs.namespaces.labels(attributes));
  };
  return {
    mayMatch: (attributes) =>
      (included.length === 0 && criteria.isOpen === true) ||
      [requestedResource(attributes), ...needs.findEquivalents(attributes)].some((resource) =>
        included.some((rule) => matchesRule(rule, attributes, resource)),
      ),
    async match(attributes) {
      const match =
        included.length === 0 && criteria.isOpen
          ? { resource: requestedResource(attributes), kind: requestedKind(attributes) }
          : findMatch(included, attributes, options);
      if (match === undefined || !matchesObject(objectSelector, attributes)) return undefined;
      if (excluded.length > 0 && findMatch(excluded, attributes, options) !== undefined) return undefined;
      if (dependsOnNamespace(namespaceSelector, attributes) && !(await matchesNamespace(attributes))) return undefined;
      return match;
    },
  };
}

interface FindOptions extends Pick<Needs, "catalog" | "findEquivalents"> {
  readonly isExact: boolean;
}

/**
 * The first rule that matches the request itself, else the first that matches it as an equivalent
 * resource.
 */
function findMatch(
  rules: readonly CompiledRule[],
  attributes: AdmissionAttributes,
  { catalog, findEquivalents, isExact }: FindOptions,
): Match | undefined {
  const requested = requestedResource(attributes);
  for (const rule of rules)
    if (matches(rule, attributes, requested)) return { resource: requested, kind: requestedKind(attributes) };
  const equivalents = isExact ? [] : findEquivalents(attributes);
  return equivalents.length === 0 ? undefined : findEquivalent(rules, attributes, equivalents, catalog);
}

function findEquivalent(
  rules: readonly CompiledRule[],
  attributes: AdmissionAttributes,
  equivalents: readonly GroupVersionResource[],
  catalog: Catalog,
): Match | undefined {
  for (const rule of rules) {
    const resource = equivalents.find((equivalent) => matches(rule, attributes, equivalent));
    if (resource === undefined) continue;
    const kind = kindOfResource(catalog, resource, attributes.subresource);
    if (kind !== undefined) return { resource, kind };
  }
  return undefined;
}

function matches(rule: CompiledRule, attributes: AdmissionAttributes, resource: GroupVersionResource): boolean {
  return matchesRule(rule, attributes, resource) && matchesName(rule.rule, attributes.name);
}

/** A compiled selector, or why it is invalid. */
type Selector = LabelSelector | { readonly invalid: string };

function parseSelector(object: LabelSelectorObject): Selector {
  try {
    return labelSelectorFromObject(object);
  } catch (error) {
    if (error instanceof SelectorError) return { invalid: error.message };
    throw error;
  }
}

/** @throws ApiError 500 */
function valid(selector: Selector): LabelSelector {
  if ("invalid" in selector) throw internalError(selector.invalid);
  return selector;
}

function isEmpty(selector: Selector): boolean {
  return !("invalid" in selector) && selector.requirements.length === 0;
}

/** Cluster-scoped objects except namespaces always match. */
function dependsOnNamespace(selector: Selector, { namespace, target }: AdmissionAttributes): boolean {
  if (isEmpty(selector)) return false;
  return namespace !== "" || target.resource.definition.resource === "namespaces";
}

/** Whether the new or the old object has the labels. */
function matchesObject(selector: Selector, { object, oldObject }: AdmissionAttributes): boolean {
  if (isEmpty(selector)) return true;
  const requirements = valid(selector);
  return hasLabels(object, requirements) || hasLabels(oldObject, requirements);
}

function hasLabels(object: KubeObject | undefined, requirements: LabelSelector): boolean {
  if (object?.metadata === undefined) return false;
  return matchesLabels(requirements, new Map(Object.entries(object.metadata.labels ?? {})));
}
