/** What the garbage collector writes: each write only where the object still is the one that was looked at. */
import { ApiError } from "../../apimachinery/errors.ts";
import type { ObjectMeta } from "../../apimachinery/object.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { deleteOne } from "../../registry/delete.ts";
import { update } from "../../registry/update.ts";
import { writesAs } from "../controller-write.ts";
import type { FollowedKind } from "./graph.ts";
import type { CollectedMeta } from "./metadata.ts";

export const writes = writesAs("generic-garbage-collector");

/** One object, as it was looked at. */
export interface Item {
  readonly kind: FollowedKind;
  readonly namespace: string;
  readonly name: string;
  readonly meta: CollectedMeta;
}

/** @returns false when it has changed meanwhile; that it is gone is what was wanted */
export async function deleteItem(
  registry: RegistryContext,
  { kind, namespace, name, meta }: Item,
  propagationPolicy: string,
): Promise<boolean> {
  const { uid, resourceVersion } = meta;
  const options = { propagationPolicy, preconditions: { uid, resourceVersion }, dryRun: false };
  return unlessOvertaken(async () => {
    await deleteOne(registry, { ...writes.of(kind.target, namespace, name), options });
  });
}

/** @returns false when another object has its name now, or others write it all the time */
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

/** Its owners need not wait for it any more. @returns as {@link removeFinalizer} */
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
  return unlessOvertaken(async () => {
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

async function unlessOvertaken(write: () => Promise<void>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status.reason === "NotFound") return true;
    if (error.status.reason === "Conflict") return false;
    throw error;
  }
}
