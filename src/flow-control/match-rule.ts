/**
 * Compiles the rules of flow schemas, without their subjects.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/rule.go.
 */
import { items, type Part } from "../apis/fields.ts";
import type { RequestDigest } from "./contract.ts";

type Info = RequestDigest["info"];

/** Whether a rule matches a request of one of its subjects. */
export type RuleMatcher = (info: Info) => boolean;

/** Matches a text; undefined matches all. */
type Texts = readonly string[] | undefined;

interface ResourceRule {
  readonly verbs: Texts;
  readonly groups: Texts;
  readonly resources: Texts;
  readonly namespaces: Texts;
  readonly clusterScope: boolean;
}

interface PathRule {
  readonly verbs: Texts;
  readonly paths: readonly string[];
}

/** @param rule one of `spec.rules` */
export function compileRule({ resourceRules, nonResourceRules }: Part): RuleMatcher {
  const ofResources = items(resourceRules).map(resourceRule);
  const ofPaths = items(nonResourceRules).map(pathRule);
  return (info) =>
    info.isResourceRequest
      ? ofResources.some((rule) => matchesResource(rule, info))
      : ofPaths.some((rule) => matchesPath(rule, info));
}

/** The wildcard counts only if it is alone. */
function textsOf(list: readonly string[] = []): Texts {
  return list.length === 1 && list[0] === "*" ? undefined : list;
}

function resourceRule({ verbs, apiGroups, resources, namespaces, clusterScope = false }: Part): ResourceRule {
  return {
    verbs: textsOf(verbs),
    groups: textsOf(apiGroups),
    resources: textsOf(resources),
    namespaces: textsOf(namespaces),
    clusterScope,
  };
}

function pathRule({ verbs, nonResourceURLs = [] }: Part): PathRule {
  return { verbs: textsOf(verbs), paths: nonResourceURLs };
}

const has = (texts: Texts, text: string): boolean => texts === undefined || texts.includes(text);

function matchesResource(
  { verbs, groups, resources, namespaces, clusterScope }: ResourceRule,
  { verb, group, resource, subresource, namespace }: Info,
): boolean {
  return (
    has(verbs, verb) &&
    (resources === undefined || resources.includes(subresource === "" ? resource : `${resource}/${subresource}`)) &&
    has(groups, group) &&
    (namespace === "" ? clusterScope : has(namespaces, namespace))
  );
}

/** A path also matches the paths below it, with or without `/*` at its end. */
function matchesPath({ verbs, paths }: PathRule, { verb, path }: Info): boolean {
  return has(verbs, verb) && paths.some((one) => one === "*" || one === path || path.startsWith(prefixOf(one)));
}

function prefixOf(path: string): string {
  const prefix = path.endsWith("*") ? path.slice(0, -1) : path;
  return prefix.endsWith("/") ? prefix : `${prefix}/`;
}
