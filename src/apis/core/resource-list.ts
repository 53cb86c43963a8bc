/** Lists of resources, such as of what a node has: their rules and the precision they are kept at. Source: kubernetes pkg/apis/core. */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { formatQuantity, milliValue, parseQuantity } from "../../lib/quantity/quantity.ts";
import type { Part } from "../fields.ts";
import { byName, validateResourceQuantity } from "./pod/resources.ts";

/** What may have parts below the thousandth. */
const fine = /[nu]$|e-/i;

/** Thousandths are the least there is of a resource; less than one is one. */
export function roundResources(list: Part | undefined): void {
  if (!list) return;
  for (const name of Object.keys(list)) {
    if (!fine.test(list[name])) continue;
    const quantity = parseQuantity(list[name]);
    if (quantity.exponent >= -3) continue;
    list[name] = formatQuantity({ mantissa: BigInt(milliValue(quantity)), exponent: -3, format: quantity.format });
  }
}

/** @param at where each stands, by its name */
export function validateResourceList(list: Part | undefined, at: (name: string) => string, errors: FieldErrors): void {
  for (const [name, quantity] of byName(list)) validateResourceQuantity(name, quantity, at(name), errors);
}

export const isPositive = (quantity: string): boolean => quantity !== "0" && !quantity.startsWith("-");
