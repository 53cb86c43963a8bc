/** Order of any two values of one type that has an order; numbers of different types are ordered too. Source: cel-go's traits.Comparer */
import { compareBytes, compareNumbers, compareStrings, isNumber } from "./equality.ts";
import { type CelFailure, fail, noSuchOverload } from "./failure.ts";
import { CelDuration, CelTimestamp, type CelValue } from "./value.ts";

/** @returns negative, 0 or positive; a failure when they have no order */
export function compareValues(left: CelValue, right: CelValue): number | CelFailure {
  if (typeof left === "string" && typeof right === "string") return compareStrings(left, right);
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right) ?? fail("NaN values cannot be ordered");
  if (typeof left === "boolean" && typeof right === "boolean") return Number(left) - Number(right);
  if (left instanceof Uint8Array && right instanceof Uint8Array) return compareBytes(left, right);
  if (left instanceof CelTimestamp && right instanceof CelTimestamp)
    return Number(left.nanoseconds > right.nanoseconds) - Number(left.nanoseconds < right.nanoseconds);
  if (left instanceof CelDuration && right instanceof CelDuration)
    return Number(left.nanoseconds > right.nanoseconds) - Number(left.nanoseconds < right.nanoseconds);
  return noSuchOverload();
}
