/**
 * The writes of the garbage collector. Each has preconditions, so that only the object that was
 * checked is changed.
 */

import type { ObjectMeta } from "../../apimachinery/object.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { unlessConflict } from "../../registry/unless-conflict.ts";
import { deleteOne, update } from "../audited-writes.ts";
import { writesAs } from "../controller-write.ts";
import type { FollowedKind } from "./graph.ts";
import type { CollectedMeta } from "./metadata.ts";

export const writes = writesAs("generic-garbage-collector");

/** One object, in the state that was checked. */
export interface Item {
  readonly kind: FollowedKind;
  readonly namespace: string;
  readonly name: string;
  readonly meta: CollectedMeta;
}

/**
 * @returns false when the object was changed concurrently; true when it is deleted, or did not
 * exist
 */
export async function deleteItem(
  registry: RegistryContext,
  { kind, namespace, name, meta }: Item,
  propagationPolicy: string,
): Promise<boolean> {
  const { uid, resourceVersion } = meta;
  const options = { propagationPolicy, preconditions: { uid, resourceVersion }, dryRun: false };
  return unlessConflict(async () => {
    await deleteOne(registry, { ...writes.of(kind.target, namespace, name), options });
  });
}

/** @returns false when the object was replaced, or because of repeated conflicts */
export function removeFinalizer(registry: RegistryContext, item: Item, finalizer: string): Promise<boolean> {
  return changeMetadata(registry, item, (metadata) => {
    metadata.finalizers = metadata.finalizers?.filter((one) => one !== finalizer) ?? [];
  });
}

/** @returns as {@link removeFinalizer} */
export function removeOwners(registry: RegistryContext, item: Item, uids: ReadonlySet<string>): Promise<boolean> {
  return changeMetadata(registry, item, (metadata) => {
    const kept = metadata.ownerReferences?.filter(({ uid }) => !uids.has(uid)) ?? [];
    if (kept.length > 0) metadata.ownerReferences = kept;
    else delete metadata.ownerReferences;
  });
}

/** Sets `blockOwnerDeletion` to false in all references. @returns as {@link removeFinalizer} */
export function unblockOwners(registry: RegistryContext, item: Item): Promise<boolean> {
  return changeMetadata(registry, item, (metadata) => {
    for (const reference of metadata.ownerReferences ?? [])
      if (reference.blockOwnerDeletion === true) reference.blockOwnerDeletion = false;
  });
}

async function changeMetadata(
  registry: RegistryContext,
  { kind, namespace, name, meta }: Item,
  change: (metadata: ObjectMeta) => void,
): Promise<boolean> {
  return unlessConflict(async () => {
    await update(registry, {
      ...writes.of(kind.target, namespace, name),
      uid: meta.uid,
      next(current) {
        if (current === undefined) throw new Error("an update in place was asked for an object that does not exist");
        const object = current();
        change(object.metadata);
        return object;
      },
    });
  });
}
