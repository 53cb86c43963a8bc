/** Gives plugins the loaded watch cache of a resource, as upstream's informers. */
import type { GroupResource } from "../apimachinery/object.ts";
import type { Catalog, ResourceStore } from "../catalog/contract.ts";

/**
 * Calls a function with the store of a resource whose watch cache is loaded, so that `latest` can
 * be used. The function runs at once, except before the first load.
 *
 * @returns a function that resolves to undefined without a call if the resource is not served
 */
export function withReadyStore(
  catalog: Pick<Catalog, "findResource">,
  { group, resource }: GroupResource,
): (use: (store: ResourceStore) => void) => void | Promise<void> {
  let ready: ResourceStore | undefined;
  return (use) => {
    if (ready !== undefined) return use(ready);
    const store = catalog.findResource(group, resource)?.store;
    if (store === undefined) return;
    return store.cache.ready().then(() => {
      ready = store;
      use(store);
    });
  };
}
