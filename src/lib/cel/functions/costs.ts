/** Costs that several functions share. Each comes in two: what it was at run time, and what it may be. Source: cel-go's cost.go, runtimecost.go */
import { sizeOrUnknown } from "../cost/estimate.ts";
import { fixed, plus, times, timesFactor } from "../cost/range.ts";
import type { OverloadDeclaration } from "../declarations.ts";
import { sizeOf } from "../values/containers.ts";

/** Units for each code point, byte or element that is looked at. */
export const traversalFactor = 0.1;
/** Units for each code point of a regular expression. */
export const regexFactor = 0.25;

type Costs = Pick<OverloadDeclaration, "cost" | "estimate">;

/** One that looks at all of an argument. @param index of the argument at run time; @param estimated of that without the receiver */
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

/** As long as the shorter of two: equality and order. */
export const comparison: Costs = {
  cost: (args) => Math.ceil(Math.min(sizeOf(args[0]), sizeOf(args[1])) * traversalFactor),
  estimate: ({ args }) => {
    const [left, right] = [sizeOrUnknown(args[0]), sizeOrUnknown(args[1])];
    const max = left.max < right.max ? left.max : right.max;
    return { cost: timesFactor({ min: max > 0n ? 1n : 0n, max }, traversalFactor) };
  },
};

/** Of strings and bytes: both are copied. */
export const concatenation: Costs = {
  cost: (args) => Math.ceil((sizeOf(args[0]) + sizeOf(args[1])) * traversalFactor),
  estimate: ({ args }) => {
    const resultSize = plus(sizeOrUnknown(args[0]), sizeOrUnknown(args[1]));
    return { cost: timesFactor(resultSize, traversalFactor), resultSize };
  },
};

/** Of lists: nothing is copied. */
export const listConcatenation: Costs = {
  estimate: ({ args }) => ({ cost: fixed(1), resultSize: plus(sizeOrUnknown(args[0]), sizeOrUnknown(args[1])) }),
};

/** Every element is compared. */
export const membership: Costs = {
  cost: (args) => sizeOf(args[1]),
  estimate: ({ args }) => ({ cost: timesFactor(sizeOrUnknown(args[1]), 1) }),
};

/** A text against a part of it. */
export const containment: Costs = {
  cost: (args) => Math.ceil(sizeOf(args[0]) * traversalFactor) * Math.ceil(sizeOf(args[1]) * traversalFactor),
  estimate: ({ target, args }) => ({
    cost: times(
      timesFactor(sizeOrUnknown(target), traversalFactor),
      timesFactor(sizeOrUnknown(args[0]), traversalFactor),
    ),
  }),
};

/** A text against a regular expression. An empty text is one long, for the expression costs even then. */
export const matching: Costs = {
  cost: (args) => Math.ceil((1 + sizeOf(args[0])) * traversalFactor) * Math.ceil(sizeOf(args[1]) * regexFactor),
  estimate: ({ target, args }) => {
    if (target === undefined) return undefined;
    const text = timesFactor(plus(sizeOrUnknown(target), fixed(1)), traversalFactor);
    return { cost: times(text, timesFactor(sizeOrUnknown(args[0]), regexFactor)) };
  },
};
