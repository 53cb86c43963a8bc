/**
 * Computes managed fields for creates, updates and patches other than apply: these never conflict,
 * and the writer owns what it changes. Source: k8s.io/apimachinery@v0.36.0/pkg/util/managedfields.
 */
import { formatTime } from "../../apimachinery/clock.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import { formatGroupVersion, type KubeObject } from "../../apimachinery/object.ts";
import { fieldManagerBytesMax, plainManager } from "../../apimachinery/validation/metadata.ts";
import type { Resolved, Resource } from "../../catalog/contract.ts";
import { specialResets, usualResets } from "../../catalog/reset-fields.ts";
import { isPrintable } from "../../lib/json/quote.ts";
import { identical } from "../../lib/json/values.ts";
import { type ManagerInfo, setEntries } from "../../lib/managed-fields/entries.ts";
import { fastUpdate } from "../../lib/managed-fields/fast-update.ts";
import { type Comparison, compare, withoutFields } from "../../lib/structured-merge/compare.ts";
import { fieldElement } from "../../lib/structured-merge/fields-v1.ts";
import { emptySet, type PathSet, pathSetOf } from "../../lib/structured-merge/set.ts";
import { type PlainMap, TypedError } from "../../lib/structured-merge/typed.ts";
import type { RegistryContext, WriteRequest } from "../contract.ts";
import { type Conversions, withConversions } from "./conversions.ts";
import { generalUpdate, isTyped, type TrackedWrite } from "./general-update.ts";

/**
 * As {@link trackManagedFields}. When the object cannot be converted to the version of a manager,
 * all managed fields are removed, as upstream does.
 * @param pause as {@link WriteRequest.pause}
 */
export async function trackManagers(
  registry: RegistryContext,
  request: WriteRequest,
  next: KubeObject,
  old: KubeObject | undefined,
  pause = request.pause,
): Promise<void> {
  if (request.target.resource.definition.converter === undefined) {
    for (const _ of trackingSteps(registry, request, next, old)) await pause?.();
    return;
  }
  const { managedFields: sent } = next.metadata;
  try {
    await withConversions(request.target, (conversions) => {
      setEntries(next, sent);
      trackManagedFields(registry, request, next, old, conversions);
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    setEntries(next, undefined);
  }
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
  for (const _ of trackingSteps(registry, request, next, old, conversions));
}

/** Tracks managed fields in two steps, of which each takes some milliseconds for an object of 1 MiB. */
function* trackingSteps(
  registry: RegistryContext,
  request: WriteRequest,
  next: KubeObject,
  old: KubeObject | undefined,
  conversions?: Conversions,
): Generator<void, void> {
  const { target, subresource } = request;
  const writer = writerOf(request, requestVersion(target));
  const write = { target, subresource, writer, resets: resetFields(target.resource, subresource) };
  try {
    const changes = conversions === undefined ? fastChanges(write, next, old) : undefined;
    yield;
    const now = formatTime(registry.clock.now());
    const entries =
      changes && fastUpdate(old?.metadata.managedFields ?? [], writer, changes, target.version.schema, now);
    setEntries(next, entries ?? generalUpdate(registry, write, next, old, conversions));
  } catch (error) {
    if (!(error instanceof TypedError)) throw error;
    setEntries(next, undefined); // As upstream: no managers rather than wrong ones.
  }
}

/** @returns what a write changes; undefined where the fast algorithm, for most updates, does not apply */
function fastChanges(
  { target, subresource, resets }: TrackedWrite,
  next: KubeObject,
  old: KubeObject | undefined,
): Comparison | undefined {
  const { schema, conversion } = target.version;
  if (conversion !== undefined) return undefined;
  if (target.resource.definition.custom && !isTyped(schema, next)) return undefined;
  const sent = next.metadata.managedFields;
  const entries = old?.metadata.managedFields;
  if (old !== undefined && entries === undefined) return undefined;
  if (subresource === "" && sent !== undefined && !identical(sent, entries)) return undefined;
  setEntries(next, entries); // Equal on both sides, so that they are not compared.
  const changes = withoutFields(compare((old ?? {}) as PlainMap, next, schema), resets);
  setEntries(next, sent);
  return changes;
}

/** The identity under which the client's changes are owned. */
export function writerOf(request: WriteRequest, apiVersion: string): ManagerInfo {
  return { manager: managerName(request), operation: "Update", apiVersion, subresource: request.subresource };
}

/** The field manager, or the user agent up to the first slash. */
function managerName({ fieldManager, userAgent }: Pick<WriteRequest, "fieldManager" | "userAgent">): string {
  if (fieldManager !== "") return fieldManager;
  const sent = userAgent.split("/", 1)[0] as string;
  if (plainManager.test(sent)) return sent;
  let name = "";
  let bytes = 0;
  for (const character of sent) {
    if (!isPrintable(character)) continue;
    bytes += Buffer.byteLength(character);
    if (bytes > fieldManagerBytesMax) break;
    name += character;
  }
  return name === "" ? "unknown" : name;
}

/** The apiVersion of the request. */
export function requestVersion({ resource, version }: Resolved): string {
  return formatGroupVersion(resource.definition.group, version.version);
}

/** The fields that a write of the (sub)resource resets, and so does not own. */
export function resetFields({ definition }: Resource, subresource: string): PathSet {
  const { group, resource, strategy, custom } = definition;
  const { isolatesStatus } = strategy;
  const paths =
    specialResets[`${group}/${resource}/${subresource}`] ?? usualResets(subresource, { custom, isolatesStatus });
  return paths.length === 0 ? emptySet : pathSetOf(paths.map((path) => path.map(fieldElement)));
}
