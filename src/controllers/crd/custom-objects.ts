/**
 * Deletes the objects of a custom kind whose definition is being deleted.
 * Source: `k8s.io/apiextensions-apiserver@v0.36.0/pkg/controller/finalizer/crd_finalizer.go`.
 */
import { ApiError } from "../../apimachinery/errors.ts";
import { formatGroupVersion } from "../../apimachinery/object.ts";
import type { ResourceDefinition } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { deleteMany } from "../../registry/delete-collection.ts";
import { listEntries } from "../../registry/list.ts";
import { plainList } from "../../request/list-options.ts";
import { serverWrites } from "../controller-write.ts";

export async function countObjects(
  { storage }: RegistryContext,
  { storage: form }: ResourceDefinition,
): Promise<number> {
  return form === undefined ? 0 : storage.count(form.prefix);
}

/** The result of deleting objects: whether all are deleted, or why the deletion failed. */
type ObjectsDeleted = { readonly gone: boolean } | { readonly failure: string };

/**
 * Deletes all objects at the storage version, as upstream does: objects stored at another version
 * are converted.
 */
export async function deleteObjects(
  registry: RegistryContext,
  definition: ResourceDefinition,
): Promise<ObjectsDeleted> {
  const { group, resource, kind, storage, namespaced } = definition;
  const target = registry.catalog.find(group, storage?.version ?? "", resource);
  const store = target?.resource.store;
  if (target === undefined || store === undefined) return { gone: true };
  const namespaces = new Set<string>();
  try {
    const { entries } = await listEntries(target.resource, "", plainList, target.converted);
    for (const { index } of entries) namespaces.add(namespaced ? index.namespace : "");
  } catch (error) {
    const why = `storage is (re)initializing: failed to list ${formatGroupVersion(group, storage?.version ?? "")}, Kind=${kind}`;
    return { failure: `could not list instances: ${why}: ${messageOf(error)}` };
  }
  const failures = new Set<string>();
  for (const namespace of namespaces) {
    try {
      await deleteMany(registry, {
        ...serverWrites.of(target, namespace, ""),
        options: { dryRun: false },
        list: plainList,
      });
    } catch (error) {
      failures.add(messageOf(error));
    }
  }
  if (failures.size > 0) return { failure: `could not issue all deletes: ${aggregated([...failures])}` };
  return { gone: (await countObjects(registry, definition)) === 0 };
}

/** @throws the error itself when it is not an ApiError */
function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) throw error;
  return error.message;
}

const aggregated = (messages: readonly string[]): string =>
  messages.length === 1 ? (messages[0] as string) : `[${messages.join(", ")}]`;
