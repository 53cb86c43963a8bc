/**
 * Removes an object that cannot be read, regardless of finalizers and dependents. See KEP-3926 and
 * k8s.io/apiserver@v0.36.0/pkg/registry/generic/registry/corrupt_obj_deleter.go.
 */
import { invalid } from "../apimachinery/errors.ts";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import { storeOf } from "../catalog/catalog.ts";
import type { Stored } from "../storage/contract.ts";
import { type EntrySource, entryFromStored } from "../watch-cache/entry.ts";
import { isReadFailure } from "../watch-cache/unreadable.ts";
import { removeUnread } from "./commit.ts";
import type { RegistryContext } from "./contract.ts";
import { admitDeletion, type DeleteRequest } from "./delete.ts";
import { storedResource } from "./resource-names.ts";

const option = "ignoreStoreReadErrorWithClusterBreakingPotential";

/**
 * @param request neither a dry run nor with preconditions
 * @throws ApiError 403 (admission), 409 (changed concurrently), 422 when the object can be read or
 *   does not exist
 */
export async function deleteUnreadable(registry: RegistryContext, request: DeleteRequest): Promise<void> {
  const { resource } = request.target;
  const store = storeOf(resource);
  const stored = await registry.storage.get(store.keyOf(request.namespace, request.name));
  if (stored === undefined || isReadable(stored, store.source)) {
    const errors = new FieldErrors();
    errors.invalid(option, true, "is exclusively used to delete corrupt object(s), try again by removing this option");
    const { group, resource: plural } = storedResource(resource);
    throw invalid(group, plural, request.name, errors.causes);
  }
  await admitDeletion(registry, request, undefined);
  await removeUnread(registry, resource, request.name, stored);
}

function isReadable(stored: Stored, source: EntrySource): boolean {
  try {
    entryFromStored(stored, source);
    return true;
  } catch (error) {
    if (!isReadFailure(error)) throw error;
    return false;
  }
}
