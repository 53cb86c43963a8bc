/** How errors name a resource, its kind and its object. */
import { invalid, methodNotAllowed } from "../api/errors.ts";
import type { FieldErrors } from "../api/field-errors.ts";
import type { GroupResource } from "../api/object.ts";
import type { Resource, ResourceStore } from "../resource/contract.ts";

/** The resource as its store is named: events of either group are `events`. */
export function storedResource({ definition, store }: Resource): GroupResource {
  return { group: store?.form.group ?? definition.group, resource: definition.resource };
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
