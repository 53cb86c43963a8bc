/**
 * Commits writes of objects: encodes an object once, checks the revision, and returns the stored entry.
 * {@link settle} makes the object that is encoded.
 */

import { conflict, objectModified, serviceUnavailable } from "../apimachinery/errors.ts";
import { formatGroupVersion, type KubeObject } from "../apimachinery/object.ts";
import { storeOf } from "../catalog/catalog.ts";
import type { Resolved, Resource, ResourceStore } from "../catalog/contract.ts";
import { type Encoded, encodeObject } from "../lib/schema/encode.ts";
import type { Committed, Conflict, DerivedWrite, Seal, Storage, Stored, Write } from "../storage/contract.ts";
import { ValueTooLarge } from "../storage/contract.ts";
import type { Entry } from "../watch-cache/contract.ts";
import { deletedEntry, entryFromStored, makeEntry } from "../watch-cache/entry.ts";
import { isReadFailure } from "../watch-cache/unreadable.ts";
import type { RegistryContext } from "./contract.ts";
import type { JointChange } from "./joint-change.ts";
import { commitJointly } from "./joint-write.ts";
import { storedResource } from "./resource-names.ts";
import { isStoredAs, sharedForm } from "./shared-encoding.ts";
import { answerOfStorageError } from "./storage-error.ts";

type Commit = Parameters<Storage["commit"]>;

/** An object to be stored. */
export interface Put {
  readonly object: KubeObject;
  /** Stores the object without its managed fields if only those make it too large. */
  readonly mayDropManagedFields?: boolean;
  /** Changes of other objects in the same commit. */
  readonly joint?: readonly JointChange[];
}

/**
 * Stores a new object.
 * @returns the entry, or the existing one under that key; undefined when that cannot be read
 */
export async function insert(
  registry: RegistryContext,
  resource: Resource,
  key: string,
  { object, joint }: Pick<Put, "object" | "joint">,
): Promise<{ entry: Entry } | { taken: Entry | undefined }> {
  const written = await put(registry, resource, key, undefined, { object, joint, mayDropManagedFields: true });
  if ("entry" in written) return written;
  try {
    return { taken: entryFromStored(written.current as NonNullable<typeof written.current>, storeOf(resource).source) };
  } catch (error) {
    if (!isReadFailure(error)) throw error;
    return { taken: undefined };
  }
}

/** An object that is about to be stored for the first time. */
export interface NewObject {
  readonly resource: Resource;
  readonly key: string;
  readonly object: KubeObject;
}

/** Writes per commit; the contract of storage allows 128. */
const insertedTogetherMax = 100;

/**
 * Stores many new objects in few commits.
 * @returns false when one of them exists already; some others may have been stored then
 * @throws ApiError 500, 503, 504
 */
export async function insertAll(registry: RegistryContext, objects: readonly NewObject[]): Promise<boolean> {
  const writes = objects.map((one) => writeOf(registry, one).write);
  for (let at = 0; at < writes.length; at += insertedTogetherMax) {
    const some = writes.slice(at, at + insertedTogetherMax);
    const absent = some.map(({ key }) => ({ key, revision: 0 }));
    const { ok } = await commitFenced(registry, absent, some).catch(throwStorageError);
    if (!ok) return false;
  }
  return true;
}

/** @param object its kind and apiVersion are set to those of storage */
function encode({ store }: Resource, object: KubeObject): { seal: Seal; encoded: Encoded } {
  const { form, fingerprint } = store as ResourceStore;
  object.kind = form.kind;
  object.apiVersion = formatGroupVersion(form.group, form.version);
  const encoded = encodeObject(object, form.schema);
  return { seal: { fingerprint, versionOffset: encoded.versionOffset, itemOffset: encoded.itemOffset }, encoded };
}

/** @returns the write of an object without checks */
export function writeOf({ sharedEncoding, entered }: RegistryContext, { resource, key, object }: NewObject) {
  entered?.("store", key);
  const { seal, encoded } = encode(resource, object);
  const { ttlSeconds } = resource.definition.strategy;
  const shared = sharedEncoding && sharedForm(sharedEncoding, resource, object, encoded.json);
  const write = { key, value: encoded.json, seal, ...shared, ...(ttlSeconds !== undefined && { ttlSeconds }) };
  return { write, seal, encoded };
}

/**
 * Stores an object. Nothing is written when the stored bytes are the same.
 * @param existing the object that it replaces, at the revision that must be current; undefined for
 *   a new object
 * @throws ApiError 500, 503, 504 when the store cannot commit
 * @throws JointConflict when a joint change was not possible, once the cache of its object shows why
 */
export async function put(
  registry: RegistryContext,
  resource: Resource,
  key: string,
  existing: Entry | undefined,
  { object, mayDropManagedFields = false, joint = [] }: Put,
): Promise<{ entry: Entry } | Conflict> {
  const store = storeOf(resource);
  const { write, seal, encoded } = writeOf(registry, { resource, key, object });
  if (existing !== undefined && isSame(existing, encoded) && (await isStoredAs(registry, store, existing, write)))
    return { entry: existing };
  let committed: Committed | Conflict;
  try {
    committed = await commit(registry, existing, write, joint);
  } catch (error) {
    if (!(error instanceof ValueTooLarge && mayDropManagedFields && object.metadata.managedFields !== undefined))
      throwStorageError(error);
    delete object.metadata.managedFields;
    return put(registry, resource, key, existing, { object, joint });
  }
  if (!committed.ok) return committed;
  registry.changed?.({ key, revision: committed.revision, before: existing, after: encoded.json });
  registry.entered?.("committed");
  const cached = store.cache.latest().get(key);
  // The cache may still have another history, whose revisions mean other states: compare the bytes.
  if (cached?.revision === committed.revision && isSame(cached, encoded)) return { entry: cached };
  return { entry: makeEntry(key, committed.revision, encoded.json, seal, store.source) };
}

/**
 * Removes an object that could not be read, if it is unchanged.
 * @throws ApiError 409 when it has changed; 500, 503, 504 when the store cannot commit
 */
export async function removeUnread(
  registry: RegistryContext,
  resource: Resource,
  name: string,
  { key, revision }: Stored,
): Promise<void> {
  const committed = await commit(registry, { revision }, { key, value: null }).catch(throwStorageError);
  if (!committed.ok) throw conflict(storedResource(resource), name, objectModified);
}

/** Removes an object. @throws ApiError 500, 503, 504 when the store cannot commit */
export async function remove(
  registry: RegistryContext,
  key: string,
  existing: Entry | undefined,
): Promise<{ entry: Entry | undefined } | Conflict> {
  const committed = await commit(registry, existing, { key, value: null }).catch(throwStorageError);
  if (!committed.ok) return committed;
  registry.changed?.({ key, revision: committed.revision, before: existing, after: undefined });
  registry.entered?.("committed");
  return { entry: existing && deletedEntry(existing, committed.revision) };
}

/**
 * Commits one write with changes of other objects.
 * @param existing what the write replaces; undefined: the key must be absent
 * @throws errors of the store
 */
export function commit(
  registry: RegistryContext,
  existing: Pick<Entry, "revision"> | undefined,
  write: Write,
  joint: readonly JointChange[] = [],
): Promise<Committed | Conflict> {
  const checks = [{ key: write.key, revision: existing?.revision ?? 0 }];
  if (joint.length === 0) return commitFenced(registry, checks, [write]);
  return commitJointly({ registry, encode, commit: commitFenced.bind(undefined, registry) }, checks, write, joint);
}

/**
 * Changes a value that is not an object of the catalog, such as a range of ports.
 * @throws ApiError 500, 503, 504 when the store cannot commit
 * @throws Error that `derive` throws
 */
export async function putValue(registry: RegistryContext, value: DerivedWrite): Promise<void> {
  await commitFenced(registry, [], [value]).catch(throwStorageError);
}

/** How often the key of a fence may change during a commit. */
const fencedAttemptsMax = 20;

/** @throws ApiError 503 when the fence does not permit the write; 409 when another state was restored meanwhile */
async function commitFenced(registry: RegistryContext, ...[checks, writes]: Commit): Promise<Committed | Conflict> {
  const { storage, fence, decision } = registry;
  decision?.check();
  registry.entered?.("commit");
  if (fence === undefined) return storage.commit(checks, writes);
  for (let attempts = 1; ; attempts++) {
    const condition = fence.check();
    const committed = await storage.commit([condition, ...checks], writes);
    if (committed.ok || committed.key !== condition.key) return committed;
    fence.changed(committed.current);
    if (checks.some(({ key }) => key === condition.key)) return committed; // The caller writes the key itself.
    if (attempts === fencedAttemptsMax) throw serviceUnavailable("the lease changes too often");
  }
}

/** @throws ApiError 500, 503, 504 for errors of the store */
export function throwStorageError(error: unknown): never {
  throw answerOfStorageError(error) ?? error;
}

/** Whether the entry holds these bytes, with its resourceVersion inserted. */
function isSame({ json, revision }: Entry, encoded: Encoded): boolean {
  const splice = `"resourceVersion":"${revision}",`.length;
  const at = encoded.versionOffset;
  if (json.length !== encoded.json.length + splice) return false;
  return json.compare(encoded.json, 0, at, 0, at) === 0 && json.compare(encoded.json, at, undefined, at + splice) === 0;
}

/**
 * The form of a written object that is stored. Upstream's store decodes again what it has encoded,
 * which prunes fields that admission added and the schema does not have, and sets defaults that the
 * kind's strategy removed. Source: crdConversionRESTOptionsGetter of
 * k8s.io/apiextensions-apiserver@v0.36.0.
 * @param object valid; must not be used afterwards
 * @throws ApiError 500 when a conversion webhook fails
 */
export async function settle({ resource, version, converted }: Resolved, object: KubeObject): Promise<KubeObject> {
  if (converted !== undefined) return converted.stored(object);
  const losses = version.conversion?.losses;
  if (losses !== undefined) return losses.stored(object);
  storeOf(resource).form.schema.custom?.settle(object);
  resource.definition.strategy.setStoredDefaults(object);
  return object;
}
