/** Finds the default among the classes of a kind, such as StorageClasses. */
import type { GroupResource, KubeObject } from "../../apimachinery/object.ts";
import type { Catalog, ResourceStore } from "../../catalog/contract.ts";
import { readyStore } from "../ready-store.ts";

/**
 * Several classes can be marked as default: the newest counts, and among classes of the same second
 * the first by name. Classes are read again only after one of them has changed.
 *
 * @param annotations each marks a class as default with the value `true`
 * @returns a function that returns the name of the default class; undefined if there is none
 */
export function defaultClass(
  catalog: Pick<Catalog, "findResource">,
  kind: GroupResource,
  annotations: readonly string[],
): () => Promise<string | undefined> {
  let known: { readonly identity: object; readonly name: string | undefined } | undefined;
  return async () => {
    const store = await readyStore(catalog, kind);
    if (store === undefined) return undefined;
    const { identity } = store.cache.latest();
    if (known?.identity !== identity) known = { identity, name: findDefault(store, annotations) };
    return known.name;
  };
}

function findDefault(store: ResourceStore, annotations: readonly string[]): string | undefined {
  let newest: KubeObject["metadata"] | undefined;
  for (const entry of store.cache.latest().range(store.form.prefix)) {
    const { metadata } = store.decode(entry);
    const isDefault = annotations.some((annotation) => metadata.annotations?.[annotation] === "true");
    // Entries are in the order of names, and timestamps of one format compare as text.
    if (isDefault && (newest === undefined || (metadata.creationTimestamp ?? "") > (newest.creationTimestamp ?? "")))
      newest = metadata;
  }
  return newest?.name;
}
