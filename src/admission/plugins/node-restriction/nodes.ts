/**
 * A node can write its own Node, except its taints, owners, and the labels that are reserved for
 * administrators.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { rejection } from "../../rejection.ts";
import { sameField } from "../../same-field.ts";
import type { Check } from "./contract.ts";

export const checkNode: Check = async ({ node, attributes }) => {
  const { operation, name, object, oldObject } = attributes;
  const self = quoteGo(node);
  if (name !== node) throw rejection(attributes, `node ${self} is not allowed to modify node ${quoteGo(name)}`);
  if (object === undefined) return;
  const configSource = object.spec?.configSource;
  if (operation === "CREATE") {
    if (configSource !== undefined)
      throw rejection(attributes, `node ${self} is not allowed to create pods with a non-nil configSource`);
    const forbidden = forbiddenLabels(object, undefined);
    if (forbidden.length > 0)
      throw rejection(attributes, `node ${self} is not allowed to set the following labels: ${forbidden.join(", ")}`);
    return;
  }
  if (
    configSource !== undefined &&
    (oldObject?.spec?.configSource === undefined || !sameField(attributes, "spec.configSource"))
  ) {
    throw rejection(attributes, `node ${self} is not allowed to update configSource to a new non-nil configSource`);
  }
  if (!sameField(attributes, "spec.taints"))
    throw rejection(attributes, `node ${self} is not allowed to modify taints`);
  if (!sameField(attributes, "metadata.ownerReferences")) {
    throw rejection(attributes, `node ${self} is not allowed to modify ownerReferences`);
  }
  const forbidden = forbiddenLabels(object, oldObject);
  if (forbidden.length > 0) throw rejection(attributes, `is not allowed to modify labels: ${forbidden.join(", ")}`);
};

/** Labels of the Kubernetes domains that kubelets can set. */
const kubeletLabels: ReadonlySet<string> = new Set([
  "beta.kubernetes.io/arch",
  "beta.kubernetes.io/instance-type",
  "beta.kubernetes.io/os",
  "failure-domain.beta.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "kubernetes.io/arch",
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "node.kubernetes.io/instance-type",
  "topology.kubernetes.io/region",
  "topology.kubernetes.io/zone",
]);

/** @returns the keys of changed labels that a node cannot set, sorted */
function forbiddenLabels({ metadata }: KubeObject, old: KubeObject | undefined): string[] {
  const [next, before] = [metadata.labels ?? {}, old?.metadata.labels ?? {}];
  const value = (labels: Record<string, string>, key: string): string | undefined =>
    Object.hasOwn(labels, key) ? labels[key] : undefined;
  const keys = new Set([...Object.keys(next), ...Object.keys(before)]);
  return [...keys].filter((key) => value(next, key) !== value(before, key) && !isAllowedLabel(key)).sort();
}

function isAllowedLabel(key: string): boolean {
  const domain = key.includes("/") ? key.slice(0, key.indexOf("/")) : "";
  if (isWithin(domain, "node-restriction.kubernetes.io")) return false;
  if (!isWithin(domain, "kubernetes.io") && !isWithin(domain, "k8s.io")) return true;
  return kubeletLabels.has(key) || isWithin(domain, "kubelet.kubernetes.io") || isWithin(domain, "node.kubernetes.io");
}

function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}
