/** How much of a device there is, and how much of that may be asked for. Source: upstream's resource validation. */
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

/** @param isShared whether the device can be allocated several times, so that part of it can be asked for */
export function validateCapacity(
  { value = "0", requestPolicy }: Part,
  isShared: boolean,
  path: string,
  errors: FieldErrors,
): void {
  if (!requestPolicy) return;
  const at = `${path}.requestPolicy`;
  if (!isShared) return errors.forbidden(at, "allowMultipleAllocations must be true");
  const { validValues = [], validRange, default: preset } = requestPolicy;
  const hasValues = validValues.length > 0;
  if (hasValues && validRange) {
    return errors.forbidden(
      at,
      'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time',
    );
  }
  if (!hasValues && !validRange) return;
  if (preset === undefined)
    return errors.required(`${at}.default`, `required when ${hasValues ? "validValues" : "validRange"} is defined`);
  const amounts = { preset: parseQuantity(preset), most: parseQuantity(value) };
  if (hasValues) validateValues(validValues.map(parseQuantity), amounts, `${at}.validValues`, errors);
  else validateRange(validRange, amounts, `${at}.validRange`, errors);
}

interface Amounts {
  /** What is given to who does not say. */
  readonly preset: Quantity;
  /** All there is. */
  readonly most: Quantity;
}

function validateValues(
  values: readonly Quantity[],
  { preset, most }: Amounts,
  path: string,
  errors: FieldErrors,
): void {
  for (const [index, value] of values.entries()) {
    const before = values[index - 1];
    if (before !== undefined && compareQuantities(before, value) > 0) {
      errors.invalid(`${path}[${index}]`, formatQuantity(value), "values must be sorted in ascending order");
    }
  }
  let hasPreset = false;
  const check = (value: Quantity, at: string): void => {
    if (compareQuantities(value, most) > 0) {
      errors.invalid(at, formatQuantity(value), `option is larger than capacity value: ${formatQuantity(most)}`);
    }
    if (compareQuantities(value, preset) === 0) hasPreset = true;
  };
  validateSet(values, { max: optionsMax, check, key: (value) => String(integerValue(value)) }, path, errors);
  if (!hasPreset)
    errors.invalid(path, formatQuantity(preset), "default value is not valid according to the requestPolicy");
}

function validateRange(range: Part, { preset, most }: Amounts, path: string, errors: FieldErrors): void {
  if (range.min === undefined) return errors.required(`${path}.min`, "required when validRange is defined");
  const read = (text: string | undefined): Quantity | undefined =>
    text === undefined ? undefined : parseQuantity(text);
  const [min, max, step] = [parseQuantity(range.min), read(range.max), read(range.step)];
  const refuse = (field: string, value: Quantity, why: string): void =>
    errors.invalid(`${path}.${field}`, formatQuantity(value), why);
  const [leastText, mostText] = [formatQuantity(min), formatQuantity(most)];
  if (compareQuantities(min, most) > 0) refuse("min", min, `min is larger than capacity value: ${mostText}`);
  if (compareQuantities(preset, min) < 0) refuse("min", preset, `default is less than min: ${leastText}`);
  if (max !== undefined) {
    if (compareQuantities(min, max) > 0) refuse("max", min, `min is larger than max: ${formatQuantity(max)}`);
    if (compareQuantities(max, most) > 0) refuse("max", max, `max is larger than capacity value: ${mostText}`);
    if (compareQuantities(preset, max) > 0) refuse("max", preset, `default is more than max: ${formatQuantity(max)}`);
  }
  if (step === undefined) return;
  const first = addQuantities(min, step);
  if (compareQuantities(first, most) > 0)
    refuse("step", step, `one step ${formatQuantity(first)} is larger than capacity value: ${mostText}`);
  for (const value of max === undefined ? [preset] : [preset, max]) {
    if (!isReached(value, min, step))
      refuse("step", value, `value is not a multiple of a given step (${formatQuantity(step)}) from (${leastText})`);
  }
}

/** A step of nothing reaches nothing but where it starts (upstream divides by zero). */
function isReached(value: Quantity, from: Quantity, step: Quantity): boolean {
  const way = BigInt(integerValue(value)) - BigInt(integerValue(from));
  const size = BigInt(integerValue(step));
  return size === 0n ? way === 0n : way % size === 0n;
}
