/**
 * Reads namespaces for selectors and expressions. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/webhook/predicates/namespace/matcher.go.
 */
import { notFound } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Catalog, ResourceStore } from "../../catalog/contract.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import { currentEntry } from "../../registry/current-entry.ts";
import type { Entry } from "../../watch-cache/contract.ts";

/** The namespaces of a server. */
export interface Namespaces {
  /**
   * Returns the labels of the request's namespace; for the creation or update of a namespace, those
   * of the written object.
   *
   * @throws ApiError 404
   */
  labels(attributes: AdmissionAttributes): Promise<ReadonlyMap<string, string>>;
  /**
   * Finds a namespace, and returns a function that decodes it.
   *
   * @throws ApiError 404
   */
  find(name: string): Promise<() => KubeObject>;
}

const resource = { group: "", resource: "namespaces" };

/** Reads namespaces from the watch cache. */
export function namespacesOf(catalog: Pick<Catalog, "findResource">): Namespaces {
  let ready: ResourceStore | undefined;
  const find = async (name: string): Promise<Entry> => {
    const cached = ready?.cache.latest().get(ready.keyOf("", name));
    if (cached !== undefined) return cached;
    const store = catalog.findResource(resource.group, resource.resource)?.store;
    if (store === undefined) throw notFound(resource, name);
    const entry = await currentEntry(store, store.keyOf("", name));
    ready = store;
    if (entry === undefined) throw notFound(resource, name);
    return entry;
  };
  return {
    async labels(attributes) {
      const { target, subresource, operation, namespace, object } = attributes;
      const isWritten = operation === "CREATE" || operation === "UPDATE";
      if (target.resource.definition.resource === "namespaces" && subresource === "" && isWritten)
        return new Map(Object.entries(object?.metadata.labels ?? {}));
      return (await find(namespace)).index.labels;
    },
    async find(name) {
      const entry = await find(name);
      return () => (ready as ResourceStore).decode(entry);
    },
  };
}
