/**
 * `+ - * / %` and unary `-`: the values decide what is computed, as in cel-go. Source: cel-spec,
 * "List of Standard Definitions".
 */
import type { FunctionDeclaration } from "../../declarations.ts";
import {
  bytesType,
  doubleType,
  durationType,
  intType,
  listType,
  parameterType,
  stringType,
  timestampType,
  uintType,
} from "../../types.ts";
import { concatLists } from "../../values/containers.ts";
import { fail, noSuchOverload } from "../../values/failure.ts";
import {
  addInt,
  divideInt,
  int64Max,
  int64Min,
  isInt,
  multiplyInt,
  negateInt,
  remainderInt,
  subtractInt,
} from "../../values/int.ts";
import { checkedTimestamp } from "../../values/time.ts";
import { noImplementation } from "../../values/type-names.ts";
import {
  CelDouble,
  CelDuration,
  type CelInt,
  CelList,
  CelTimestamp,
  CelUint,
  type CelValue,
  type Result,
} from "../../values/value.ts";
import { concatenation, listConcatenation } from "../costs.ts";
import { declareShared, overload } from "../declare.ts";

const overflow = "integer overflow";
const list = listType(parameterType("A"));

function uint(value: bigint): Result {
  return value < 0n || value >= 2n ** 64n ? fail("unsigned integer overflow") : new CelUint(value);
}

function duration(nanoseconds: bigint): Result {
  return nanoseconds > int64Max || nanoseconds < int64Min ? fail(overflow) : new CelDuration(nanoseconds);
}

function moved({ nanoseconds, offsetSeconds }: CelTimestamp, by: bigint): Result {
  return checkedTimestamp(nanoseconds + by, offsetSeconds);
}

/** The operators of numbers: both values have the same type. */
interface NumberOperator {
  readonly int: (left: CelInt, right: CelInt) => Result;
  readonly uint: (left: bigint, right: bigint) => Result;
  /** Undefined if doubles do not have the operator. */
  readonly double?: (left: number, right: number) => number;
}

/** @returns undefined if the first value is not a number that has the operator */
function compute(operator: NumberOperator, left: CelValue, right: CelValue): Result | undefined {
  if (isInt(left)) return isInt(right) ? operator.int(left, right) : noSuchOverload();
  if (left instanceof CelUint)
    return right instanceof CelUint ? operator.uint(left.value, right.value) : noSuchOverload();
  if (!(left instanceof CelDouble) || operator.double === undefined) return undefined;
  return right instanceof CelDouble ? new CelDouble(operator.double(left.value, right.value)) : noSuchOverload();
}

function checked(of: (left: CelInt, right: CelInt) => CelInt | undefined): NumberOperator["int"] {
  return (left, right) => of(left, right) ?? fail(overflow);
}

const sum: NumberOperator = {
  int: checked(addInt),
  uint: (left, right) => uint(left + right),
  double: (left, right) => left + right,
};
const difference: NumberOperator = {
  int: checked(subtractInt),
  uint: (left, right) => uint(left - right),
  double: (left, right) => left - right,
};
const product: NumberOperator = {
  int: checked(multiplyInt),
  uint: (left, right) => uint(left * right),
  double: (left, right) => left * right,
};
const quotient: NumberOperator = {
  int: (left, right) => (right === 0 ? fail("division by zero") : checked(divideInt)(left, right)),
  uint: (left, right) => (right === 0n ? fail("division by zero") : uint(left / right)),
  double: (left, right) => left / right,
};
const remainder: NumberOperator = {
  int: (left, right) => (right === 0 ? fail("modulus by zero") : checked(remainderInt)(left, right)),
  uint: (left, right) => (right === 0n ? fail("modulus by zero") : uint(left % right)),
};

/** The operator `+`. */
export function add(left: CelValue, right: CelValue): Result {
  const number = compute(sum, left, right);
  if (number !== undefined) return number;
  if (typeof left === "string") return typeof right === "string" ? left + right : noSuchOverload();
  if (left instanceof CelList) return right instanceof CelList ? concatLists(left, right) : noSuchOverload();
  if (left instanceof Uint8Array)
    return right instanceof Uint8Array ? Uint8Array.from(Buffer.concat([left, right])) : noSuchOverload();
  if (left instanceof CelTimestamp)
    return right instanceof CelDuration ? moved(left, right.nanoseconds) : noSuchOverload();
  if (!(left instanceof CelDuration)) return noImplementation("_+_", left);
  if (right instanceof CelDuration) return duration(left.nanoseconds + right.nanoseconds);
  return right instanceof CelTimestamp ? moved(right, left.nanoseconds) : noSuchOverload();
}

function subtract(left: CelValue, right: CelValue): Result {
  const number = compute(difference, left, right);
  if (number !== undefined) return number;
  if (left instanceof CelDuration)
    return right instanceof CelDuration ? duration(left.nanoseconds - right.nanoseconds) : noSuchOverload();
  if (!(left instanceof CelTimestamp)) return noImplementation("_-_", left);
  if (right instanceof CelDuration)
    return right.nanoseconds === int64Min ? fail(overflow) : moved(left, -right.nanoseconds);
  return right instanceof CelTimestamp ? duration(left.nanoseconds - right.nanoseconds) : noSuchOverload();
}

function negate(value: CelValue): Result {
  if (isInt(value)) return negateInt(value) ?? fail(overflow);
  if (value instanceof CelDouble) return new CelDouble(-value.value);
  if (value instanceof CelDuration) return duration(-value.nanoseconds);
  return typeof value === "boolean" ? noSuchOverload() : noImplementation("-_", value);
}

function numeric(name: string, operator: NumberOperator): FunctionDeclaration["evaluate"] {
  return (left: CelValue, right: CelValue) => compute(operator, left, right) ?? noImplementation(name, left);
}

const two = { int: [intType, intType], uint: [uintType, uintType], double: [doubleType, doubleType] };

/** Overloads are in the order of cel-go: with an argument of a free type, the first one counts. */
export const arithmetic: readonly FunctionDeclaration[] = [
  declareShared(
    "_+_",
    add,
    overload("add_bytes", [bytesType, bytesType], bytesType, concatenation),
    overload("add_double", two.double, doubleType),
    overload("add_duration_duration", [durationType, durationType], durationType),
    overload("add_duration_timestamp", [durationType, timestampType], timestampType),
    overload("add_timestamp_duration", [timestampType, durationType], timestampType),
    overload("add_int64", two.int, intType),
    overload("add_list", [list, list], list, listConcatenation),
    overload("add_string", [stringType, stringType], stringType, concatenation),
    overload("add_uint64", two.uint, uintType),
  ),
  declareShared(
    "_-_",
    subtract,
    overload("subtract_double", two.double, doubleType),
    overload("subtract_duration_duration", [durationType, durationType], durationType),
    overload("subtract_int64", two.int, intType),
    overload("subtract_timestamp_duration", [timestampType, durationType], timestampType),
    overload("subtract_timestamp_timestamp", [timestampType, timestampType], durationType),
    overload("subtract_uint64", two.uint, uintType),
  ),
  declareShared(
    "_*_",
    numeric("_*_", product),
    overload("multiply_double", two.double, doubleType),
    overload("multiply_int64", two.int, intType),
    overload("multiply_uint64", two.uint, uintType),
  ),
  declareShared(
    "_/_",
    numeric("_/_", quotient),
    overload("divide_double", two.double, doubleType),
    overload("divide_int64", two.int, intType),
    overload("divide_uint64", two.uint, uintType),
  ),
  declareShared(
    "_%_",
    numeric("_%_", remainder),
    overload("modulo_int64", two.int, intType),
    overload("modulo_uint64", two.uint, uintType),
  ),
  declareShared(
    "-_",
    negate,
    overload("negate_double", [doubleType], doubleType),
    overload("negate_int64", [intType], intType),
  ),
];
