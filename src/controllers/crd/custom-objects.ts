/** The objects of a kind that is to go. Source: k8s.io/apiextensions-apiserver pkg/controller/finalizer */
import { ApiError } from "../../api/errors.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { deleteOne } from "../../registry/delete.ts";
import type { ResourceDefinition } from "../../resource/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { writesAs } from "../controller-write.ts";

const writes = writesAs("kube-apiserver");
/** Deletions under way at once; they share commits. */
const deletionsAtOnce = 32;

export async function countObjects({ storage }: RegistryContext, { storage: form }: ResourceDefinition): Promise<number> {
  return form === undefined ? 0 : storage.count(form.prefix);
}

/** @returns whether all are gone; those that somebody holds are not @throws ApiError */
export async function deleteObjects(registry: RegistryContext, definition: ResourceDefinition): Promise<boolean> {
  const target = registry.catalog.find(definition.group, definition.storage?.version ?? "", definition.resource);
  const store = target?.resource.store;
  if (target === undefined || store === undefined) return true;
  const pending = [...(await store.cache.current()).range(store.form.prefix)];
  while (pending.length > 0) {
    const batch = pending.splice(0, deletionsAtOnce);
    await Promise.all(
      batch.map(({ index }: Entry) =>
        ignoringGone(deleteOne(registry, { ...writes.of(target, index.namespace, index.name), options: { dryRun: false } })),
      ),
    );
  }
  return (await countObjects(registry, definition)) === 0;
}

async function ignoringGone(deletion: Promise<unknown>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status.reason !== "NotFound") throw error;
  }
}
