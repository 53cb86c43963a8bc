/** Fields and elements of values, and what has() says of them. Source: cel-go's interpreter/attributes.go */
import { isNumber, rawNumber } from "./equality.ts";
import { fail, noSuchOverload } from "./failure.ts";
import { typeNameOf } from "./type-names.ts";
import { CelList, CelMap, CelObject, CelOptional, type CelValue, optionalNone, type Result } from "./value.ts";

/** `operand.name`. Of an optional, an optional. */
export function selectField(operand: CelValue, name: string): Result {
  if (operand instanceof CelObject) return found(operand.field(name), name);
  if (operand instanceof CelMap) return found(operand.find(name), name);
  return operand instanceof CelOptional ? selectOptional(operand, name) : noSuchOverload();
}

/** `operand[key]`. Of an optional, an optional. */
export function selectIndex(operand: CelValue, key: CelValue): Result {
  if (operand instanceof CelList) {
    const at = indexOf(key);
    if (at === undefined) return fail(`unsupported index type '${typeNameOf(key)}' in list`);
    return at >= 0 && at < operand.size && Number.isInteger(at) ? operand.at(at) : fail(`index out of bounds: ${at}`);
  }
  if (operand instanceof CelMap) return found(operand.find(key), key);
  if (operand instanceof CelObject && typeof key === "string") return selectField(operand, key);
  return operand instanceof CelOptional ? selectOptional(operand, key) : noSuchOverload();
}

/** Null is a value. */
function found(value: CelValue | undefined, key: CelValue): Result {
  return value === undefined ? fail(`no such key: ${keyText(key)}`) : value;
}

function indexOf(key: CelValue): number | undefined {
  return isNumber(key) ? Number(rawNumber(key)) : undefined;
}

function keyText(key: CelValue): string {
  return isNumber(key) ? String(rawNumber(key)) : String(key);
}

/** `operand.?name` and `operand[?key]`: none where there is nothing. */
export function selectOptional(operand: CelValue, key: CelValue): Result {
  const value = operand instanceof CelOptional ? operand.value : operand;
  if (value === undefined) return optionalNone;
  if (!(value instanceof CelList || value instanceof CelMap || value instanceof CelObject)) return noSuchOverload();
  return optionalOf(find(value, key));
}

/** What is there, or undefined. */
export function find(operand: CelValue, key: CelValue): CelValue | undefined {
  if (operand instanceof CelOptional) return operand.value === undefined ? undefined : find(operand.value, key);
  if (operand instanceof CelMap) return operand.find(key);
  if (operand instanceof CelObject) return typeof key === "string" && operand.has(key) ? operand.field(key) : undefined;
  if (!(operand instanceof CelList)) return undefined;
  const at = indexOf(key);
  return at !== undefined && at >= 0 && at < operand.size && Number.isInteger(at) ? operand.at(at) : undefined;
}

export function optionalOf(value: CelValue | undefined): CelOptional {
  return value === undefined ? optionalNone : new CelOptional(value);
}

/** `has(operand.name)`. */
export function hasField(operand: CelValue, name: string): Result {
  if (operand instanceof CelObject) return operand.has(name);
  if (operand instanceof CelMap || operand instanceof CelOptional) return find(operand, name) !== undefined;
  return noSuchOverload();
}
