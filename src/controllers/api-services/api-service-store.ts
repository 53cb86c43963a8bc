/** Reads and writes APIServices as the server itself. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { currentEntry } from "../../registry/current-entry.ts";
import { decodedOnce } from "../../registry/decoded-once.ts";

/** Where APIServices are stored. */
export interface ApiServiceTarget {
  readonly target: Resolved;
  readonly store: ResourceStore;
}

/** @returns undefined when APIServices are not served */
export function apiServiceTarget({ catalog }: RegistryContext): ApiServiceTarget | undefined {
  const target = catalog.findServed("apiregistration.k8s.io", "v1", "apiservices");
  const store = target?.resource.store;
  return target === undefined || store === undefined ? undefined : { target, store };
}

/** Reads the stored APIService. @returns undefined when it does not exist; callers must not change the object */
export async function readApiService({ store }: ApiServiceTarget, name: string): Promise<KubeObject | undefined> {
  const entry = await currentEntry(store, store.keyOf("", name));
  return entry && decodedOnce(entry, store);
}
