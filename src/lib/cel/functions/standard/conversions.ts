/** Conversions between types, and types as values. Source: cel-spec, "List of Standard Definitions". */

import { DurationError, parseDuration } from "../../../duration/duration.ts";
import { formatGoFloat } from "../../../json/go-value.ts";
import type { FunctionDeclaration } from "../../declarations.ts";
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  parameterType,
  stringType,
  timestampType,
  typeOf,
  uintType,
} from "../../types.ts";
import { CelFailure, fail } from "../../values/failure.ts";
import { intOf } from "../../values/int.ts";
import { formatSeconds, parseDouble } from "../../values/numbers.ts";
import { checkedTimestamp, formatTimestamp, parseTimestamp } from "../../values/time.ts";
import { typeNameOf } from "../../values/type-names.ts";
import {
  CelDouble,
  CelDuration,
  type CelInt,
  type CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
  type Result,
} from "../../values/value.ts";
import { traversal } from "../costs.ts";
import { declare, overload } from "../declare.ts";

const same = { evaluate: (value: CelValue) => value };
const intOverflow = "integer overflow";
const uintOverflow = "unsigned integer overflow";

function notConvertible(to: string): CelFailure {
  return fail(`type conversion error from 'string' to '${to}'`);
}

function toInt(value: bigint): Result {
  return intOf(value) ?? fail(intOverflow);
}

function toUint(value: bigint): Result {
  return value < 0n || value >= 2n ** 64n ? fail(uintOverflow) : new CelUint(value);
}

/** Rounds towards zero. As in cel-go, a double equal to the minimum of int64 is out of range. */
function doubleToInt({ value }: CelDouble): Result {
  return value > -(2 ** 63) && value < 2 ** 63 ? toInt(BigInt(Math.trunc(value))) : fail(intOverflow);
}

function doubleToUint({ value }: CelDouble): Result {
  return value >= 0 && value < 2 ** 64 ? toUint(BigInt(Math.trunc(value))) : fail(uintOverflow);
}

function stringToInt(text: string): Result {
  if (!/^[+-]?[0-9]+$/.test(text)) return notConvertible("int");
  const digits = text.replace(/^[+-]/, "").replace(/^0+(?=.)/, "");
  const value = digits.length > 20 ? undefined : intOf(text.startsWith("-") ? -BigInt(digits) : BigInt(digits));
  return value ?? notConvertible("int");
}

function stringToUint(text: string): Result {
  if (!/^[0-9]+$/.test(text)) return notConvertible("uint");
  const digits = text.replace(/^0+(?=.)/, "");
  const value = digits.length > 20 ? 2n ** 64n : BigInt(digits);
  return value < 2n ** 64n ? new CelUint(value) : notConvertible("uint");
}

const bools = new Map(["1", "t", "T", "TRUE", "true", "True"].map((text) => [text, true]));
for (const text of ["0", "f", "F", "FALSE", "false", "False"]) bools.set(text, false);

function stringToBool(text: string): Result {
  return bools.get(text) ?? notConvertible("bool");
}

function stringToDouble(text: string): Result {
  const value = parseDouble(text);
  return value instanceof CelFailure ? notConvertible("double") : new CelDouble(value);
}

function bytesToString(bytes: Uint8Array): Result {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  if (!text.includes("\ufffd") || Buffer.from(text).equals(bytes)) return text;
  return fail("invalid UTF-8 in bytes, cannot convert to string");
}

function stringToDuration(text: string): Result {
  try {
    return new CelDuration(parseDuration(text));
  } catch (error) {
    if (error instanceof DurationError) return notConvertible("google.protobuf.Duration");
    throw error;
  }
}

function stringToTimestamp(text: string): Result {
  const timestamp = parseTimestamp(text);
  return timestamp instanceof CelFailure && !timestamp.message.endsWith("overflow")
    ? notConvertible("google.protobuf.Timestamp")
    : timestamp;
}

const second = 1_000_000_000n;

/** As in cel-go, the overload is declared and always fails. */
function intToDuration(): Result {
  return fail("type conversion error from 'int' to 'google.protobuf.Duration'");
}

/** Rounds down to whole seconds, also before 1970. */
function timestampToInt({ nanoseconds }: CelTimestamp): Result {
  const rest = ((nanoseconds % second) + second) % second;
  return intOf((nanoseconds - rest) / second) as CelInt;
}

export const conversions: readonly FunctionDeclaration[] = [
  declare("dyn", overload("to_dyn", [parameterType("A")], dynType, same)),
  declare(
    "type",
    overload("type", [parameterType("A")], typeOf(parameterType("A")), {
      evaluate: (value: CelValue) => new CelTypeValue(typeNameOf(value)),
    }),
  ),
  declare(
    "int",
    overload("int64_to_int64", [intType], intType, same),
    overload("double_to_int64", [doubleType], intType, { evaluate: doubleToInt }),
    overload("duration_to_int64", [durationType], intType, {
      evaluate: (value: CelDuration) => toInt(value.nanoseconds),
    }),
    overload("string_to_int64", [stringType], intType, { evaluate: stringToInt }),
    overload("timestamp_to_int64", [timestampType], intType, { evaluate: timestampToInt }),
    overload("uint64_to_int64", [uintType], intType, { evaluate: (value: CelUint) => toInt(value.value) }),
  ),
  declare(
    "uint",
    overload("uint64_to_uint64", [uintType], uintType, same),
    overload("double_to_uint64", [doubleType], uintType, { evaluate: doubleToUint }),
    overload("int64_to_uint64", [intType], uintType, { evaluate: (value: CelInt) => toUint(BigInt(value)) }),
    overload("string_to_uint64", [stringType], uintType, { evaluate: stringToUint }),
  ),
  declare(
    "double",
    overload("double_to_double", [doubleType], doubleType, same),
    overload("int64_to_double", [intType], doubleType, { evaluate: (value: CelInt) => new CelDouble(Number(value)) }),
    overload("string_to_double", [stringType], doubleType, { evaluate: stringToDouble }),
    overload("uint64_to_double", [uintType], doubleType, {
      evaluate: (value: CelUint) => new CelDouble(Number(value.value)),
    }),
  ),
  declare(
    "bool",
    overload("bool_to_bool", [boolType], boolType, same),
    overload("string_to_bool", [stringType], boolType, { evaluate: stringToBool }),
  ),
  declare(
    "string",
    overload("string_to_string", [stringType], stringType, same),
    overload("bool_to_string", [boolType], stringType, { evaluate: (value: boolean) => String(value) }),
    overload("bytes_to_string", [bytesType], stringType, {
      evaluate: bytesToString,
      ...traversal(0, 0, (min, max) => ({ min: min / 4n, max })),
    }),
    overload("double_to_string", [doubleType], stringType, {
      evaluate: (value: CelDouble) => formatGoFloat(value.value),
    }),
    overload("duration_to_string", [durationType], stringType, {
      evaluate: (value: CelDuration) => formatSeconds(value.nanoseconds),
    }),
    overload("int64_to_string", [intType], stringType, { evaluate: (value: CelInt) => String(value) }),
    overload("timestamp_to_string", [timestampType], stringType, { evaluate: formatTimestamp }),
    overload("uint64_to_string", [uintType], stringType, { evaluate: (value: CelUint) => String(value.value) }),
  ),
  declare(
    "bytes",
    overload("bytes_to_bytes", [bytesType], bytesType, same),
    overload("string_to_bytes", [stringType], bytesType, {
      evaluate: (text: string) => new TextEncoder().encode(text),
      ...traversal(0, 0, (min, max) => ({ min, max: BigInt.asUintN(64, max * 4n) })),
    }),
  ),
  declare(
    "duration",
    overload("duration_to_duration", [durationType], durationType, same),
    overload("int64_to_duration", [intType], durationType, { evaluate: intToDuration }),
    overload("string_to_duration", [stringType], durationType, { evaluate: stringToDuration }),
  ),
  declare(
    "timestamp",
    overload("timestamp_to_timestamp", [timestampType], timestampType, same),
    overload("int64_to_timestamp", [intType], timestampType, {
      evaluate: (value: CelInt) => checkedTimestamp(BigInt(value) * second),
    }),
    overload("string_to_timestamp", [stringType], timestampType, { evaluate: stringToTimestamp }),
  ),
];
