/** Gives plugins the loaded watch cache of a resource, as upstream's informers. */
import type { GroupResource } from "../apimachinery/object.ts";
import type { Catalog, ResourceStore } from "../catalog/contract.ts";

/**
 * Finds the store of a resource, and waits until its watch cache is loaded, so that `latest` can be
 * used.
 *
 * @returns undefined if the resource is not served
 */
export async function readyStore(
  catalog: Pick<Catalog, "findResource">,
  { group, resource }: GroupResource,
): Promise<ResourceStore | undefined> {
  const store = catalog.findResource(group, resource)?.store;
  await store?.cache.ready();
  return store;
}
