/**
 * Addresses of servers under one prefix, outside of the API: values of the kind Endpoints that expire
 * unless they are written again, as kube-apiserver stores them.
 */
import type { KubeObject } from "../apimachinery/object.ts";
import type { Resource, ResourceStore } from "../catalog/contract.ts";
import type { Stored } from "../storage/contract.ts";
import { entryFromStored } from "../watch-cache/entry.ts";
import { commit, throwStorageError, writeOf } from "./commit.ts";
import type { RegistryContext } from "./contract.ts";

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

interface NewRecord {
  readonly key: string;
  /** Encoded as an object of the resource. */
  readonly object: KubeObject;
  readonly ttlSeconds: number;
  /** What the key must have; 0: absent. */
  readonly revision: number;
}

/**
 * Stores a record until it expires.
 * @returns false when another writer has won
 * @throws ApiError 500, 503 when the store cannot commit
 */
async function putRecord(
  registry: RegistryContext,
  resource: Resource,
  { key, object, ttlSeconds, revision }: NewRecord,
): Promise<boolean> {
  const { write } = writeOf(registry, { resource, key, object });
  const existing = revision === 0 ? undefined : { revision };
  const committed = await commit(registry, existing, { ...write, ttlSeconds }).catch(throwStorageError);
  return committed.ok;
}

/**
 * Removes a record.
 * @returns false when another writer has won
 * @throws ApiError 500, 503 when the store cannot commit
 */
async function removeRecord(registry: RegistryContext, { key, revision }: Stored): Promise<boolean> {
  const committed = await commit(registry, { revision }, { key, value: null }).catch(throwStorageError);
  return committed.ok;
}
