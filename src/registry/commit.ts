/**
 * Commits the result of an attempt: encodes once, checks the revision, and retries from the current
 * state on conflict. {@link settle} makes the object that is encoded.
 */
import { ApiError, conflict, objectModified, plainError, serviceUnavailable } from "../apimachinery/errors.ts";
import { formatGroupVersion, type KubeObject } from "../apimachinery/object.ts";
import type { RequestAudit } from "../audit/contract.ts";
import type { Resolved, Resource, ResourceStore } from "../catalog/contract.ts";
import { type Encoded, encodeObject } from "../lib/schema/encode.ts";
import {
  type Committed,
  type Conflict,
  type Seal,
  StorageUnavailable,
  type Stored,
  ValueTooLarge,
  type Write,
} from "../storage/contract.ts";
import type { Entry } from "../watch-cache/contract.ts";
import { deletedEntry, entryFromStored, makeEntry } from "../watch-cache/entry.ts";
import { isReadFailure } from "../watch-cache/unreadable.ts";
import type { RegistryContext } from "./contract.ts";
import { readAfterCacheFailure, storedResource, storeOf } from "./resource-names.ts";

/** What an attempt does to the stored object. */
export type Step =
  | Put
  | { readonly do: "remove"; readonly object: KubeObject } // The object is returned to the caller only.
  | { readonly do: "nothing"; readonly object: KubeObject };

/** Nothing is written when the stored bytes are the same. */
interface Put {
  readonly do: "put";
  readonly object: KubeObject;
  /** Stores the object without its managed fields if only those make it too large. */
  readonly mayDropManagedFields?: boolean;
}

export interface Outcome {
  readonly step: Step;
  /**
   * What is stored now; for "remove", the last stored state at the revision of the removal.
   * Undefined for a dry run of a creation.
   */
  readonly entry: Entry | undefined;
}

interface CommitTarget {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  /** Stops before the commit. */
  readonly dryRun: boolean;
  /** Records the time spent in the store. */
  readonly audit?: RequestAudit | undefined;
}

/**
 * Limits how often other writers may win before one write fails; upstream retries until the request
 * times out.
 */
const attemptsMax = 100;

/**
 * Computes the step from the existing object; called again for each retry. An error that it throws
 * ends the write.
 */
type Attempt = (existing: Entry | undefined) => Step | Promise<Step>;

/**
 * Runs the attempt on the current state and commits its step; runs it again from the new state
 * whenever another writer wins. Writers of one object that lost once take turns: n concurrent
 * writers need about 2n attempts instead of n².
 * @throws ApiError 409 when other writers win every attempt; 500, 503 when the store cannot commit
 */
export async function commitWithRetry(
  registry: RegistryContext,
  target: CommitTarget,
  attempt: Attempt,
): Promise<Outcome> {
  const turn: Turn = { leave: undefined };
  try {
    return await commitInTurn(registry, target, attempt, turn);
  } finally {
    turn.leave?.();
  }
}

interface Turn {
  leave: (() => void) | undefined;
}

async function commitInTurn(
  registry: RegistryContext,
  target: CommitTarget,
  attempt: Attempt,
  turn: Turn,
): Promise<Outcome> {
  const store = storeOf(target.resource);
  const key = store.keyOf(target.namespace, target.name);
  let existing = await store.cache.ready().then(
    () => store.cache.latest().get(key),
    (error: unknown) => readAfterCacheFailure(error, store, key),
  );
  let fresh = false;
  for (let attempts = 1; ; attempts++) {
    let step: Step;
    try {
      step = await attempt(existing);
    } catch (error) {
      if (fresh || !(error instanceof ApiError)) throw error;
      // The cache of a remote store may lag: an attempt that fails on an old state may succeed on
      // the current one.
      const current = await currentEntry(store, key);
      if (current?.revision === existing?.revision) throw error;
      existing = current;
      fresh = true;
      continue;
    }
    if (target.dryRun || step.do === "nothing") return { step, entry: existing };
    const stopTimer = target.audit?.timing("etcd");
    const written =
      step.do === "put"
        ? await put(registry, target.resource, key, existing, step)
        : await remove(registry, key, existing);
    stopTimer?.();
    if ("entry" in written) return { step, entry: written.entry };
    if (attempts === attemptsMax) throw conflict(storedResource(target.resource), target.name, objectModified);
    existing = written.current && entryFromStored(written.current, store.source);
    if (turn.leave === undefined) {
      turn.leave = await store.turns.enter(key);
      existing = await currentEntry(store, key); // Writers with earlier turns have committed.
    }
    fresh = true;
  }
}

/**
 * The entry stored now, also when other objects of the resource cannot be read.
 * @throws ApiError 500 when the object itself cannot be read
 */
export function currentEntry(store: ResourceStore, key: string): Promise<Entry | undefined> {
  return store.cache.current().then(
    (snapshot) => snapshot.get(key),
    (error: unknown) => readAfterCacheFailure(error, store, key),
  );
}

/**
 * Stores a new object.
 * @returns the entry, or the existing one under that key; undefined when that cannot be read
 */
export async function insert(
  registry: RegistryContext,
  resource: Resource,
  key: string,
  object: KubeObject,
): Promise<{ entry: Entry } | { taken: Entry | undefined }> {
  const written = await put(registry, resource, key, undefined, { object, mayDropManagedFields: true });
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
 * @throws ApiError 500, 503
 */
export async function insertAll({ storage }: RegistryContext, objects: readonly NewObject[]): Promise<boolean> {
  const writes = objects.map(({ resource, key, object }) => writeOf(resource, key, object).write);
  for (let at = 0; at < writes.length; at += insertedTogetherMax) {
    const some = writes.slice(at, at + insertedTogetherMax);
    const absent = some.map(({ key }) => ({ key, revision: 0 }));
    const { ok } = await storage.commit(absent, some).catch(throwStorageError);
    if (!ok) return false;
  }
  return true;
}

/** @param object its kind and apiVersion are set to those of storage */
function writeOf(
  { definition, store }: Resource,
  key: string,
  object: KubeObject,
): { write: Write; seal: Seal; encoded: Encoded } {
  const { form, fingerprint } = store as ResourceStore;
  object.kind = form.kind;
  object.apiVersion = formatGroupVersion(form.group, form.version);
  const encoded = encodeObject(object, form.schema);
  const { ttlSeconds } = definition.strategy;
  const seal = { fingerprint, versionOffset: encoded.versionOffset, itemOffset: encoded.itemOffset };
  return { write: { key, value: encoded.json, seal, ...(ttlSeconds !== undefined && { ttlSeconds }) }, seal, encoded };
}

async function put(
  registry: RegistryContext,
  resource: Resource,
  key: string,
  existing: Entry | undefined,
  { object, mayDropManagedFields = false }: Omit<Put, "do">,
): Promise<{ entry: Entry } | Conflict> {
  const store = storeOf(resource);
  const { write, seal, encoded } = writeOf(resource, key, object);
  if (existing !== undefined && isSame(existing, encoded)) return { entry: existing };
  let committed: Committed | Conflict;
  try {
    committed = await commit(registry, existing, write);
  } catch (error) {
    if (!(error instanceof ValueTooLarge && mayDropManagedFields && object.metadata.managedFields !== undefined))
      throwStorageError(error);
    delete object.metadata.managedFields;
    return put(registry, resource, key, existing, { object });
  }
  if (!committed.ok) return committed;
  const cached = store.cache.latest().get(key);
  if (cached?.revision === committed.revision) return { entry: cached };
  return { entry: makeEntry(key, committed.revision, encoded.json, seal, store.source) };
}

/**
 * Removes an object that could not be read, if it is unchanged.
 * @throws ApiError 409 when it has changed; 500, 503 as {@link commitWithRetry}
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

async function remove(
  registry: RegistryContext,
  key: string,
  existing: Entry | undefined,
): Promise<{ entry: Entry | undefined } | Conflict> {
  const committed = await commit(registry, existing, { key, value: null }).catch(throwStorageError);
  return committed.ok ? { entry: existing && deletedEntry(existing, committed.revision) } : committed;
}

function commit(
  { storage }: RegistryContext,
  existing: Pick<Entry, "revision"> | undefined,
  write: Write,
): Promise<Committed | Conflict> {
  return storage.commit([{ key: write.key, revision: existing?.revision ?? 0 }], [write]);
}

/** @throws ApiError 500, 503 for errors of the store */
function throwStorageError(error: unknown): never {
  if (error instanceof ValueTooLarge) throw plainError(error.message);
  if (error instanceof StorageUnavailable) throw serviceUnavailable(error.message);
  throw error;
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
 * @returns a promise only for resources with a conversion webhook
 * @throws ApiError 500 when the webhook fails
 */
export function settle(
  { resource, version, converted }: Resolved,
  object: KubeObject,
): KubeObject | Promise<KubeObject> {
  if (converted !== undefined) return converted.stored(object);
  const losses = version.conversion?.losses;
  if (losses !== undefined) return losses.stored(object);
  storeOf(resource).form.schema.custom?.settle(object);
  return object;
}
