/** Field selection, indexing and `has()`. Source: cel-go, interpreter/attributes.go */
import { isNumber, rawNumber } from "./equality.ts";
import { CelFailure, fail } from "./failure.ts";
import { isInt } from "./int.ts";
import { goTypeNameOf, typeNameOf } from "./type-names.ts";
import { CelList, CelMap, CelObject, CelOptional, type CelValue, type Result } from "./value.ts";

/**
 * An optional that a selection returns. In a chain of selections, the next one selects from its
 * value. Other optionals have parts at the start of a chain only, such as `x` in `x.a`: the optional
 * `x.a` in `x.a.b` has none.
 */
class ChainOptional extends CelOptional {}

/** `optional.none()` as the result of a selection. */
export const chainNone: CelOptional = new ChainOptional(undefined);

/** Whether a selection from an optional selects from its value. */
export function isUnwrapped(operand: CelOptional, inChain: boolean): boolean {
  return !inChain || operand instanceof ChainOptional;
}

/** The result of a chain of selections. */
export function endOfChain(result: Result): Result {
  return result instanceof ChainOptional ? new CelOptional(result.value) : result;
}

/**
 * `operand.name`. For an optional operand, the result is an optional.
 *
 * @param inChain whether another selection returned the operand
 */
export function selectField(operand: CelValue, name: string, inChain: boolean): Result {
  if (operand instanceof CelMap) return found(operand.find(name), name);
  if (operand instanceof CelObject) return found(operand.field(name), name);
  return selectIndex(operand, name, inChain);
}

/** `operand[key]`. For an optional operand, the result is an optional. A scalar has no keys. */
export function selectIndex(operand: CelValue, key: CelValue, inChain: boolean): Result {
  if (!isKey(key)) return noKey(key);
  if (operand instanceof CelList) {
    const element = elementAt(operand, key);
    return element === undefined ? fail(`index out of bounds: ${keyText(key)}`) : element;
  }
  if (operand instanceof CelMap) return found(operand.find(key), key);
  if (operand instanceof CelOptional && isUnwrapped(operand, inChain)) return selectOptional(operand, key, inChain);
  return operand instanceof CelObject && typeof key === "string" ? found(operand.field(key), key) : missing(key);
}

/** @returns undefined for an index out of bounds */
function elementAt(list: CelList, key: CelValue): Result | undefined {
  if (!isNumber(key)) return fail(`unsupported index type '${typeNameOf(key)}' in list`);
  const at = Number(rawNumber(key));
  if (!Number.isInteger(at)) return fail(`unsupported index value ${at} in list`);
  if (at < 0 || at >= list.size) return undefined;
  return list.hasIntIndices && !isInt(key) ? fail(`unsupported index: ${at}`) : list.at(at);
}

/** Whether a value can be an index or a key. */
export function isKey(key: CelValue): boolean {
  return typeof key === "string" || typeof key === "boolean" || isNumber(key);
}

/** The failure of a lookup with a value that cannot be a key. */
export function noKey(key: CelValue): CelFailure {
  return fail(`invalid qualifier type: ${goTypeNameOf(key)}`);
}

function found(value: CelValue | undefined, key: CelValue): Result {
  return value === undefined ? missing(key) : value;
}

function missing(key: CelValue): Result {
  return fail(`no such key: ${keyText(key)}`);
}

function keyText(key: CelValue): string {
  return isNumber(key) ? String(rawNumber(key)) : String(key);
}

/** `operand.?name` and `operand[?key]`: `optional.none()` if the operand has no such part. */
export function selectOptional(operand: CelValue, key: CelValue, inChain: boolean): Result {
  const value = operand instanceof CelOptional && isUnwrapped(operand, inChain) ? operand.value : operand;
  if (!isKey(key)) return noKey(key);
  if (value === undefined || value instanceof CelOptional) return chainNone;
  const part = value instanceof CelList ? elementAt(value, key) : find(value, key);
  return part instanceof CelFailure ? part : optionalOf(part);
}

/** @returns a field or an element; undefined if the operand has no such part */
export function find(operand: CelValue, key: CelValue): CelValue | undefined {
  if (operand instanceof CelMap) return operand.find(key);
  if (operand instanceof CelObject) return typeof key === "string" && operand.has(key) ? operand.field(key) : undefined;
  if (!(operand instanceof CelList)) return undefined;
  const element = elementAt(operand, key);
  return element instanceof CelFailure ? undefined : element;
}

function optionalOf(value: CelValue | undefined): CelOptional {
  return value === undefined ? chainNone : new ChainOptional(value);
}

/** `has(operand.name)`. */
export function hasField(operand: CelValue, name: string, inChain: boolean): Result {
  if (operand instanceof CelMap) return operand.has(name);
  if (operand instanceof CelObject) return operand.has(name);
  if (operand instanceof CelOptional)
    return isUnwrapped(operand, inChain) && operand.value !== undefined ? hasField(operand.value, name, true) : false;
  return operand instanceof CelList ? fail(`unsupported index type 'string' in list`) : false;
}

/**
 * Creates a failure typed as a value, for data that does not fit its schema or a variable that
 * cannot be evaluated. The program checks every value from data for failures, although the type
 * `CelValue` excludes them.
 */
export function failedValue(message: string): CelValue {
  return fail(message) as unknown as CelValue;
}
