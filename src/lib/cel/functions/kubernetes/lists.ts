/** Kubernetes functions of lists. Source: k8s.io/apiserver@v0.36.0/pkg/cel/library/lists.go */
import type { FunctionDeclaration } from "../../declarations.ts";
import { library } from "../../library.ts";
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  intType,
  listType,
  parameterType,
  stringType,
  timestampType,
  uintType,
} from "../../types.ts";
import { equal } from "../../values/equality.ts";
import { CelFailure, fail, noSuchOverload } from "../../values/failure.ts";
import { compareValues } from "../../values/order.ts";
import { typeNameOf } from "../../values/type-names.ts";
import { CelDouble, CelDuration, type CelList, CelUint, type CelValue, type Result } from "../../values/value.ts";
import { declare, member } from "../declare.ts";
import { add } from "../standard/arithmetic.ts";
import { elementwise } from "./costs.ts";

const summable: readonly [name: string, type: CelType, zero: CelValue][] = [
  ["int", intType, 0],
  ["uint", uintType, new CelUint(0n)],
  ["double", doubleType, new CelDouble(0)],
  ["duration", durationType, new CelDuration(0n)],
];

const comparable: readonly [name: string, type: CelType][] = [
  ["int", intType],
  ["uint", uintType],
  ["double", doubleType],
  ["bool", boolType],
  ["duration", durationType],
  ["timestamp", timestampType],
  ["string", stringType],
  ["bytes", bytesType],
];

const comparableNames: ReadonlySet<string> = new Set(comparable.map(([, type]) => type.name));

/**
 * Returns 0 for comparable values of different types.
 *
 * @returns undefined if the type of the right value has no order
 */
function orderOf(left: CelValue, right: CelValue): number | undefined {
  const order = compareValues(left, right);
  if (!(order instanceof CelFailure)) return order;
  return comparableNames.has(typeNameOf(right)) ? 0 : undefined;
}

function isSorted(list: CelList): Result {
  for (let at = 0; at < list.size; at++) {
    const order = orderOf(list.at(Math.max(0, at - 1)), list.at(at));
    if (order === undefined) return noSuchOverload();
    if (order > 0) return false;
  }
  return true;
}

function sum(list: CelList, zero: CelValue): Result {
  let total: Result = zero;
  for (let at = 0; at < list.size && !(total instanceof CelFailure); at++) total = add(total, list.at(at));
  return total;
}

/** Returns the first of equal elements. */
function extreme(list: CelList, name: "min" | "max"): Result {
  if (list.size === 0) return fail(`${name} called on empty list`);
  let best = list.at(0);
  for (let at = 0; at < list.size; at++) {
    const order = orderOf(best, list.at(at));
    if (order === undefined) return noSuchOverload();
    if (name === "min" ? order > 0 : order < 0) best = list.at(at);
  }
  return best;
}

function indexOf(list: CelList, item: CelValue): number {
  for (let at = 0; at < list.size; at++) if (equal(list.at(at), item) === true) return at;
  return -1;
}

function lastIndexOf(list: CelList, item: CelValue): number {
  for (let at = list.size - 1; at >= 0; at--) if (equal(list.at(at), item) === true) return at;
  return -1;
}

const any = parameterType("A");

const functions: readonly FunctionDeclaration[] = [
  declare(
    "isSorted",
    ...comparable.map(([name, type]) =>
      member(`list_${name}_is_sorted_bool`, [listType(type)], boolType, { evaluate: isSorted }),
    ),
  ),
  declare(
    "sum",
    ...summable.map(([name, type, zero]) =>
      member(`list_${name}_sum_${name}`, [listType(type)], type, { evaluate: (list: CelList) => sum(list, zero) }),
    ),
  ),
  ...(["min", "max"] as const).map((name) =>
    declare(
      name,
      ...comparable.map(([typeName, type]) =>
        member(`list_${typeName}_${name}_${typeName}`, [listType(type)], type, {
          evaluate: (list: CelList) => extreme(list, name),
        }),
      ),
    ),
  ),
  declare("indexOf", member("list_a_index_of_int", [listType(any), any], intType, { evaluate: indexOf })),
  declare("lastIndexOf", member("list_a_last_index_of_int", [listType(any), any], intType, { evaluate: lastIndexOf })),
];

/** `isSorted`, `sum`, `min`, `max`, `indexOf` and `lastIndexOf`. */
export const kubernetesLists = library({ functions: functions.map((declared) => ({ ...declared, ...elementwise })) });
