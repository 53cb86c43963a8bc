/** How errors name a resource, its kind and its objects. */
import { invalid, methodNotAllowed } from "../apimachinery/errors.ts";
import type { FieldErrors } from "../apimachinery/field-errors.ts";
import type { GroupResource } from "../apimachinery/object.ts";
import type { Resource, ResourceStore } from "../catalog/contract.ts";
import type { Entry } from "../watch-cache/contract.ts";
import { UnreadableObjects } from "../watch-cache/unreadable.ts";

/** The resource as errors name it. */
export function storedResource({ definition }: Resource): GroupResource {
  return { group: definition.group, resource: definition.resource };
}

/** Deletion preconditions name the kind where other errors name the resource. */
export function storedKind({ definition, store }: Resource): GroupResource {
  return { group: store?.form.group ?? definition.group, resource: definition.kind };
}

/** @throws ApiError 422 when there is any error */
export function throwInvalid(resource: Resource, name: string, errors: FieldErrors): void {
  if (errors.empty) return;
  const { group, resource: kind } = storedKind(resource);
  throw invalid(group, kind, name, errors.causes);
}

/** @throws ApiError 405 for resources that store nothing */
export function storeOf(resource: Resource): ResourceStore {
  if (resource.store === undefined) throw methodNotAllowed();
  return resource.store;
}

/**
 * For requests of one object, after some objects of its resource could not be read: reads the
 * object from the store.
 * @throws ApiError 500 when the object is one of those; the error itself when it is another error
 */
export async function readAfterCacheFailure(
  error: unknown,
  { cache }: ResourceStore,
  key: string,
): Promise<Entry | undefined> {
  if (!(error instanceof UnreadableObjects)) throw error;
  const about = error.about(key);
  if (about !== undefined) throw about;
  return cache.getFromStorage(key);
}
