/**
 * QoS class of a pod.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/helper/qos/qos.go`.
 */
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from "../../../lib/quantity/quantity.ts";
import { items, type Part } from "../../fields.ts";

const countedResources = ["cpu", "memory"];

/**
 * Guaranteed: every container has limits of cpu and memory, and equal requests. BestEffort: no
 * container has requests or limits. Burstable: all others.
 *
 * @param podResources whether pod-level resources, if set, replace those of the containers
 */
export function qosClass(spec: Part, podResources = true): "Guaranteed" | "Burstable" | "BestEffort" {
  const ofPod = podResources ? spec.resources : undefined;
  const all: Part[] = ofPod
    ? [ofPod]
    : [...items(spec.containers), ...items(spec.initContainers)].map(({ resources }) => resources ?? {});
  const [requests, limits] = [new Map<string, Quantity>(), new Map<string, Quantity>()];
  let isLimited = true;
  for (const resources of all) {
    add(requests, resources.requests);
    const count = add(limits, resources.limits);
    if (count < countedResources.length && !(ofPod && isEmpty(resources.limits))) isLimited = false;
  }
  if (requests.size === 0 && limits.size === 0) return "BestEffort";
  const isGuaranteed =
    isLimited &&
    requests.size === limits.size &&
    [...requests].every(([name, amount]) => isSame(amount, limits.get(name)));
  return isGuaranteed ? "Guaranteed" : "Burstable";
}

const isEmpty = (list: Part | undefined): boolean => list === undefined || Object.keys(list).length === 0;
const isSame = (a: Quantity, b: Quantity | undefined): boolean => b !== undefined && compareQuantities(a, b) === 0;

/** @returns the number of counted resources that are greater than zero */
function add(sum: Map<string, Quantity>, list: Part | undefined): number {
  let count = 0;
  for (const name of countedResources) {
    if (list === undefined || !Object.hasOwn(list, name)) continue;
    const amount = parseQuantity(String(list[name]));
    if (amount.mantissa <= 0n) continue;
    const before = sum.get(name);
    sum.set(name, before === undefined ? amount : addQuantities(amount, before));
    count++;
  }
  return count;
}
