/**
 * Computes managed fields for creates, updates and patches other than apply: these never conflict,
 * and the writer owns what it changes. Source: k8s.io/apimachinery@v0.36.0/pkg/util/managedfields.
 */
import { formatTime } from "../../apimachinery/clock.ts";
import type { KubeObject, ManagedFieldsEntry } from "../../apimachinery/object.ts";
import { fieldManagerBytesMax, plainManager } from "../../apimachinery/validation/metadata.ts";
import type { Resolved } from "../../catalog/contract.ts";
import { isPrintable } from "../../lib/json/quote.ts";
import { cloneJson, identical } from "../../lib/json/values.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { compare, withoutFields } from "../../lib/structured-merge/compare.ts";
import { union } from "../../lib/structured-merge/set.ts";
import { type PlainMap, TypedError } from "../../lib/structured-merge/typed.ts";
import {
  type ManagedSet,
  type MergeContext,
  updateManagers,
  type Versioned,
} from "../../lib/structured-merge/updater.ts";
import { hasTypes } from "../../lib/structured-merge/validate.ts";
import type { RegistryContext, WriteRequest } from "../contract.ts";
import { capManagers } from "./cap.ts";
import type { Conversions } from "./conversions.ts";
import {
  decodeManaged,
  encodeManaged,
  type Managed,
  ManagedFieldsError,
  type ManagerInfo,
  managerId,
  noManagers,
  type ReadEntry,
} from "./entries.ts";
import { fastUpdate } from "./fast-update.ts";
import { mergeContext, requestVersion, resetFields } from "./merge-context.ts";
import { scaleVersion } from "./scale.ts";
import { stripUnmanaged } from "./unmanaged.ts";

/** The id of the writer until it is conversions whether the write changes anything. */
const thisWrite = "this write";

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

function generalUpdate(
  registry: RegistryContext,
  request: WriteRequest,
  next: KubeObject,
  old: KubeObject | undefined,
  conversions: Conversions | undefined,
): ManagedFieldsEntry[] | undefined {
  const before = managedBefore(request, next, old);
  // A client that cleared managed fields disabled tracking until the next apply.
  if (old !== undefined && before.sets.size === 0) return undefined;
  const { target, subresource } = request;
  const context = mergeContext(target, subresource, conversions);
  const sent = atVersion(next, target);
  if (!isTyped(target, context.schemaOf(sent.version), sent.object)) return undefined;
  return encodeManaged(capManagers(afterWrite(registry, request, context, atVersion(old, target), sent, before)));
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

function writerOf(request: WriteRequest, apiVersion: string): ManagerInfo {
  return { manager: managerName(request), operation: "Update", apiVersion, subresource: request.subresource };
}

/**
 * Sets the managed fields of a Scale, whose object is written instead.
 * @param live with the managed fields of the Scale
 */
export function trackScale(
  registry: RegistryContext,
  request: WriteRequest,
  next: KubeObject,
  live: KubeObject,
  context: MergeContext,
): void {
  const before = decodeOrNone(live.metadata.managedFields);
  delete next.metadata.managedFields;
  if (before.sets.size === 0) return;
  const from = { object: withoutManagedFields(live), version: scaleVersion };
  setEntries(
    next,
    encodeManaged(afterWrite(registry, request, context, from, { object: next, version: scaleVersion }, before)),
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

/**
 * Whether the object has the types of its schema. Fields that validation ignores may not: a status
 * that is reset, a list instead of bytes. Upstream cannot compute managers of such an object, and
 * removes all.
 */
function isTyped({ resource: { definition } }: Resolved, schema: Struct | undefined, object: PlainMap): boolean {
  if (schema === undefined || !definition.custom) return true;
  const { metadata: _, ...fields } = object;
  return hasTypes(fields, schema);
}

function afterWrite(
  registry: RegistryContext,
  request: WriteRequest,
  context: MergeContext,
  live: Versioned,
  next: Versioned,
  before: Managed,
): Managed {
  const id = managerId(writerOf(request, next.version));
  return takeOver(context, live, next, before, id, formatTime(registry.clock.now()));
}

/** A shallow copy of the object. */
export function withoutManagedFields(object: KubeObject): PlainMap {
  const { managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/**
 * Sets or removes `metadata.managedFields`.
 * @param entries undefined or empty for none
 */
export function setEntries({ metadata }: KubeObject, entries: ManagedFieldsEntry[] | undefined): void {
  if (entries === undefined || entries.length === 0) delete metadata.managedFields;
  else metadata.managedFields = entries;
}

/**
 * Gives changed fields to the writer, and sets its time; a writer without changes is not added.
 * @param id of the writer
 */
export function takeOver(
  context: MergeContext,
  live: Versioned,
  next: Versioned,
  before: Managed,
  id: string,
  now: string,
): Managed {
  const sets = new Map(updateManagers(context, live, next, before.sets, thisWrite));
  stripUnmanaged(sets, thisWrite);
  const mine = sets.get(thisWrite);
  if (mine === undefined) return { ...before, sets };
  sets.delete(thisWrite);
  sets.set(id, withPrevious(mine, sets.get(id)));
  return { ...before, sets, times: new Map(before.times).set(id, now) };
}

function withPrevious(mine: ManagedSet, previous: ManagedSet | undefined): ManagedSet {
  return previous === undefined ? mine : { ...mine, set: union(mine.set, previous.set) };
}

/**
 * The managed fields that the client sent, unless they are empty or malformed; through a
 * subresource, always those of the old object.
 */
function managedBefore({ subresource }: WriteRequest, next: KubeObject, old: KubeObject | undefined): Managed {
  const sent = next.metadata.managedFields ?? [];
  if (subresource === "" && sent.length > 0) {
    if (isReset(sent)) return noManagers;
    const managed = decodeOrNone(sent);
    if (managed.sets.size > 0) return { ...managed, read: unchangedEntries(managed, old?.metadata.managedFields) };
  }
  return decodeOrNone(old?.metadata.managedFields);
}

/** Entries that a client sent back unchanged are encoded as ours; others may not be. */
function unchangedEntries({ read }: Managed, old: readonly ManagedFieldsEntry[] = []): Managed["read"] {
  const conversions = new Map<string, ReadEntry>();
  for (const { manager = "", operation = "", apiVersion = "", subresource = "", fieldsV1 = {} } of old) {
    const id = managerId({ manager, operation: operation as ManagerInfo["operation"], apiVersion, subresource });
    const sent = read.get(id);
    if (sent !== undefined && identical(sent.fieldsV1, fieldsV1)) conversions.set(id, { set: sent.set, fieldsV1 });
  }
  return conversions;
}

/** One empty entry. */
function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  return entries.length === 1 && Object.keys(entries[0] as object).length === 0;
}

function decodeOrNone(entries: readonly ManagedFieldsEntry[] | undefined): Managed {
  try {
    return decodeManaged(entries);
  } catch (error) {
    if (error instanceof ManagedFieldsError) return noManagers;
    throw error;
  }
}

/**
 * The object at the request's version, without managed fields.
 * @param object in the storage version; undefined for none
 */
function atVersion(object: KubeObject | undefined, target: Resolved): Versioned {
  const version = requestVersion(target);
  if (object === undefined) return { object: {}, version };
  const { conversion } = target.version;
  const shown = conversion === undefined ? object : conversion.fromStorage(cloneJson(object));
  return { object: withoutManagedFields(shown), version };
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

/** Whether only times differ. */
export function sameButTimes(a: readonly ManagedFieldsEntry[] = [], b: readonly ManagedFieldsEntry[] = []): boolean {
  return a.length === b.length && a.every((entry, index) => sameEntry(entry, b[index] as ManagedFieldsEntry));
}

const identity = ["manager", "operation", "apiVersion", "subresource"] as const;

function sameEntry(a: ManagedFieldsEntry, b: ManagedFieldsEntry): boolean {
  return identity.every((field) => a[field] === b[field]) && identical(a.fieldsV1, b.fieldsV1);
}
