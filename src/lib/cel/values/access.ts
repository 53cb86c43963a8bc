/** Fields and elements of values, and what has() says of them. Source: cel-go's interpreter/attributes.go */
import { isNumber, rawNumber } from "./equality.ts";
import { CelFailure, fail } from "./failure.ts";
import { goTypeNameOf, typeNameOf } from "./type-names.ts";
import { CelList, CelMap, CelObject, CelOptional, type CelValue, optionalNone, type Result } from "./value.ts";

/** `operand.name`. Of an optional, an optional. */
export function selectField(operand: CelValue, name: string): Result {
  if (operand instanceof CelMap) return found(operand.find(name), name);
  if (operand instanceof CelObject) return found(operand.field(name), name);
  return selectIndex(operand, name);
}

/** `operand[key]`. Of an optional, an optional. What has no parts lacks this one too. */
export function selectIndex(operand: CelValue, key: CelValue): Result {
  if (!isKey(key)) return noKey(key);
  if (operand instanceof CelList) {
    const element = elementAt(operand, key);
    return element === undefined ? fail(`index out of bounds: ${keyText(key)}`) : element;
  }
  if (operand instanceof CelMap) return found(operand.find(key), key);
  if (operand instanceof CelOptional) return selectOptional(operand, key);
  return operand instanceof CelObject && typeof key === "string" ? found(operand.field(key), key) : missing(key);
}

/** @returns undefined past the ends */
function elementAt(list: CelList, key: CelValue): Result | undefined {
  if (!isNumber(key)) return fail(`unsupported index type '${typeNameOf(key)}' in list`);
  const at = Number(rawNumber(key));
  if (!Number.isInteger(at)) return fail(`unsupported index value ${at} in list`);
  return at >= 0 && at < list.size ? list.at(at) : undefined;
}

/** Whether something may be looked up with it. */
export function isKey(key: CelValue): boolean {
  return typeof key === "string" || typeof key === "boolean" || isNumber(key);
}

export function noKey(key: CelValue): CelFailure {
  return fail(`invalid qualifier type: ${goTypeNameOf(key)}`);
}

/** Null is a value. */
function found(value: CelValue | undefined, key: CelValue): Result {
  return value === undefined ? missing(key) : value;
}

function missing(key: CelValue): Result {
  return fail(`no such key: ${keyText(key)}`);
}

function keyText(key: CelValue): string {
  return isNumber(key) ? String(rawNumber(key)) : String(key);
}

/** `operand.?name` and `operand[?key]`: none where there is nothing. */
export function selectOptional(operand: CelValue, key: CelValue): Result {
  const value = operand instanceof CelOptional ? operand.value : operand;
  if (!isKey(key)) return noKey(key);
  if (value === undefined) return optionalNone;
  const there = value instanceof CelList ? elementAt(value, key) : find(value, key);
  return there instanceof CelFailure ? there : optionalOf(there);
}

/** What is there, or undefined. */
export function find(operand: CelValue, key: CelValue): CelValue | undefined {
  if (operand instanceof CelOptional) return operand.value === undefined ? undefined : find(operand.value, key);
  if (operand instanceof CelMap) return operand.find(key);
  if (operand instanceof CelObject) return typeof key === "string" && operand.has(key) ? operand.field(key) : undefined;
  if (!(operand instanceof CelList)) return undefined;
  const element = elementAt(operand, key);
  return element instanceof CelFailure ? undefined : element;
}

export function optionalOf(value: CelValue | undefined): CelOptional {
  return value === undefined ? optionalNone : new CelOptional(value);
}

/** `has(operand.name)`. */
export function hasField(operand: CelValue, name: string): Result {
  if (operand instanceof CelMap) return operand.has(name);
  if (operand instanceof CelObject) return operand.has(name);
  if (operand instanceof CelOptional) return find(operand, name) !== undefined;
  return operand instanceof CelList ? fail(`unsupported index type 'string' in list`) : false;
}
