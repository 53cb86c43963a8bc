/**
 * The address ranges of ready ServiceCIDRs.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/ipallocator/cidrallocator.go.
 */
import assert from "node:assert/strict";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { items } from "../../../apis/fields.ts";
import type { Catalog, ResourceStore } from "../../../catalog/contract.ts";
import { type IpRange, parseIpRange } from "../../../lib/ip-range/ip-range.ts";
import type { Entry } from "../../../watch-cache/contract.ts";

interface ServiceCidrs {
  /** Resolves when the watch cache has the ServiceCIDRs. */
  ready(): Promise<void>;
  /** Resolves when the watch cache shows what other servers wrote before. */
  refresh(): Promise<void>;
  /** The ranges of all ready ServiceCIDRs, ordered by name; the same objects until they change. */
  ranges(): readonly IpRange[];
}

/** Reads ServiceCIDRs from the watch cache. */
export function serviceCidrs(catalog: Catalog): ServiceCidrs {
  const rangesByEntry = new WeakMap<Entry, readonly IpRange[]>();
  const rangesOf = (entry: Entry, { decode }: ResourceStore): readonly IpRange[] => {
    const cached = rangesByEntry.get(entry);
    if (cached !== undefined) return cached;
    const ranges = readyRanges(decode(entry));
    rangesByEntry.set(entry, ranges);
    return ranges;
  };
  return {
    ready: () => cidrStore(catalog).cache.ready(),
    refresh: async () => void (await cidrStore(catalog).cache.current()),
    ranges() {
      const store = cidrStore(catalog);
      return [...store.cache.latest().range(store.form.prefix)].flatMap((entry) => rangesOf(entry, store));
    },
  };
}

/** It exists even when clients are not served the kind. */
function cidrStore(catalog: Catalog): ResourceStore {
  const store = catalog.find("networking.k8s.io", "v1", "servicecidrs")?.resource.store;
  assert.ok(store !== undefined, "the catalog has no store for ServiceCIDRs");
  return store;
}

/** A ServiceCIDR without the condition is ready, because a cluster may have no controller that sets it. */
function readyRanges({ metadata, spec, status }: KubeObject): readonly IpRange[] {
  const ready = items(status?.conditions).find(({ type }) => type === "Ready");
  if ((ready !== undefined && ready.status !== "True") || metadata.deletionTimestamp !== undefined) return [];
  return ((spec?.cidrs ?? []) as string[]).map(parseIpRange).filter((range) => range !== undefined);
}
