/**
 * Costs that several functions share, at run time and as estimates.
 * Source: cel-go, checker/cost.go and interpreter/runtimecost.go
 */
import { sizeOrUnknown } from "../cost/estimate.ts";
import { fixed, plus, times, timesFactor } from "../cost/range.ts";
import type { OverloadDeclaration } from "../declarations.ts";
import { sizeOf } from "../values/containers.ts";

/** Units per code point, byte or element that a function reads. */
export const traversalFactor = 0.1;
/** Units per code point of a regular expression. */
export const regexFactor = 0.25;

/** The costs of an overload. */
export type Costs = Pick<OverloadDeclaration, "cost" | "estimate">;

/**
 * A function that reads all of one argument.
 *
 * @param index of the argument in the run-time arguments, which include the receiver
 * @param estimated index of the argument whose size the estimate uses, without the receiver
 */
export function traversal(
  index: number,
  estimated: number,
  resultSize?: (min: bigint, max: bigint) => { min: bigint; max: bigint },
): Costs {
  return {
    cost: (args) => Math.ceil(sizeOf(args[index]) * traversalFactor),
    estimate: ({ args }) => {
      const size = sizeOrUnknown(args[estimated]);
      return { cost: timesFactor(size, traversalFactor), resultSize: resultSize?.(size.min, size.max) };
    },
  };
}

/** Equality and order: both arguments are read up to the length of the shorter one. */
export const comparison: Costs = {
  cost: (args) => Math.ceil(Math.min(sizeOf(args[0]), sizeOf(args[1])) * traversalFactor),
  estimate: ({ args }) => {
    const [left, right] = [sizeOrUnknown(args[0]), sizeOrUnknown(args[1])];
    const max = left.max < right.max ? left.max : right.max;
    return { cost: timesFactor({ min: max > 0n ? 1n : 0n, max }, traversalFactor) };
  },
};

/** Concatenation of strings or bytes: both are copied. */
export const concatenation: Costs = {
  cost: (args) => Math.ceil((sizeOf(args[0]) + sizeOf(args[1])) * traversalFactor),
  estimate: ({ args }) => {
    const resultSize = plus(sizeOrUnknown(args[0]), sizeOrUnknown(args[1]));
    return { cost: timesFactor(resultSize, traversalFactor), resultSize };
  },
};

/** Concatenation of lists: nothing is copied. */
export const listConcatenation: Costs = {
  estimate: ({ args }) => ({ cost: fixed(1), resultSize: plus(sizeOrUnknown(args[0]), sizeOrUnknown(args[1])) }),
};

/** `in` a list: every element is compared. */
export const membership: Costs = {
  cost: (args) => sizeOf(args[1]),
  estimate: ({ args }) => ({ cost: timesFactor(sizeOrUnknown(args[1]), 1) }),
};

/** `contains`: the substring is compared at every position. */
export const containment: Costs = {
  cost: (args) => Math.ceil(sizeOf(args[0]) * traversalFactor) * Math.ceil(sizeOf(args[1]) * traversalFactor),
  estimate: ({ target, args }) => ({
    cost: times(
      timesFactor(sizeOrUnknown(target), traversalFactor),
      timesFactor(sizeOrUnknown(args[0]), traversalFactor),
    ),
  }),
};

/**
 * Matching a regular expression. One is added to the size of the text, so that an empty text is not
 * free.
 */
export const matching: Costs = {
  cost: (args) => Math.ceil((1 + sizeOf(args[0])) * traversalFactor) * Math.ceil(sizeOf(args[1]) * regexFactor),
  estimate: ({ target, args }) => {
    if (target === undefined) return undefined;
    const text = timesFactor(plus(sizeOrUnknown(target), fixed(1)), traversalFactor);
    return { cost: times(text, timesFactor(sizeOrUnknown(args[0]), regexFactor)) };
  },
};
