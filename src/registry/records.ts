/** Values that are no objects of the API, such as the addresses of servers, under keys that no resource has. */
import type { KubeObject } from "../apimachinery/object.ts";
import type { Resource } from "../catalog/contract.ts";
import type { Stored } from "../storage/contract.ts";
import { commit, throwStorageError, writeOf } from "./commit.ts";
import type { RegistryContext } from "./contract.ts";

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
export async function putRecord(
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
export async function removeRecord(registry: RegistryContext, { key, revision }: Stored): Promise<boolean> {
  const committed = await commit(registry, { revision }, { key, value: null }).catch(throwStorageError);
  return committed.ok;
}
