/**
 * What the containers of a pod request and are limited to, including what the kubelet has allocated
 * during a resize. Source: k8s.io/component-helpers@v0.36.0/resource/helpers.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { isPodLevelResource } from "../../apis/core/pod/resource-names.ts";
import { sumOfContainers } from "../../apis/core/pod/sum-of-containers.ts";
import { isSidecar } from "../../apis/core/pod/visit-containers.ts";
import { items, type Part } from "../../apis/fields.ts";
import { addQuantities, compareQuantities, type Quantity } from "../../lib/quantity/quantity.ts";
import { addAmounts, parseAmounts } from "./amounts.ts";
import type { Amounts } from "./contract.ts";

/** Requests of the whole pod, with its overhead. */
export function podRequests({ spec, status }: KubeObject): Amounts {
  const sum = new Map(sumOfContainers(spec, "requests", effectiveAmounts(spec, status ?? {}, "requests")));
  for (const [name, amount] of podLevelAmounts(spec, "requests")) sum.set(name, amount);
  addAmounts(sum, parseAmounts(spec.overhead));
  return sum;
}

/** Limits of the whole pod; the overhead is added to those that are not zero. */
export function podLimits({ spec, status }: KubeObject): Amounts {
  const sum = new Map(sumOfContainers(spec, "limits", effectiveAmounts(spec, status ?? {}, "limits")));
  for (const [name, amount] of podLevelAmounts(spec, "limits")) sum.set(name, amount);
  for (const [name, amount] of parseAmounts(spec.overhead)) {
    const before = sum.get(name);
    if (before !== undefined && before.mantissa !== 0n) sum.set(name, addQuantities(before, amount));
  }
  return sum;
}

/** Whether the pod has requests or limits as a whole. */
export function hasPodLevelResources({ resources }: Part): boolean {
  return [resources?.requests, resources?.limits].some((list) => Object.keys(list ?? {}).some(isPodLevelResource));
}

function podLevelAmounts({ resources }: Part, field: "requests" | "limits"): [string, Quantity][] {
  return [...parseAmounts(resources?.[field])].filter(([name]) => isPodLevelResource(name));
}

/** Returns a function for sums: of a container, the largest amounts of spec, status and allocation. */
function effectiveAmounts(
  spec: Part,
  status: Part,
  field: "requests" | "limits",
): ((container: Part) => Map<string, Quantity>) | undefined {
  const statuses = [...items(status.containerStatuses), ...items(status.initContainerStatuses)];
  if (!statuses.some(({ resources }) => resources)) return undefined;
  const isInfeasible =
    items(status.conditions).find(({ type }) => type === "PodResizePending")?.reason === "Infeasible";
  const lastByName = new Map(statuses.map((one) => [one.name, one]));
  const plainInit = new Set(items(spec.initContainers).filter((container) => !isSidecar(container)));
  return (container) => {
    const own = parseAmounts(container.resources?.[field]);
    const found = lastByName.get(container.name);
    if (!found?.resources || plainInit.has(container)) return own;
    const largest = isInfeasible ? new Map<string, Quantity>() : own;
    raiseTo(largest, parseAmounts(found.resources[field]));
    if (field === "requests") raiseTo(largest, parseAmounts(found.allocatedResources));
    return largest;
  };
}

function raiseTo(largest: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const before = largest.get(name);
    if (before === undefined || compareQuantities(amount, before) > 0) largest.set(name, amount);
  }
}
