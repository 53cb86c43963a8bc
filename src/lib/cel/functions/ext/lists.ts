/** Functions of lists. Source: cel-go, ext.Lists, version 3, with its costs */
import { sizeOrUnknown } from "../../cost/estimate.ts";
import { fixed, plus, type Range, times, timesFactor, uint64Max } from "../../cost/range.ts";
import type { FunctionDeclaration, RuntimeCost, SizedNode } from "../../declarations.ts";
import { library } from "../../library.ts";
import { listMacros } from "../../macros.ts";
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  parameterType,
  stringType,
  timestampType,
  uintType,
} from "../../types.ts";
import { ArrayList, sizeOf } from "../../values/containers.ts";
import { equal } from "../../values/equality.ts";
import { CelFailure, fail } from "../../values/failure.ts";
import { isInt } from "../../values/int.ts";
import { compareValues, isOrdered } from "../../values/order.ts";
import { noImplementation, typeNameOf } from "../../values/type-names.ts";
import { type CelInt, CelList, CelMap, type CelValue, type Result } from "../../values/value.ts";
import { declare, declareShared, member, overload } from "../declare.ts";

/** Longer ranges exceed every cost limit of Kubernetes. */
const rangeMax = 10_000_000;
/** Comparing more elements with each other exceeds every cost limit of Kubernetes. */
const distinctMax = 10_000;

function itemsOf(list: CelList): CelValue[] {
  return Array.from({ length: list.size }, (_, at) => list.at(at));
}

function slice(list: CelList, start: CelInt, end: CelInt): Result {
  if (start < 0 || end < 0) return fail(`cannot slice(${start}, ${end}), negative indexes not supported`);
  if (start > end) return fail(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
  if (list.size < end) return fail(`cannot slice(${start}, ${end}), list is length ${list.size}`);
  return new ArrayList(itemsOf(list).slice(Number(start), Number(end)));
}

function flatten(value: CelValue, ...levels: readonly CelValue[]): Result {
  const [depth = 1] = levels;
  if (!(value instanceof CelList && isInt(depth)))
    return fail(`no such overload: ${typeText(value)}.flatten(${levels.map(typeText).join()})`);
  if (depth < 0) return fail("level must be non-negative");
  const flat: CelValue[] = [];
  collect(value, Number(depth), flat);
  return new ArrayList(flat);
}

function typeText(value: CelValue): string {
  if (value instanceof CelMap) return "map(dyn, dyn)";
  return value instanceof CelList ? "list(dyn)" : typeNameOf(value);
}

/** The limits on nesting of expressions and data bound the recursion. */
function collect(list: CelList, depth: number, into: CelValue[]): void {
  for (let at = 0; at < list.size; at++) {
    const item = list.at(at);
    if (item instanceof CelList && depth > 0) collect(item, depth - 1, into);
    else into.push(item);
  }
}

function range(count: CelInt): Result {
  if (count > rangeMax) return fail(`lists.range() of more than ${rangeMax}`);
  return new ArrayList(Array.from({ length: Math.max(0, Number(count)) }, (_, at) => at));
}

function distinct(list: CelList): Result {
  if (list.size > distinctMax) return fail(`distinct() of more than ${distinctMax} elements`);
  const kept: CelValue[] = [];
  for (const item of itemsOf(list)) if (!kept.some((other) => equal(item, other) === true)) kept.push(item);
  return new ArrayList(kept);
}

/** The types of keys. */
const comparable = [intType, uintType, doubleType, boolType, durationType, timestampType, stringType, bytesType];

function sort(list: CelValue): Result {
  return list instanceof CelList ? sortByKeys(list, list) : noImplementation("sort", list);
}

/** @param keys one per element */
function sortByKeys(list: CelValue, keys: CelList): Result {
  if (!(list instanceof CelList)) return noImplementation("@sortByAssociatedKeys", list);
  if (list.size === 0) return list;
  const pairs = itemsOf(list).map((item, at) => [item, keys.at(at)] as const);
  const [, first] = pairs[0] as (typeof pairs)[number];
  if (!isOrdered(first)) return fail("list elements must be comparable");
  if (pairs.some(([, key]) => typeNameOf(key) !== typeNameOf(first)))
    return fail("list elements must have the same type");
  pairs.sort(([, left], [, right]) => {
    const order = compareValues(left, right);
    return order instanceof CelFailure ? 0 : order; // NaN has no order.
  });
  return new ArrayList(pairs.map(([item]) => item));
}

/** One unit for the call and ten for the created list. */
const base = 11;

/** A negative cost wraps around, as in cel-go, and exceeds every limit. */
function uint64(cost: number): number {
  return cost < 0 ? cost + 2 ** 64 : cost;
}

const byResult: RuntimeCost = (_, result) => sizeOf(result) + base;

/** Strings and bytes cost more, because they are read. */
function sortFactor(type: CelType): number {
  return type === stringType || type === bytesType ? 2.1 : 2;
}

function squared(factor: number): FunctionDeclaration["estimate"] {
  return ({ target }) => allocating(factor, times(sizeOrUnknown(target), sizeOrUnknown(target)));
}

/** Every element is compared with every other, twice. Strings and bytes cost more. */
const selfCompared: RuntimeCost = ([list]) => selfComparison(list);

function selfComparison(list: unknown): number {
  const size = sizeOf(list);
  const first = list instanceof CelList && size > 0 ? list.at(0) : undefined;
  return Math.floor(size * size * (typeof first === "string" || first instanceof Uint8Array ? 2.1 : 2)) + base;
}

function allocating(factor: number, resultSize: Range): { readonly cost: Range; readonly resultSize: Range } {
  return { cost: plus(timesFactor(resultSize, factor), fixed(base)), resultSize };
}

/** Returns the value of an int literal, at least 0. */
function literalOr(node: SizedNode | undefined, defaultValue: bigint): bigint {
  const value = node?.expr.kind === "constant" ? node.expr.value : undefined;
  if (typeof value !== "number" && typeof value !== "bigint") return defaultValue;
  return value < 0 ? 0n : BigInt(value);
}

const element = parameterType("T");
const list = listType(element);

const functions: readonly FunctionDeclaration[] = [
  declare(
    "slice",
    member("list_slice", [list, intType, intType], list, {
      evaluate: slice,
      cost: byResult,
      estimate: ({ target, args }) =>
        allocating(
          1,
          fixed(BigInt.asUintN(64, literalOr(args[1], sizeOrUnknown(target).max) - literalOr(args[0], 0n))),
        ),
    }),
  ),
  {
    ...declareShared(
      "flatten",
      flatten,
      member("list_flatten", [listType(list)], list),
      member("list_flatten_int", [listType(dynType), intType], listType(dynType)),
    ),
    cost: ([of, depth = 1]) => uint64(sizeOf(of) * (isInt(depth) ? Number(depth) : 1) + base), // A negative depth reduces it, as in cel-go.
    estimate: ({ target, args }) =>
      allocating(args.length === 0 ? 1 : Number(literalOr(args[0], uint64Max)), sizeOrUnknown(target)),
  },
  declareShared(
    "sort",
    sort,
    ...comparable.map((type) =>
      member(`list_${type.name}_sort`, [listType(type)], listType(type), {
        cost: selfCompared,
        estimate: squared(sortFactor(type)),
      }),
    ),
  ),
  declareShared(
    "@sortByAssociatedKeys",
    sortByKeys,
    ...comparable.map((type) =>
      member(`list_${type.name}_sortByAssociatedKeys`, [list, listType(type)], list, {
        cost: ([, keys]) => selfComparison(keys),
        estimate: ({ args }) => {
          const size = sizeOrUnknown(args[0]);
          return allocating(sortFactor(type), times(size, size));
        },
      }),
    ),
  ),
  declare(
    "lists.range",
    overload("lists_range", [intType], listType(intType), {
      evaluate: range,
      cost: ([count]) => (isInt(count) ? Math.max(0, Number(count)) : 1) + base, // A failed count costs as much as 1.
      estimate: ({ args }) => allocating(1, fixed(literalOr(args[0], uint64Max))),
    }),
  ),
  declare(
    "reverse",
    member("list_reverse", [list], list, {
      evaluate: (of: CelList) => new ArrayList(itemsOf(of).reverse()),
      cost: byResult,
      estimate: ({ target }) => allocating(1, sizeOrUnknown(target)),
    }),
  ),
  declare(
    "distinct",
    member("list_distinct", [list], list, { evaluate: distinct, cost: selfCompared, estimate: squared(2) }),
  ),
];

/** `slice`, `flatten`, `sort`, `sortBy`, `lists.range`, `reverse` and `distinct`. */
export const lists = library({ functions, macros: listMacros });
