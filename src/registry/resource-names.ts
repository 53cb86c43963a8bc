/** How errors name a resource, its kind and its objects. */
import { type ApiError, invalid } from "../apimachinery/errors.ts";
import type { FieldErrors } from "../apimachinery/field-errors.ts";
import type { GroupResource } from "../apimachinery/object.ts";
import type { Resource } from "../catalog/contract.ts";

/** The resource as errors name it. */
export function storedResource({ definition }: Resource): GroupResource {
  return { group: definition.group, resource: definition.resource };
}

/** Deletion preconditions name the kind where other errors name the resource. */
export function storedKind({ definition, store }: Resource): GroupResource {
  return { group: store?.form.group ?? definition.group, resource: definition.kind };
}

/** The error for an object with invalid fields. */
export function invalidObject(resource: Resource, name: string, errors: FieldErrors): ApiError {
  const { group, resource: kind } = storedKind(resource);
  return invalid(group, kind, name, errors.causes);
}
