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
import { contains, equal } from "../../values/equality.ts";
import { CelFailure, noSuchOverload } from "../../values/failure.ts";
import { compareValues, isOrdered } from "../../values/order.ts";
import { noImplementation } from "../../values/type-names.ts";
import { CelList, CelMap, type CelValue, type Result } from "../../values/value.ts";
import { comparison, membership } from "../costs.ts";
import { declare, declareShared, overload } from "../declare.ts";

const a = parameterType("A");
const b = parameterType("B");

type Test = (order: number) => boolean;

/**
 * Declares an order operator.
 *
 * @param id start of the overload identifiers, such as `less_equals`
 */
function ordered(name: string, id: string, test: Test, acrossTypes: boolean): FunctionDeclaration {
  const row = (suffix: string, type: CelType, costs = {}): OverloadDeclaration =>
    overload(`${id}_${suffix}`, [type, type], boolType, costs);
  const across = (one: keyof typeof numbers, other: keyof typeof numbers): OverloadDeclaration[] =>
    acrossTypes ? [overload(`${id}_${one}_${other}`, [numbers[one], numbers[other]], boolType)] : [];
  const evaluate = (left: CelValue, right: CelValue): Result => {
    if (!isOrdered(left)) return noImplementation(name, left);
    const order = compareValues(left, right);
    return order instanceof CelFailure ? order : test(order);
  };
  return declareShared(
    name,
    evaluate,
    row("bool", boolType),
    row("int64", intType),
    ...across("int64", "double"),
    ...across("int64", "uint64"),
    row("uint64", uintType),
    ...across("uint64", "double"),
    ...across("uint64", "int64"),
    row("double", doubleType),
    ...across("double", "int64"),
    ...across("double", "uint64"),
    row("string", stringType, comparison),
    row("bytes", bytesType, comparison),
    row("timestamp", timestampType),
    row("duration", durationType),
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

function isIn(element: CelValue, container: CelValue): Result {
  if (container instanceof CelList) return contains(container, element);
  return container instanceof CelMap ? container.has(element) : noSuchOverload();
}

export const logic: readonly FunctionDeclaration[] = [
  declare("_&&_", overload("logical_and", [boolType, boolType], boolType)),
  declare("_||_", overload("logical_or", [boolType, boolType], boolType)),
  declare("_?_:_", overload("conditional", [boolType, a, a], a)),
  declare("_[_]", overload("index_list", [listType(a), intType], a), overload("index_map", [mapType(a, b), a], b)),
  declareShared(
    "!_",
    (value: CelValue) => (typeof value === "boolean" ? !value : noSuchOverload()),
    overload("logical_not", [boolType], boolType),
  ),
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
      evaluate: (left: CelValue, right: CelValue) => equal(left, right) !== true,
      ...comparison,
    }),
  ),
  declareShared(
    "@in",
    isIn,
    overload("in_list", [a, listType(a)], boolType, membership),
    overload("in_map", [a, mapType(a, b)], boolType),
  ),
  ...orders.map(([name, id, test]) => ordered(name, id, test, false)),
];

/** The operators of optional syntax. */
export const optionalAccess: readonly FunctionDeclaration[] = [
  declare("_?._", overload("select_optional_field", [a, stringType], optionalType(b))),
  declare(
    "_[?_]",
    overload("list_optindex_optional_int", [listType(a), intType], optionalType(a)),
    overload("optional_list_optindex_optional_int", [optionalType(listType(a)), intType], optionalType(a)),
    overload("map_optindex_optional_value", [mapType(a, b), a], optionalType(b)),
    overload("optional_map_optindex_optional_value", [optionalType(mapType(a, b)), a], optionalType(b)),
  ),
  declare(
    "_[_]",
    overload("optional_list_index_int", [optionalType(listType(a)), intType], optionalType(a)),
    overload("optional_map_index_value", [optionalType(mapType(a, b)), a], optionalType(b)),
  ),
];
