/** Finds the bounds of a LimitRange that a pod or a claim violates. */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { sumOfContainers } from "../../../apis/core/pod/sum-of-containers.ts";
import type { Quantity } from "../../../lib/quantity/quantity.ts";
import { aboveMax, aboveRatio, belowMin, requestAboveMax, type Usage } from "./constraints.ts";
import { type Amount, amountOf, type LimitItem, type Limits, parseAmount } from "./limits.ts";

/** @returns one text for each violated bound, in the order of the limits, containers and resources */
export function podProblems({ spec = {} }: KubeObject, limits: Limits, podLevel: boolean): string[] {
  return limits.items.flatMap((item) => {
    if (item.type === "Container") {
      const containers: Container[] = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
      return containers.flatMap(({ resources }) => boundProblems(item, declaredUsage(resources)));
    }
    return item.type === "Pod" ? boundProblems(item, podUsage(spec, podLevel)) : [];
  });
}

/** @returns as {@link podProblems}; only the request of a claim counts */
export function claimProblems({ spec }: KubeObject, limits: Limits): string[] {
  const usage = declaredUsage({ requests: spec?.resources?.requests });
  return limits.items
    .filter(({ type }) => type === "PersistentVolumeClaim")
    .flatMap((item) => [
      ...item.min.map((bound) => belowMin(item.type, bound, usage)),
      ...item.max.map((bound) => requestAboveMax(item.type, bound, usage)),
    ])
    .filter((problem) => problem !== undefined);
}

/** Joins texts as upstream's aggregated errors: each text once. */
export function joinProblems(problems: readonly string[]): string {
  const [first = "", ...more] = new Set(problems);
  return more.length === 0 ? first : `[${[first, ...more].join(", ")}]`;
}

interface Resources {
  readonly requests?: Readonly<Record<string, string>> | undefined;
  readonly limits?: Readonly<Record<string, string>> | undefined;
}

interface Container {
  readonly resources?: Resources;
}

function boundProblems({ type, min, max, maxRatio }: LimitItem, usage: Usage): string[] {
  return [
    ...min.map((bound) => belowMin(type, bound, usage)),
    ...max.map((bound) => aboveMax(type, bound, usage)),
    ...maxRatio.map((bound) => aboveRatio(type, bound, usage)),
  ].filter((problem) => problem !== undefined);
}

function declaredUsage({ requests = {}, limits = {} }: Resources = {}): Usage {
  return { request: (name) => readAmount(requests, name), limit: (name) => readAmount(limits, name) };
}

function readAmount(list: Readonly<Record<string, string>>, name: string): Amount | undefined {
  const text = Object.hasOwn(list, name) ? list[name] : undefined;
  return text === undefined ? undefined : parseAmount(text);
}

/** The resources that a pod can declare as a whole, instead of the sum of its containers. */
const podLevelResources: ReadonlySet<string> = new Set(["cpu", "memory"]);

function podUsage(spec: KubeObject["spec"], podLevel: boolean): Usage {
  const usageOf = (field: "requests" | "limits"): ((name: string) => Amount | undefined) => {
    let sum: ReadonlyMap<string, Quantity> | undefined;
    const declared: Resources["requests"] = podLevel ? spec.resources?.[field] : undefined;
    return (name) => {
      const whole = podLevelResources.has(name) ? readAmount(declared ?? {}, name) : undefined;
      if (whole !== undefined) return whole;
      sum ??= sumOfContainers(spec, field);
      const quantity = sum.get(name);
      return quantity && amountOf(quantity);
    };
  };
  return { request: usageOf("requests"), limit: usageOf("limits") };
}
