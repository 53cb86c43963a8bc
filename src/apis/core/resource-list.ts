/**
 * Lists of resources, such as the capacity of a node: validation and precision.
 * Sources:
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/core/v1/defaults.go`,
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { formatQuantity, milliValue, parseQuantity } from "../../lib/quantity/quantity.ts";
import type { Part } from "../fields.ts";
import { byName, validateResourceQuantity } from "./pod/resources.ts";

/** Quantities that may be more precise than a thousandth. */
const finerThanMilli = /[nu]$|e-/i;

/** Rounds quantities up to thousandths. */
export function roundResources(list: Part | undefined): void {
  if (!list) return;
  for (const name of Object.keys(list)) {
    if (!finerThanMilli.test(list[name])) continue;
    const quantity = parseQuantity(list[name]);
    if (quantity.exponent >= -3) continue;
    list[name] = formatQuantity({ mantissa: BigInt(milliValue(quantity)), exponent: -3, format: quantity.format });
  }
}

/** @param at returns the path of the resource with the name */
export function validateResourceList(list: Part | undefined, at: (name: string) => string, errors: FieldErrors): void {
  for (const [name, quantity] of byName(list)) validateResourceQuantity(name, quantity, at(name), errors);
}

/** Whether a quantity in canonical form is greater than zero. */
export const isPositive = (quantity: string): boolean => quantity !== "0" && !quantity.startsWith("-");
