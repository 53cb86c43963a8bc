/**
 * Addresses of servers under one prefix, outside of the API: values of the kind Endpoints that expire
 * unless they are written again, as kube-apiserver stores them.
 */
import type { KubeObject } from "../apimachinery/object.ts";
import type { ResourceStore } from "../catalog/contract.ts";
import type { Stored } from "../storage/contract.ts";
import { entryFromStored } from "../watch-cache/entry.ts";
import type { RegistryContext } from "./contract.ts";
import { putRecord, removeRecord } from "./records.ts";

const ttlSeconds = 15;
/** Records that are read; far more than there are servers. */
const recordsMax = 1000;
/** How often another writer of the same record may win. */
const attemptsMax = 5;

/** The records under one prefix. */
export interface ServerRecords {
  /** Returns all records. @throws errors of the store, and of records that cannot be decoded */
  list(): Promise<readonly KubeObject[]>;
  /** Creates or renews a record. @throws ApiError */
  renew(name: string, object: KubeObject): Promise<void>;
  /** @returns whether there was a record @throws ApiError */
  remove(name: string): Promise<boolean>;
}

/**
 * @param prefix ends with a slash
 * @returns undefined in a catalog without Endpoints. They need not be served
 */
export function serverRecords(registry: RegistryContext, prefix: string): ServerRecords | undefined {
  const resource = registry.catalog.find("", "v1", "endpoints")?.resource;
  const store = resource?.store;
  if (resource === undefined || store === undefined) return undefined;
  const { storage } = registry;
  return {
    async list() {
      const { entries } = await storage.range(prefix, { limit: recordsMax });
      return entries.map((stored) => decode(store, stored));
    },
    async renew(name, { metadata, ...rest }) {
      const key = prefix + name;
      for (let attempts = 1; attempts <= attemptsMax; attempts++) {
        const stored = await storage.get(key);
        const generation = Number((stored && decode(store, stored).metadata?.generation) ?? 0) + 1;
        const object = { metadata: { ...metadata, generation }, ...rest };
        if (await putRecord(registry, resource, { key, object, ttlSeconds, revision: stored?.revision ?? 0 })) return;
      }
    },
    async remove(name) {
      const stored = await storage.get(prefix + name);
      return stored !== undefined && removeRecord(registry, stored);
    },
  };
}

function decode(store: ResourceStore, stored: Stored): KubeObject {
  return store.decode(entryFromStored(stored, store.source));
}
