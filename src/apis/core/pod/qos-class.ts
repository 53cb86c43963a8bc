/** How a pod is served when a node runs short. Source: core helper/qos. */
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from "../../../lib/quantity/quantity.ts";
import { items, type Part } from "../../fields.ts";

const counted = ["cpu", "memory"];

/**
 * Guaranteed: every container limits cpu and memory and requests as much. BestEffort: none asks for anything. Burstable: the rest.
 * @param podResources whether what is said of the whole pod counts instead, where it is said
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
    if (count < counted.length && !(ofPod && isEmpty(resources.limits))) isLimited = false;
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

/** @returns how many of those that count are more than nothing */
function add(sum: Map<string, Quantity>, list: Part | undefined): number {
  let count = 0;
  for (const name of counted) {
    if (list === undefined || !Object.hasOwn(list, name)) continue;
    const amount = parseQuantity(String(list[name]));
    if (amount.mantissa <= 0n) continue;
    const before = sum.get(name);
    sum.set(name, before === undefined ? amount : addQuantities(amount, before));
    count++;
  }
  return count;
}
