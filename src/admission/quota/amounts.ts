/**
 * Lists of resources with amounts.
 * Source: k8s.io/apiserver@v0.36.0/pkg/quota/v1/resources.go.
 */
import {
  addQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  subtractQuantities,
  zeroQuantity,
} from "../../lib/quantity/quantity.ts";
import type { Amounts } from "./contract.ts";

/** The quantity of one object. */
export const one: Quantity = parseQuantity("1");

/** Parses a list such as `spec.hard`; an absent one is empty. */
export function parseAmounts(list: Readonly<Record<string, string>> | undefined | null): Map<string, Quantity> {
  const amounts = new Map<string, Quantity>();
  for (const name in list) amounts.set(name, parseQuantity(String(list[name])));
  return amounts;
}

/** Formats amounts as a field of an object, with sorted names. */
export function formatAmounts(amounts: Amounts): Record<string, string> {
  const names = [...amounts.keys()].sort();
  return Object.fromEntries(names.map((name) => [name, formatQuantity(amounts.get(name) as Quantity)]));
}

/** Formats amounts for messages: `cpu=1,memory=1Gi`, sorted. */
export function describeAmounts(names: readonly string[], amounts: Amounts): string {
  return names
    .filter((name) => amounts.has(name))
    .sort()
    .map((name) => `${name}=${formatQuantity(amounts.get(name) as Quantity)}`)
    .join(",");
}

/** Adds to a sum. */
export function addAmounts(sum: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const before = sum.get(name);
    sum.set(name, before === undefined ? amount : addQuantities(before, amount));
  }
}

/** Returns what a limit leaves; zero if more than the limit is used. */
export function leftOf(hard: Quantity, used: Quantity): Quantity {
  const left = subtractQuantities(hard, used);
  return left.mantissa < 0n ? zeroQuantity : left;
}
