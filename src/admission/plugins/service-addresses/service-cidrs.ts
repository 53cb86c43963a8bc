/**
 * Ready ServiceCIDRs add address ranges to those of the command line.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/ipallocator/cidrallocator.go.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { items } from "../../../apis/fields.ts";
import type { Catalog, ResourceStore } from "../../../catalog/contract.ts";
import { type IpRange, parseIpRange } from "../../../lib/ip-range/ip-range.ts";
import type { Entry } from "../../../watch-cache/contract.ts";

interface ServiceCidrs {
  /** Resolves when the watch cache has the ServiceCIDRs. */
  ready(): Promise<void>;
  /** The ranges of all ready ServiceCIDRs, ordered by name. */
  ranges(): readonly IpRange[];
}

/** Reads ServiceCIDRs from the watch cache. */
export function serviceCidrs(catalog: Catalog): ServiceCidrs {
  const rangesByEntry = new WeakMap<Entry, readonly IpRange[]>();
  /** Undefined if the kind is disabled. */
  const store = (): ResourceStore | undefined => catalog.findResource("networking.k8s.io", "servicecidrs")?.store;
  const rangesOf = (entry: Entry, { decode }: ResourceStore): readonly IpRange[] => {
    const cached = rangesByEntry.get(entry);
    if (cached !== undefined) return cached;
    const ranges = readyRanges(decode(entry));
    rangesByEntry.set(entry, ranges);
    return ranges;
  };
  return {
    async ready() {
      await store()?.cache.ready();
    },
    ranges() {
      const from = store();
      return from === undefined
        ? []
        : [...from.cache.latest().range(from.form.prefix)].flatMap((entry) => rangesOf(entry, from));
    },
  };
}

function readyRanges({ metadata, spec, status }: KubeObject): readonly IpRange[] {
  const isReady = items(status?.conditions).some(
    (condition) => condition.type === "Ready" && condition.status === "True",
  );
  if (!isReady || metadata.deletionTimestamp !== undefined) return [];
  return ((spec?.cidrs ?? []) as string[]).map(parseIpRange).filter((range) => range !== undefined);
}
