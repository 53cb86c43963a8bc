/** The order of values. Source: cel-go, traits.Comparer */
import { compareBytes, compareNumbers, compareStrings, isNumber } from "./equality.ts";
import { type CelFailure, fail, noSuchOverload } from "./failure.ts";
import { CelDouble, CelDuration, CelTimestamp, type CelValue } from "./value.ts";

/** Whether values of this type have an order. */
export function isOrdered(value: CelValue): boolean {
  return (
    typeof value === "string" ||
    typeof value === "boolean" ||
    isNumber(value) ||
    value instanceof Uint8Array ||
    value instanceof CelTimestamp ||
    value instanceof CelDuration
  );
}

/**
 * Compares two values of one ordered type, or two numbers of any types.
 *
 * @returns negative, 0 or positive; a failure if the values have no order
 */
export function compareValues(left: CelValue, right: CelValue): number | CelFailure {
  if (typeof left === "string" && typeof right === "string") return compareStrings(left, right);
  if (left instanceof CelDouble && Number.isNaN(left.value)) return notANumber();
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right) ?? notANumber();
  if (typeof left === "boolean" && typeof right === "boolean") return Number(left) - Number(right);
  if (left instanceof Uint8Array && right instanceof Uint8Array) return compareBytes(left, right);
  if (left instanceof CelTimestamp && right instanceof CelTimestamp)
    return Number(left.nanoseconds > right.nanoseconds) - Number(left.nanoseconds < right.nanoseconds);
  if (left instanceof CelDuration && right instanceof CelDuration)
    return Number(left.nanoseconds > right.nanoseconds) - Number(left.nanoseconds < right.nanoseconds);
  return noSuchOverload();
}

function notANumber(): CelFailure {
  return fail("NaN values cannot be ordered");
}
