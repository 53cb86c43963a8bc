/** Logic, equality and order. The planner implements `&&`, `||`, `?:` and indexing. */
import type { FunctionDeclaration, OverloadDeclaration } from "../../declarations.ts";
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  intType,
  listType,
  mapType,
  optionalType,
  parameterType,
  stringType,
  timestampType,
  uintType,
} from "../../types.ts";
import { type CelNumber, compareBytes, compareNumbers, compareStrings, equal } from "../../values/equality.ts";
import { CelFailure, noSuchOverload } from "../../values/failure.ts";
import type { CelDuration, CelList, CelMap, CelTimestamp, CelValue, Result } from "../../values/value.ts";
import { comparison, membership } from "../costs.ts";
import { declare, overload } from "../declare.ts";

const a = parameterType("A");
const b = parameterType("B");
/** The planner implements the operator. */
const planned = { evaluate: noSuchOverload };

type Test = (order: number) => boolean;

function nanoseconds(left: CelTimestamp | CelDuration, right: CelTimestamp | CelDuration): number {
  return left.nanoseconds < right.nanoseconds ? -1 : left.nanoseconds > right.nanoseconds ? 1 : 0;
}

/**
 * Declares an order operator.
 *
 * @param id start of the overload identifiers, such as `less_equals`
 */
function ordered(name: string, id: string, test: Test, acrossTypes: boolean): FunctionDeclaration {
  const row = (
    suffix: string,
    type: CelType,
    evaluate: OverloadDeclaration["evaluate"],
    costs = {},
  ): OverloadDeclaration => overload(`${id}_${suffix}`, [type, type], boolType, { evaluate, ...costs });
  const evaluate = (left: CelNumber, right: CelNumber): boolean => {
    const order = compareNumbers(left, right);
    return order !== undefined && test(order);
  };
  const across = (one: keyof typeof numbers, other: keyof typeof numbers): OverloadDeclaration[] =>
    acrossTypes ? [overload(`${id}_${one}_${other}`, [numbers[one], numbers[other]], boolType, { evaluate })] : [];
  return declare(
    name,
    row("bool", boolType, (left: boolean, right: boolean) => test(Number(left) - Number(right))),
    row("int64", intType, evaluate),
    ...across("int64", "double"),
    ...across("int64", "uint64"),
    row("uint64", uintType, evaluate),
    ...across("uint64", "double"),
    ...across("uint64", "int64"),
    row("double", doubleType, evaluate),
    ...across("double", "int64"),
    ...across("double", "uint64"),
    row("string", stringType, (left: string, right: string) => test(compareStrings(left, right)), comparison),
    row("bytes", bytesType, (left: Uint8Array, right: Uint8Array) => test(compareBytes(left, right)), comparison),
    row("timestamp", timestampType, (left: CelTimestamp, right: CelTimestamp) => test(nanoseconds(left, right))),
    row("duration", durationType, (left: CelDuration, right: CelDuration) => test(nanoseconds(left, right))),
  );
}

const numbers = { int64: intType, uint64: uintType, double: doubleType };

const orders: readonly [name: string, id: string, test: Test][] = [
  ["_<_", "less", (order) => order < 0],
  ["_<=_", "less_equals", (order) => order <= 0],
  ["_>_", "greater", (order) => order > 0],
  ["_>=_", "greater_equals", (order) => order >= 0],
];

/**
 * Order operators that also compare int, uint and double with each other. They contain all other
 * overloads again, because the order of overloads matters.
 * Source: cel-go, cel.CrossTypeNumericComparisons
 */
export const crossTypeOrder: readonly FunctionDeclaration[] = orders.map(([name, id, test]) =>
  ordered(name, id, test, true),
);

function isIn(element: CelValue, list: CelList): boolean {
  for (let at = 0; at < list.size; at++) if (equal(element, list.at(at))) return true;
  return false;
}

export const logic: readonly FunctionDeclaration[] = [
  declare("_&&_", overload("logical_and", [boolType, boolType], boolType, planned)),
  declare("_||_", overload("logical_or", [boolType, boolType], boolType, planned)),
  declare("_?_:_", overload("conditional", [boolType, a, a], a, planned)),
  declare(
    "_[_]",
    overload("index_list", [listType(a), intType], a, planned),
    overload("index_map", [mapType(a, b), a], b, planned),
  ),
  declare("!_", overload("logical_not", [boolType], boolType, { evaluate: (value: boolean) => !value })),
  declare(
    "@not_strictly_false",
    overload("not_strictly_false", [boolType], boolType, {
      evaluate: (value: Result) => value instanceof CelFailure || value !== false,
      nonStrict: true,
    }),
  ),
  declare("_==_", overload("equals", [a, a], boolType, { evaluate: equal, ...comparison })),
  declare(
    "_!=_",
    overload("not_equals", [a, a], boolType, {
      evaluate: (left: CelValue, right: CelValue) => !equal(left, right),
      ...comparison,
    }),
  ),
  declare(
    "@in",
    overload("in_list", [a, listType(a)], boolType, { evaluate: isIn, ...membership }),
    overload("in_map", [a, mapType(a, b)], boolType, { evaluate: (key: CelValue, map: CelMap) => map.has(key) }),
  ),
  ...orders.map(([name, id, test]) => ordered(name, id, test, false)),
];

/** The operators of optional syntax. */
export const optionalAccess: readonly FunctionDeclaration[] = [
  declare("_?._", overload("select_optional_field", [a, stringType], optionalType(b), planned)),
  declare(
    "_[?_]",
    overload("list_optindex_optional_int", [listType(a), intType], optionalType(a), planned),
    overload("optional_list_optindex_optional_int", [optionalType(listType(a)), intType], optionalType(a), planned),
    overload("map_optindex_optional_value", [mapType(a, b), a], optionalType(b), planned),
    overload("optional_map_optindex_optional_value", [optionalType(mapType(a, b)), a], optionalType(b), planned),
  ),
  declare(
    "_[_]",
    overload("optional_list_index_int", [optionalType(listType(a)), intType], optionalType(a), planned),
    overload("optional_map_index_value", [optionalType(mapType(a, b)), a], optionalType(b), planned),
  ),
];
