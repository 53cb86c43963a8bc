/**
 * `+ - * / %` and unary `-`. Overloads are in the order of cel-go: the first one that fits is
 * called for values whose type the checker does not know.
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
import { fail } from "../../values/failure.ts";
import {
  addInt,
  divideInt,
  int64Max,
  int64Min,
  multiplyInt,
  negateInt,
  remainderInt,
  subtractInt,
} from "../../values/int.ts";
import { checkedTimestamp } from "../../values/time.ts";
import {
  CelDouble,
  CelDuration,
  type CelInt,
  type CelList,
  type CelTimestamp,
  CelUint,
  type Result,
} from "../../values/value.ts";
import { concatenation, listConcatenation } from "../costs.ts";
import { declare, overload } from "../declare.ts";

const overflow = "integer overflow";
const list = listType(parameterType("A"));

function ints(compute: (left: CelInt, right: CelInt) => CelInt | undefined): (left: CelInt, right: CelInt) => Result {
  return (left, right) => compute(left, right) ?? fail(overflow);
}

/** @param zero message for a divisor of zero */
function dividing(
  compute: (left: CelInt, right: CelInt) => CelInt | undefined,
  zero: string,
): (left: CelInt, right: CelInt) => Result {
  return (left, right) => (right === 0 ? fail(zero) : (compute(left, right) ?? fail(overflow)));
}

function uints(compute: (left: bigint, right: bigint) => bigint): (left: CelUint, right: CelUint) => Result {
  return (left, right) => {
    const value = compute(left.value, right.value);
    return value < 0n || value >= 2n ** 64n ? fail("unsigned integer overflow") : new CelUint(value);
  };
}

function uintDividing(
  compute: (left: bigint, right: bigint) => bigint,
  zero: string,
): (left: CelUint, right: CelUint) => Result {
  return (left, right) => (right.value === 0n ? fail(zero) : new CelUint(compute(left.value, right.value)));
}

function doubles(compute: (left: number, right: number) => number): (left: CelDouble, right: CelDouble) => Result {
  return (left, right) => new CelDouble(compute(left.value, right.value));
}

function duration(nanoseconds: bigint): Result {
  return nanoseconds > int64Max || nanoseconds < int64Min ? fail("duration overflow") : new CelDuration(nanoseconds);
}

const two = { int: [intType, intType], uint: [uintType, uintType], double: [doubleType, doubleType] };

export const arithmetic: readonly FunctionDeclaration[] = [
  declare(
    "_+_",
    overload("add_bytes", [bytesType, bytesType], bytesType, {
      evaluate: (left: Uint8Array, right: Uint8Array) => Uint8Array.from(Buffer.concat([left, right])),
      ...concatenation,
    }),
    overload("add_double", two.double, doubleType, { evaluate: doubles((left, right) => left + right) }),
    overload("add_duration_duration", [durationType, durationType], durationType, {
      evaluate: (left: CelDuration, right: CelDuration) => duration(left.nanoseconds + right.nanoseconds),
    }),
    overload("add_duration_timestamp", [durationType, timestampType], timestampType, {
      evaluate: (left: CelDuration, right: CelTimestamp) => checkedTimestamp(left.nanoseconds + right.nanoseconds),
    }),
    overload("add_timestamp_duration", [timestampType, durationType], timestampType, {
      evaluate: (left: CelTimestamp, right: CelDuration) => checkedTimestamp(left.nanoseconds + right.nanoseconds),
    }),
    overload("add_int64", two.int, intType, { evaluate: ints(addInt) }),
    overload("add_list", [list, list], list, {
      evaluate: (left: CelList, right: CelList) => concatLists(left, right),
      ...listConcatenation,
    }),
    overload("add_string", [stringType, stringType], stringType, {
      evaluate: (left: string, right: string) => left + right,
      ...concatenation,
    }),
    overload("add_uint64", two.uint, uintType, { evaluate: uints((left, right) => left + right) }),
  ),
  declare(
    "_-_",
    overload("subtract_double", two.double, doubleType, { evaluate: doubles((left, right) => left - right) }),
    overload("subtract_duration_duration", [durationType, durationType], durationType, {
      evaluate: (left: CelDuration, right: CelDuration) => duration(left.nanoseconds - right.nanoseconds),
    }),
    overload("subtract_int64", two.int, intType, { evaluate: ints(subtractInt) }),
    overload("subtract_timestamp_duration", [timestampType, durationType], timestampType, {
      evaluate: (left: CelTimestamp, right: CelDuration) => checkedTimestamp(left.nanoseconds - right.nanoseconds),
    }),
    overload("subtract_timestamp_timestamp", [timestampType, timestampType], durationType, {
      evaluate: (left: CelTimestamp, right: CelTimestamp) => duration(left.nanoseconds - right.nanoseconds),
    }),
    overload("subtract_uint64", two.uint, uintType, { evaluate: uints((left, right) => left - right) }),
  ),
  declare(
    "_*_",
    overload("multiply_double", two.double, doubleType, { evaluate: doubles((left, right) => left * right) }),
    overload("multiply_int64", two.int, intType, { evaluate: ints(multiplyInt) }),
    overload("multiply_uint64", two.uint, uintType, { evaluate: uints((left, right) => left * right) }),
  ),
  declare(
    "_/_",
    overload("divide_double", two.double, doubleType, { evaluate: doubles((left, right) => left / right) }),
    overload("divide_int64", two.int, intType, { evaluate: dividing(divideInt, "division by zero") }),
    overload("divide_uint64", two.uint, uintType, {
      evaluate: uintDividing((left, right) => left / right, "division by zero"),
    }),
  ),
  declare(
    "_%_",
    overload("modulo_int64", two.int, intType, { evaluate: dividing(remainderInt, "modulus by zero") }),
    overload("modulo_uint64", two.uint, uintType, {
      evaluate: uintDividing((left, right) => left % right, "modulus by zero"),
    }),
  ),
  declare(
    "-_",
    overload("negate_double", [doubleType], doubleType, {
      evaluate: (value: CelDouble) => new CelDouble(-value.value),
    }),
    overload("negate_int64", [intType], intType, { evaluate: (value: CelInt) => negateInt(value) ?? fail(overflow) }),
  ),
];
