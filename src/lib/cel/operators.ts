/**
 * Fast paths of binary operators: two ints that are JavaScript numbers, and, for equality, two
 * strings. The cost is that of the overloads: one unit for ints, and for strings one unit per ten
 * code points of the shorter string.
 */
import { traversalFactor } from "./functions/costs.ts";
import type { Run, Step } from "./program.ts";
import { sizeOf } from "./values/containers.ts";
import type { Result } from "./values/value.ts";

/** Dispatches to the overloads; called for values of other types. */
export type BinaryDispatch = (run: Run, left: Result, right: Result) => Result;

type Operator = (left: Step, right: Step, dispatch: BinaryDispatch) => Step;

function comparing(test: (left: number, right: number) => boolean): Operator {
  return (left, right, dispatch) => (run) => {
    const one = left(run);
    const other = right(run);
    if (typeof one === "number" && typeof other === "number") {
      run.charge(1);
      return test(one, other);
    }
    return dispatch(run, one, other);
  };
}

function equating(same: boolean): Operator {
  return (left, right, dispatch) => (run) => {
    const one = left(run);
    const other = right(run);
    if (typeof one === "string" && typeof other === "string") {
      run.charge(comparedUnits(one, other));
      return (one === other) === same;
    }
    if (typeof one === "number" && typeof other === "number") {
      run.charge(1);
      return (one === other) === same;
    }
    return dispatch(run, one, other);
  };
}

/** Most strings are short; then their code points need not be counted. */
function comparedUnits(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  if (shorter <= 10) return shorter === 0 ? 0 : 1;
  return Math.ceil(Math.min(sizeOf(one), sizeOf(other)) * traversalFactor);
}

/** @param compute its result can be an unsafe integer; then the overloads compute it again */
function computing(compute: (left: number, right: number) => number): Operator {
  return (left, right, dispatch) => (run) => {
    const one = left(run);
    const other = right(run);
    if (typeof one === "number" && typeof other === "number") {
      const result = compute(one, other);
      if (Number.isSafeInteger(result)) {
        run.charge(1);
        return result === 0 ? 0 : result; // An int is never -0.
      }
    }
    return dispatch(run, one, other);
  };
}

const operators: ReadonlyMap<string, Operator> = new Map([
  ["_<_", comparing((left, right) => left < right)],
  ["_<=_", comparing((left, right) => left <= right)],
  ["_>_", comparing((left, right) => left > right)],
  ["_>=_", comparing((left, right) => left >= right)],
  ["_==_", equating(true)],
  ["_!=_", equating(false)],
  ["_+_", computing((left, right) => left + right)],
  ["_-_", computing((left, right) => left - right)],
  ["_*_", computing((left, right) => left * right)],
]);

/** @returns undefined if the operator has no fast path */
export function operatorOf(name: string): Operator | undefined {
  return operators.get(name);
}
