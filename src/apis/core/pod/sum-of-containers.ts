/**
 * Sums of the resources of a pod's containers.
 * Source: `k8s.io/component-helpers@v0.36.0/resource/helpers.go`.
 */
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from "../../../lib/quantity/quantity.ts";
import { items, type Part } from "../../fields.ts";
import { isSidecar } from "./visit-containers.ts";

type Amounts = Map<string, Quantity>;

/**
 * Containers and sidecars run at the same time. Other init containers run one at a time, together
 * with the sidecars that precede them. The result is the maximum at any time.
 *
 * @param of returns the amounts of a container as a new map; those of its spec by default
 */
export function sumOfContainers(
  { containers, initContainers }: Part,
  field: "requests" | "limits",
  of: (container: Part) => Amounts = (container) => amountsOf(container, field),
): ReadonlyMap<string, Quantity> {
  const sum: Amounts = new Map();
  for (const container of items(containers)) add(sum, of(container));
  const sidecars: Amounts = new Map();
  const initAmounts: Amounts[] = [];
  for (const container of items(initContainers)) {
    const amounts = of(container);
    if (isSidecar(container)) {
      add(sum, amounts);
      add(sidecars, amounts);
    } else {
      // Resources that only sidecars use are in the sum already.
      for (const [name, amount] of amounts) {
        const before = sidecars.get(name);
        if (before !== undefined) amounts.set(name, addQuantities(amount, before));
      }
      initAmounts.push(amounts);
    }
  }
  for (const amounts of initAmounts) raiseTo(sum, amounts);
  return sum;
}

function amountsOf({ resources }: Part, field: "requests" | "limits"): Amounts {
  return new Map(Object.entries<string>(resources?.[field] ?? {}).map(([name, text]) => [name, parseQuantity(text)]));
}

function add(sum: Amounts, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const before = sum.get(name);
    sum.set(name, before === undefined ? amount : addQuantities(before, amount));
  }
}

function raiseTo(sum: Amounts, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const before = sum.get(name);
    if (before === undefined || compareQuantities(amount, before) > 0) sum.set(name, amount);
  }
}
