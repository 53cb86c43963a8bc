/** Costs of Kubernetes' libraries, by function. Source: k8s.io/apiserver pkg/cel/library/cost.go */
import { sizeOrUnknown } from "../../cost/estimate.ts";
import { fixed, plus, type Range, times, timesFactor, unknownRange } from "../../cost/range.ts";
import type { CallToEstimate, FunctionDeclaration, SizedNode } from "../../declarations.ts";
import { sizeOf } from "../../values/containers.ts";
import { CelList, CelMap, type CelValue } from "../../values/value.ts";
import { traversalFactor } from "../costs.ts";

type Costs = Required<Pick<FunctionDeclaration, "cost" | "estimate">>;

/** Accessors and arithmetic. */
export const nominal: Costs = { cost: () => 1, estimate: () => ({ cost: fixed(1) }) };

/** @param times how often the receiver, or else the first argument, is read */
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

/** Functions that look at every element of a list, and at every character of its texts; those of texts of the same name too. */
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

/** A tenth of each text's UTF-8 bytes, rounded down; one for everything else. Values do not nest deeper than expressions and data may. */
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

/** The size of what `join` makes of a list and a separator. */
export function joinedSize({ target, args, hints }: CallToEstimate): Range {
  const count = sizeOrUnknown(target);
  const element = target === undefined ? undefined : elementOf(target);
  const texts = element === undefined ? fixed(0) : times(count, hints.estimateSize(element) ?? unknownRange);
  if (args[0] === undefined) return texts;
  const separators = { min: count.min > 0n ? count.min - 1n : 0n, max: count.max > 0n ? count.max - 1n : 0n };
  return plus(texts, times(sizeOrUnknown(args[0]), separators));
}
