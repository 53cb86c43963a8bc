/**
 * Warnings for deprecated node labels.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/api/node/util.go`.
 */
import { labelValueProblems } from "../../../lib/names/names.ts";
import { items, type Part } from "../../fields.ts";

const deprecated: ReadonlyMap<string, string> = new Map([
  ["beta.kubernetes.io/arch", 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ["beta.kubernetes.io/os", 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ["failure-domain.beta.kubernetes.io/region", 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ["failure-domain.beta.kubernetes.io/zone", 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ["beta.kubernetes.io/instance-type", 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ["app.kubernetes.io/created-by", "deprecated since v1.9"],
  ["scheduler.alpha.kubernetes.io/preferAvoidPods", "deprecated since v1.22; use Taints and Tolerations instead"],
  ["node-role.kubernetes.io/master", 'use "node-role.kubernetes.io/control-plane" instead'],
]);

/** @returns the deprecation text of a node label, undefined if it is not deprecated */
export function nodeLabelDeprecation(key: string): string | undefined {
  return deprecated.get(key);
}

/** @param path of the spec of a pod */
export function warnOfNodeLabels(
  { nodeSelector, affinity, topologySpreadConstraints }: Part,
  path: string,
  warnings: string[],
): void {
  for (const key of Object.keys(nodeSelector ?? {})) {
    const text = deprecated.get(key);
    if (text !== undefined) warnings.push(`${path}.nodeSelector[${key}]: ${text}`);
  }
  if (affinity?.nodeAffinity) warnOfNodeAffinity(affinity.nodeAffinity, `${path}.affinity.nodeAffinity`, warnings);
  for (const [index, { topologyKey = "", labelSelector }] of items(topologySpreadConstraints).entries()) {
    const at = `${path}.topologySpreadConstraints[${index}]`;
    const text = deprecated.get(topologyKey);
    if (text !== undefined) warnings.push(`${at}.topologyKey: ${topologyKey} is ${text}`);
    if (!labelSelector) warnings.push(`${at}.labelSelector: a null labelSelector results in matching no pod`);
  }
}

function warnOfNodeAffinity(affinity: Part, path: string, warnings: string[]): void {
  const required = "requiredDuringSchedulingIgnoredDuringExecution";
  const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
  for (const [index, term] of items(affinity[required]?.nodeSelectorTerms).entries()) {
    warnOfNodeSelectorTerm(term, `${path}.${required}.nodeSelectorTerms[${index}]`, warnings);
  }
  for (const [index, { preference = {} }] of items(affinity[preferred]).entries()) {
    warnOfNodeSelectorTerm(preference, `${path}.${preferred}[${index}].preference`, warnings, true);
  }
}

/** @param withValues also warns of invalid values, for terms where validation accepts them */
export function warnOfNodeSelectorTerm(
  { matchExpressions }: Part,
  path: string,
  warnings: string[],
  withValues = false,
): void {
  for (const [index, { key = "", values = [] }] of items(matchExpressions).entries()) {
    const at = `${path}.matchExpressions[${index}]`;
    const text = deprecated.get(key);
    if (text !== undefined) warnings.push(`${at}.key: ${key} is ${text}`);
    if (!withValues) continue;
    for (const [place, value] of values.entries()) {
      for (const problem of labelValueProblems(value))
        warnings.push(`${at}.values[${place}]: ${value} is invalid, ${problem}`);
    }
  }
}
