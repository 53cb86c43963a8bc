/** Costs of the Kubernetes libraries. Source: k8s.io/apiserver@v0.36.0/pkg/cel/library/cost.go */
import { sizeOrUnknown } from "../../cost/estimate.ts";
import { fixed, plus, type Range, times, timesFactor, unknownRange } from "../../cost/range.ts";
import type { CallToEstimate, FunctionDeclaration, SizedNode } from "../../declarations.ts";
import { sizeOf } from "../../values/containers.ts";
import { CelList, CelMap, type CelValue } from "../../values/value.ts";
import { traversalFactor } from "../costs.ts";

type Costs = Required<Pick<FunctionDeclaration, "cost" | "estimate">>;

/** The cost of accessors and arithmetic: one unit. */
export const nominal: Costs = { cost: () => 1, estimate: () => ({ cost: fixed(1) }) };

/**
 * A function that reads its receiver, or else its first argument.
 *
 * @param times number of reads
 * @param options `keepsSize`: the result is as long as the argument
 */
export function reading(times: number, { keepsSize }: { readonly keepsSize: boolean }): Costs {
  return {
    cost: (args) => Math.ceil(sizeOf(args[0]) * times * traversalFactor),
    estimate: ({ target, args }) => {
      const size = sizeOrUnknown(target ?? args[0]);
      const cost = timesFactor(size, times * traversalFactor);
      return keepsSize ? { cost, resultSize: size } : { cost };
    },
  };
}

/** Functions that read every element of a list, and functions of strings with the same names. */
export const elementwise: Costs = {
  cost: (args) => deepSize(args[0] as CelValue),
  estimate: ({ target, hints }) => {
    if (target === undefined) return undefined;
    const element = elementOf(target);
    if (element === undefined) return { cost: timesFactor(sizeOrUnknown(target), traversalFactor) };
    const isText = element.type.kind === "string" || element.type.kind === "bytes";
    const one = isText
      ? plus(fixed(1), timesFactor(hints.estimateSize(element) ?? unknownRange, traversalFactor))
      : fixed(1);
    return { cost: times(sizeOrUnknown(target), one) };
  },
};

/**
 * Sums a tenth of the UTF-8 bytes of each string, rounded down, and one for other values. The
 * limits on nesting of expressions and data bound the recursion.
 */
function deepSize(value: CelValue): number {
  if (typeof value === "string") return Math.floor(Buffer.byteLength(value) * traversalFactor);
  if (value instanceof Uint8Array) return Math.floor(value.length * traversalFactor);
  let cost = 0;
  if (value instanceof CelList) {
    for (let at = 0; at < value.size; at++) cost += deepSize(value.at(at));
    return cost;
  }
  if (!(value instanceof CelMap)) return 1;
  for (const key of value.keys()) cost += deepSize(key) + deepSize(value.find(key) as CelValue);
  return cost;
}

type Element = Omit<SizedNode, "size">;

function elementOf(list: SizedNode): Element | undefined {
  const [type] = list.type.parameters;
  return type === undefined
    ? undefined
    : { path: list.path === undefined ? undefined : [...list.path, "@items"], type, expr: list.expr };
}

/** Returns the size of the result of `join`. */
export function joinedSize({ target, args, hints }: CallToEstimate): Range {
  const count = sizeOrUnknown(target);
  const element = target === undefined ? undefined : elementOf(target);
  const texts = element === undefined ? fixed(0) : times(count, hints.estimateSize(element) ?? unknownRange);
  if (args[0] === undefined) return texts;
  const separators = { min: count.min > 0n ? count.min - 1n : 0n, max: count.max > 0n ? count.max - 1n : 0n };
  return plus(texts, times(sizeOrUnknown(args[0]), separators));
}
