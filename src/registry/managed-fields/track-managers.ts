/** Tracks managed fields, waiting for a conversion webhook if the resource has one. */
import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { RegistryContext, WriteRequest } from "../contract.ts";
import { withConversions } from "./conversions.ts";
import { setEntries, trackManagedFields } from "./track.ts";

/**
 * As {@link trackManagedFields}. When the object cannot be converted to the version of a manager,
 * all managed fields are removed, as upstream does.
 * @returns a promise only for resources with a conversion webhook
 */
export function trackManagers(
  registry: RegistryContext,
  request: WriteRequest,
  next: KubeObject,
  old: KubeObject | undefined,
): void | Promise<void> {
  const { managedFields: sent } = next.metadata;
  const tracking = withConversions(request.target, (conversions) => {
    setEntries(next, sent);
    trackManagedFields(registry, request, next, old, conversions);
  });
  return tracking?.catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    setEntries(next, undefined);
  });
}
