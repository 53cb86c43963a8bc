/** The number and the average size of stored objects, from their watch caches. */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Catalog, ResourceStore } from "../../catalog/contract.ts";
import type { ObjectStats } from "./list-width.ts";

/** Sizes are estimated again after this time, as upstream counts objects. */
const refreshMs = 60_000;
/** Objects whose sizes are added up. */
const sampledMax = 100;

interface Estimate {
  readonly averageBytes: number;
  readonly at: number;
}

/** Returns undefined for resources that are not stored here, and those that no request has read. */
export type FindStats = (group: string, resource: string) => ObjectStats | undefined;

/** Estimates sizes from some objects of each resource, and keeps the estimates for a minute. */
export function objectStats(catalog: Pick<Catalog, "findResource">, clock: Clock): FindStats {
  const estimates = new WeakMap<ResourceStore, Estimate>();
  return (group, resource) => {
    const store = catalog.findResource(group, resource)?.store;
    const count = store?.cache.latest().size ?? 0;
    if (store === undefined || count === 0) return undefined;
    let estimate = estimates.get(store);
    if (estimate === undefined || clock.now() - estimate.at > refreshMs) {
      estimate = { averageBytes: averageBytes(store), at: clock.now() };
      estimates.set(store, estimate);
    }
    return { count, averageBytes: estimate.averageBytes };
  };
}

function averageBytes({ cache, form }: ResourceStore): number {
  let objects = 0;
  let bytes = 0;
  for (const { json } of cache.latest().range(form.prefix)) {
    objects += 1;
    bytes += json.length;
    if (objects === sampledMax) break;
  }
  return objects === 0 ? 0 : Math.ceil(bytes / objects);
}
