/** The watch caches that were used, with the names of their resources. */
import type { GroupResource } from "../apimachinery/object.ts";
import type { Catalog } from "../catalog/contract.ts";
import type { Installer } from "../catalog/install.ts";
import type { WatchCache } from "../watch-cache/contract.ts";

/** Events are there once, as those of the core group. */
export function cachesByResource(
  catalog: Pick<Catalog, "definitions">,
  installer: Pick<Installer, "caches">,
): (readonly [GroupResource, WatchCache])[] {
  const byPrefix = new Map(installer.caches());
  return catalog.definitions().flatMap(({ resource, storage: form }) => {
    if (form === undefined) return [];
    const cache = byPrefix.get(form.prefix);
    if (cache === undefined) return [];
    byPrefix.delete(form.prefix);
    return [[{ group: form.group, resource }, cache] as const];
  });
}
