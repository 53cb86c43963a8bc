/**
 * Computes managed fields for creates, updates and patches other than apply: these never conflict,
 * and the writer owns what it changes. Source: k8s.io/apimachinery@v0.36.0/pkg/util/managedfields.
 */
import { formatTime } from "../../apimachinery/clock.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject, ManagedFieldsEntry } from "../../apimachinery/object.ts";
import { identical } from "../../lib/json/values.ts";
import { setEntries } from "../../lib/managed-fields/entries.ts";
import { fastUpdate } from "../../lib/managed-fields/fast-update.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { compare, withoutFields } from "../../lib/structured-merge/compare.ts";
import { type PlainMap, TypedError } from "../../lib/structured-merge/typed.ts";
import type { RegistryContext, WriteRequest } from "../contract.ts";
import { type Conversions, withConversions } from "./conversions.ts";
import { generalUpdate } from "./general-update.ts";
import { isTyped, requestVersion, resetFields, writerOf } from "./written-fields.ts";

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
  if (request.target.resource.definition.converter === undefined)
    return trackManagedFields(registry, request, next, old);
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

/**
 * Sets `metadata.managedFields` of an object to be written.
 * @param next in the storage version, as the client sent it: before admission and the kind's
 *   strategy
 * @param old in the storage version; undefined on create
 * @param conversions from `withConversions`, for resources with a conversion webhook
 */
export function trackManagedFields(
  registry: RegistryContext,
  request: WriteRequest,
  next: KubeObject,
  old: KubeObject | undefined,
  conversions?: Conversions,
): void {
  try {
    setEntries(
      next,
      tryFastUpdate(registry, request, next, old, conversions) ??
        generalUpdate(registry, request, next, old, conversions),
    );
  } catch (error) {
    if (!(error instanceof TypedError)) throw error;
    setEntries(next, undefined); // As upstream: no managers rather than wrong ones.
  }
}

/**
 * The fast algorithm, for most updates.
 * @returns undefined when another manager may lose fields
 */
function tryFastUpdate(
  registry: RegistryContext,
  request: WriteRequest,
  next: KubeObject,
  old: KubeObject | undefined,
  conversions: Conversions | undefined,
): ManagedFieldsEntry[] | undefined {
  const { target, subresource } = request;
  const { schema, conversion } = target.version;
  if (conversion !== undefined || conversions !== undefined || !isTyped(target, schema, next)) return undefined;
  const sent = next.metadata.managedFields;
  const entries = old?.metadata.managedFields;
  if (old !== undefined && entries === undefined) return undefined;
  if (subresource === "" && sent !== undefined && sent.length > 0 && !identical(sent, entries)) return undefined;
  setEntries(next, entries); // Equal on both sides, so that they are not compared.
  const changes = withoutFields(
    compare((old ?? {}) as PlainMap, next, schema),
    resetFields(target.resource, subresource),
  );
  setEntries(next, sent);
  return fastUpdate(
    entries ?? [],
    writerOf(request, requestVersion(target)),
    changes,
    schema,
    formatTime(registry.clock.now()),
  );
}

/**
 * Sets `metadata.managedFields` of an object that a POST to a subresource returns without storing
 * it (TokenRequest).
 * @param sent as decoded and defaulted; its managed fields are ignored
 * @param of the version and schema of its kind, which is not the resource's
 */
export function trackAnswer(
  registry: RegistryContext,
  request: WriteRequest,
  sent: KubeObject,
  of: { apiVersion: string; schema: Struct },
): void {
  setEntries(sent, undefined);
  const changes = compare({}, sent, of.schema);
  setEntries(
    sent,
    fastUpdate([], writerOf(request, of.apiVersion), changes, of.schema, formatTime(registry.clock.now())),
  );
}
