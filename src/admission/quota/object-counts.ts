/**
 * Resources of which quotas limit only the number of objects.
 * Source: k8s.io/apiserver@v0.36.0/pkg/quota/v1/generic/evaluator.go.
 */
import { one } from "./amounts.ts";
import type { Amounts, Evaluator } from "./contract.ts";

/** Returns the name under which quotas count all objects of a resource: `count/deployments.apps`. */
export function countName(group: string, resource: string): string {
  return group === "" ? `count/${resource}` : `count/${resource}.${group}`;
}

/** @param alias the older name of the count, such as `configmaps` */
export function objectCounts(group: string, resource: string, alias?: string): Evaluator {
  const names = [countName(group, resource), ...(alias === undefined ? [] : [alias])];
  const usage: Amounts = new Map(names.map((name) => [name, one]));
  return {
    handles: ({ operation, subresource }) => operation === "CREATE" && subresource === "",
    matches: (name) => names.includes(name),
    usageOf: () => usage,
    countsAs: names,
  };
}
