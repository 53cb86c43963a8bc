/** Ranges of addresses that ServiceCIDRs add to those of the command line, while they are ready. Source: kubernetes pkg/registry/core/service/ipallocator. */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { items } from "../../../apis/fields.ts";
import type { Catalog, ResourceStore } from "../../../catalog/contract.ts";
import { type IpRange, parseIpRange } from "../../../lib/ip-range/ip-range.ts";
import type { Entry } from "../../../watch-cache/contract.ts";

export interface ServiceCidrs {
  /** Resolves when they are known. */
  ready(): Promise<void>;
  /** Of all that are ready now, by name. */
  ranges(): readonly IpRange[];
}

export function serviceCidrs(catalog: Catalog): ServiceCidrs {
  const known = new WeakMap<Entry, readonly IpRange[]>();
  /** Undefined where the kind is switched off. */
  const store = (): ResourceStore | undefined => catalog.findResource("networking.k8s.io", "servicecidrs")?.store;
  const rangesOf = (entry: Entry, { decode }: ResourceStore): readonly IpRange[] => {
    const before = known.get(entry);
    if (before !== undefined) return before;
    const ranges = readyRanges(decode(entry));
    known.set(entry, ranges);
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
