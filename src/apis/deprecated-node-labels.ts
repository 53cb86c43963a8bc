/** Labels of nodes that nobody should select by any more, and what to tell who does. Source: kubernetes' pkg/api/node. */
import { items, type Part } from "./fields.ts";

const advice: Readonly<Record<string, string>> = {
  "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
  "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  "app.kubernetes.io/created-by": "deprecated since v1.9",
  "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
  "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
};

/** @returns undefined for labels that are as good as any */
export function nodeLabelAdvice(key: string): string | undefined {
  return Object.hasOwn(advice, key) ? advice[key] : undefined;
}

/** Of a label selector of nodes. */
export function nodeSelectorWarnings(selector: Part, path: string): string[] {
  const warnings: string[] = [];
  for (const [index, { key = "" }] of items(selector.matchExpressions).entries()) {
    const text = nodeLabelAdvice(key);
    if (text !== undefined) warnings.push(`${path}.matchExpressions[${index}].key: ${key} is ${text}`);
  }
  for (const key of Object.keys(selector.matchLabels ?? {}).sort()) {
    const text = nodeLabelAdvice(key);
    if (text !== undefined) warnings.push(`${path}.matchLabels.${key}: ${text}`);
  }
  return warnings;
}
