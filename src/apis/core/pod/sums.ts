/** What the containers of a pod ask for together. Source: component-helpers' resource helpers. */
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  type Quantity,
  zeroQuantity,
} from "../../../lib/quantity/quantity.ts";
import { items, type Part } from "../../fields.ts";
import { isSidecar } from "./containers-of.ts";

type Amounts = Map<string, Quantity>;

/** Containers run side by side, sidecars with them; init containers one after the other, each with the sidecars before it. */
export function sumOfContainers(
  { containers, initContainers }: Part,
  field: "requests" | "limits",
): ReadonlyMap<string, Quantity> {
  const sum: Amounts = new Map();
  for (const container of items(containers)) add(sum, amountsOf(container, field));
  const sidecars: Amounts = new Map();
  const starting: Amounts[] = [];
  for (const container of items(initContainers)) {
    const amounts = amountsOf(container, field);
    if (isSidecar(container)) {
      add(sum, amounts);
      add(sidecars, amounts);
    } else {
      // What only the sidecars ask for is in the sum already.
      for (const [name, amount] of amounts)
        amounts.set(name, addQuantities(amount, sidecars.get(name) ?? zeroQuantity));
      starting.push(amounts);
    }
  }
  for (const amounts of starting) raise(sum, amounts);
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

function raise(sum: Amounts, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const before = sum.get(name);
    if (before === undefined || compareQuantities(amount, before) > 0) sum.set(name, amount);
  }
}
