/**
 * Validates a capacity of a device and the policy for requests of a part of it.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/resource/validation/validation.go
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  integerValue,
  parseQuantity,
  type Quantity,
} from "../../lib/quantity/quantity.ts";
import type { Part } from "../fields.ts";
import { validateSet } from "./lists.ts";

const optionsMax = 10;

/**
 * @param isShared whether the device allows multiple allocations, each of which may request a part
 *   of the capacity
 */
export function validateCapacity(
  { value = "0", requestPolicy }: Part,
  isShared: boolean,
  path: string,
  errors: FieldErrors,
): void {
  if (!requestPolicy) return;
  const at = `${path}.requestPolicy`;
  if (!isShared) return errors.forbidden(at, "allowMultipleAllocations must be true");
  const { validValues = [], validRange, default: defaultAmount } = requestPolicy;
  const hasValues = validValues.length > 0;
  if (hasValues && validRange) {
    return errors.forbidden(
      at,
      'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time',
    );
  }
  if (!hasValues && !validRange) return;
  if (defaultAmount === undefined)
    return errors.required(`${at}.default`, `required when ${hasValues ? "validValues" : "validRange"} is defined`);
  const amounts = { defaultAmount: parseQuantity(defaultAmount), most: parseQuantity(value) };
  if (hasValues) validateValues(validValues.map(parseQuantity), amounts, `${at}.validValues`, errors);
  else validateRange(validRange, amounts, `${at}.validRange`, errors);
}

interface Amounts {
  /** The amount for requests without one. */
  readonly defaultAmount: Quantity;
  /** The whole capacity. */
  readonly most: Quantity;
}

function validateValues(
  values: readonly Quantity[],
  { defaultAmount, most }: Amounts,
  path: string,
  errors: FieldErrors,
): void {
  for (const [index, value] of values.entries()) {
    const before = values[index - 1];
    if (before !== undefined && compareQuantities(before, value) > 0) {
      errors.invalid(`${path}[${index}]`, formatQuantity(value), "values must be sorted in ascending order");
    }
  }
  let allowsDefault = false;
  const check = (value: Quantity, at: string): void => {
    if (compareQuantities(value, most) > 0) {
      errors.invalid(at, formatQuantity(value), `option is larger than capacity value: ${formatQuantity(most)}`);
    }
    if (compareQuantities(value, defaultAmount) === 0) allowsDefault = true;
  };
  validateSet(values, { max: optionsMax, check, key: (value) => String(integerValue(value)) }, path, errors);
  if (!allowsDefault)
    errors.invalid(path, formatQuantity(defaultAmount), "default value is not valid according to the requestPolicy");
}

function validateRange(range: Part, { defaultAmount, most }: Amounts, path: string, errors: FieldErrors): void {
  if (range.min === undefined) return errors.required(`${path}.min`, "required when validRange is defined");
  const read = (text: string | undefined): Quantity | undefined =>
    text === undefined ? undefined : parseQuantity(text);
  const [min, max, step] = [parseQuantity(range.min), read(range.max), read(range.step)];
  const addError = (field: string, value: Quantity, why: string): void =>
    errors.invalid(`${path}.${field}`, formatQuantity(value), why);
  const [leastText, mostText] = [formatQuantity(min), formatQuantity(most)];
  if (compareQuantities(min, most) > 0) addError("min", min, `min is larger than capacity value: ${mostText}`);
  if (compareQuantities(defaultAmount, min) < 0)
    addError("min", defaultAmount, `default is less than min: ${leastText}`);
  if (max !== undefined) {
    if (compareQuantities(min, max) > 0) addError("max", min, `min is larger than max: ${formatQuantity(max)}`);
    if (compareQuantities(max, most) > 0) addError("max", max, `max is larger than capacity value: ${mostText}`);
    if (compareQuantities(defaultAmount, max) > 0)
      addError("max", defaultAmount, `default is more than max: ${formatQuantity(max)}`);
  }
  if (step === undefined) return;
  const first = addQuantities(min, step);
  if (compareQuantities(first, most) > 0)
    addError("step", step, `one step ${formatQuantity(first)} is larger than capacity value: ${mostText}`);
  for (const value of max === undefined ? [defaultAmount] : [defaultAmount, max]) {
    if (!isReached(value, min, step))
      addError("step", value, `value is not a multiple of a given step (${formatQuantity(step)}) from (${leastText})`);
  }
}

/** With a step of 0 only the start is reached; upstream divides by zero. */
function isReached(value: Quantity, from: Quantity, step: Quantity): boolean {
  const distance = BigInt(integerValue(value)) - BigInt(integerValue(from));
  const size = BigInt(integerValue(step));
  return size === 0n ? distance === 0n : distance % size === 0n;
}
