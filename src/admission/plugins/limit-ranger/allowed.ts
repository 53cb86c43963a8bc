/** Describes the bounds of a LimitRange, for an explanation. */
import { formatQuantity } from "../../../lib/quantity/quantity.ts";
import type { Bound, LimitItem, Limits } from "./limits.ts";

/** @returns such as `allowed per Container: cpu from 100m to 2, limit at most 4 times the request` */
export function describeAllowed({ items }: Limits): string {
  return items
    .filter((item) => item.min.length + item.max.length + item.maxRatio.length > 0)
    .map((item) => `allowed per ${item.type}: ${describeItem(item)}`)
    .join("; ");
}

function describeItem({ min, max, maxRatio }: LimitItem): string {
  const resources = [...new Set([...min, ...max, ...maxRatio].map(({ resource }) => resource))].sort();
  return resources
    .map((resource) => {
      const [from, to, ratio] = [textOf(min, resource), textOf(max, resource), textOf(maxRatio, resource)];
      const range = [...(from === undefined ? [] : [`from ${from}`]), ...(to === undefined ? [] : [`to ${to}`])];
      const times = ratio === undefined ? [] : [`limit at most ${ratio} times the request`];
      return `${resource} ${[...(range.length === 0 ? [] : [range.join(" ")]), ...times].join(", ")}`;
    })
    .join("; ");
}

function textOf(bounds: readonly Bound[], resource: string): string | undefined {
  const bound = bounds.find((each) => each.resource === resource);
  return bound && formatQuantity(bound.amount.quantity);
}
