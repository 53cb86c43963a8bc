/**
 * Operators between two values of the commonest types, decided before any overload is asked: ints that are numbers, and, for equality,
 * texts. What they cost is what the overloads say: a unit for ints, and for texts one for each ten code points of the shorter.
 */
import type { OverloadDeclaration } from "./declarations.ts";
import { traversalFactor } from "./functions/costs.ts";
import type { Run, Step } from "./program.ts";
import { sizeOf } from "./values/containers.ts";
import type { Result } from "./values/value.ts";

/** What becomes of two values of other types. */
export type Otherwise = (run: Run, left: Result, right: Result) => Result;

type Operator = (left: Step, right: Step, otherwise: Otherwise) => Step;

function comparing(test: (left: number, right: number) => boolean): Operator {
  return (left, right, otherwise) => (run) => {
    const one = left(run);
    const other = right(run);
    if (typeof one === "number" && typeof other === "number") {
      run.charge(1);
      return test(one, other);
    }
    return otherwise(run, one, other);
  };
}

function equating(same: boolean): Operator {
  return (left, right, otherwise) => (run) => {
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
    return otherwise(run, one, other);
  };
}

/** Most texts are so short that counting code points says nothing new. */
function comparedUnits(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  if (shorter <= 10) return shorter === 0 ? 0 : 1;
  return Math.ceil(Math.min(sizeOf(one), sizeOf(other)) * traversalFactor);
}

/** @param compute may leave the safe integers: the overloads know what is then */
function computing(compute: (left: number, right: number) => number): Operator {
  return (left, right, otherwise) => (run) => {
    const one = left(run);
    const other = right(run);
    if (typeof one === "number" && typeof other === "number") {
      const result = compute(one, other);
      if (Number.isSafeInteger(result)) {
        run.charge(1);
        return result === 0 ? 0 : result; // There is no -0 among integers.
      }
    }
    return otherwise(run, one, other);
  };
}

const operators = new Map<string, readonly [overload: string, operator: Operator]>([
  ["_<_", ["less_int64", comparing((left, right) => left < right)]],
  ["_<=_", ["less_equals_int64", comparing((left, right) => left <= right)]],
  ["_>_", ["greater_int64", comparing((left, right) => left > right)]],
  ["_>=_", ["greater_equals_int64", comparing((left, right) => left >= right)]],
  ["_==_", ["equals", equating(true)]],
  ["_!=_", ["not_equals", equating(false)]],
  ["_+_", ["add_int64", computing((left, right) => left + right)]],
  ["_-_", ["subtract_int64", computing((left, right) => left - right)]],
  ["_*_", ["multiply_int64", computing((left, right) => left * right)]],
]);

/** @returns undefined when the operator does not take ints here */
export function operatorOf(name: string, overloads: readonly OverloadDeclaration[]): Operator | undefined {
  const found = operators.get(name);
  return found !== undefined && overloads.some((overload) => overload.id === found[0]) ? found[1] : undefined;
}
