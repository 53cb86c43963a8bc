/** Who manages which fields, where finding it out may have to wait for a converter. */
import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { RegistryContext, WriteRequest } from "../contract.ts";
import { withConversions } from "./known-conversions.ts";
import { setEntries, trackManagedFields } from "./track.ts";

/**
 * As {@link trackManagedFields}. Where an object cannot be converted to a version that somebody manages, all managers are forgotten, as upstream does.
 * @returns a promise only where there is a converter
 */
export function trackManagers(
  registry: RegistryContext,
  request: WriteRequest,
  next: KubeObject,
  old: KubeObject | undefined,
): void | Promise<void> {
  const { managedFields: sent } = next.metadata;
  const tracking = withConversions(request.target, (known) => {
    setEntries(next, sent);
    trackManagedFields(registry, request, next, old, known);
  });
  return tracking?.catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    setEntries(next, undefined);
  });
}
