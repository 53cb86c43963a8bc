/**
 * Who manages what after a create, an update or any patch but apply: none of them conflicts, what changes is the writer's.
 * Source: resource-api §4.11 points 3 to 5 and 9; apimachinery's managedfields package.
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
import {
  decodeManaged,
  encodeManaged,
  type Managed,
  ManagedFieldsError,
  type ManagerInfo,
  managerId,
  nobody,
  type ReadEntry,
} from "./entries.ts";
import type { KnownConversions } from "./known-conversions.ts";
import { mergeContext, requestVersion, resetFields } from "./merge-context.ts";
import { ownUpdate } from "./own-update.ts";
import { scaleVersion } from "./scale.ts";
import { stripUnmanaged } from "./unmanaged.ts";

/** Stands for the writer while it is found out whether the write changes anything. */
const thisWrite = "this write";

/**
 * Sets `metadata.managedFields` of what is about to be written.
 * @param next in the storage version, as the client wants it: neither admission nor the kind's strategy has changed it
 * @param old in the storage version; undefined on create
 * @param known where somebody else converts versions, as `withConversions` gives it
 */
export function trackManagedFields(
  registry: RegistryContext,
  request: WriteRequest,
  next: KubeObject,
  old: KubeObject | undefined,
  known?: KnownConversions,
): void {
  try {
    setEntries(
      next,
      whereNobodyLoses(registry, request, next, old, known) ?? entriesAfter(registry, request, next, old, known),
    );
  } catch (error) {
    if (!(error instanceof TypedError)) throw error;
    setEntries(next, undefined); // As upstream: better nobody than somebody wrong.
  }
}

function entriesAfter(
  registry: RegistryContext,
  request: WriteRequest,
  next: KubeObject,
  old: KubeObject | undefined,
  known: KnownConversions | undefined,
): ManagedFieldsEntry[] | undefined {
  const before = managedBefore(request, next, old);
  // Who cleared them wants none, until the next apply.
  if (old !== undefined && before.sets.size === 0) return undefined;
  const { target, subresource } = request;
  const context = mergeContext(target, subresource, known);
  const sent = atVersion(next, target);
  if (!isTyped(target, context.schemaOf(sent.version), sent.object)) return undefined;
  return encodeManaged(capManagers(takenBy(registry, request, context, atVersion(old, target), sent, before)));
}

/** As most updates are; told in a way that costs less. @returns undefined where somebody may lose something */
function whereNobodyLoses(
  registry: RegistryContext,
  request: WriteRequest,
  next: KubeObject,
  old: KubeObject | undefined,
  known: KnownConversions | undefined,
): ManagedFieldsEntry[] | undefined {
  const { target, subresource } = request;
  const { schema, conversion } = target.version;
  if (conversion !== undefined || known !== undefined || !isTyped(target, schema, next)) return undefined;
  const sent = next.metadata.managedFields;
  const entries = old?.metadata.managedFields;
  if (old !== undefined && entries === undefined) return undefined;
  if (subresource === "" && sent !== undefined && sent.length > 0 && !identical(sent, entries)) return undefined;
  setEntries(next, entries); // The same on both sides is not looked into.
  const changes = withoutFields(
    compare((old ?? {}) as PlainMap, next, schema),
    resetFields(target.resource, subresource),
  );
  setEntries(next, sent);
  return ownUpdate(
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

/** The same for a Scale, whose object is written in its stead. @param live with the managed fields that the Scale shows */
export function trackScale(
  registry: RegistryContext,
  request: WriteRequest,
  next: KubeObject,
  live: KubeObject,
  context: MergeContext,
): void {
  const before = decodeOrNobody(live.metadata.managedFields);
  delete next.metadata.managedFields;
  if (before.sets.size === 0) return;
  const from = { object: withoutManagedFields(live), version: scaleVersion };
  setEntries(
    next,
    encodeManaged(takenBy(registry, request, context, from, { object: next, version: scaleVersion }, before)),
  );
}

/**
 * Sets `metadata.managedFields` of an object that a POST to a subresource answers with and that is not stored (TokenRequest).
 * @param sent as decoded and defaulted; the managed fields in it do not count
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
    ownUpdate([], writerOf(request, of.apiVersion), changes, of.schema, formatTime(registry.clock.now())),
  );
}

/**
 * What validation does not look at, or lets pass, may be of another type than its schema says: a status that is put back, a list where bytes should be.
 * Upstream cannot say who manages such an object, and forgets all managers.
 */
function isTyped({ resource: { definition } }: Resolved, schema: Struct | undefined, object: PlainMap): boolean {
  if (schema === undefined || !definition.custom) return true;
  const { metadata: _, ...fields } = object;
  return hasTypes(fields, schema);
}

function takenBy(
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

export function withoutManagedFields(object: KubeObject): PlainMap {
  const { managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** @param entries undefined or empty for none */
export function setEntries({ metadata }: KubeObject, entries: ManagedFieldsEntry[] | undefined): void {
  if (entries === undefined || entries.length === 0) delete metadata.managedFields;
  else metadata.managedFields = entries;
}

/** What the writer of a change owns then. Only who changes something is named, and gets the time. @param id of the writer */
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

/** What the client sends stands, unless it is nothing or no managed fields; through a subresource it never does. */
function managedBefore({ subresource }: WriteRequest, next: KubeObject, old: KubeObject | undefined): Managed {
  const sent = next.metadata.managedFields ?? [];
  if (subresource === "" && sent.length > 0) {
    if (isReset(sent)) return nobody;
    const managed = decodeOrNobody(sent);
    if (managed.sets.size > 0) return { ...managed, read: knownTexts(managed, old?.metadata.managedFields) };
  }
  return decodeOrNobody(old?.metadata.managedFields);
}

/** What is sent back as it was is already written as we write it; whatever else a client sends may not be. */
function knownTexts({ read }: Managed, old: readonly ManagedFieldsEntry[] = []): Managed["read"] {
  const known = new Map<string, ReadEntry>();
  for (const { manager = "", operation = "", apiVersion = "", subresource = "", fieldsV1 = {} } of old) {
    const id = managerId({ manager, operation: operation as ManagerInfo["operation"], apiVersion, subresource });
    const sent = read.get(id);
    if (sent !== undefined && identical(sent.fieldsV1, fieldsV1)) known.set(id, { set: sent.set, fieldsV1 });
  }
  return known;
}

/** One empty entry. */
function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  return entries.length === 1 && Object.keys(entries[0] as object).length === 0;
}

function decodeOrNobody(entries: readonly ManagedFieldsEntry[] | undefined): Managed {
  try {
    return decodeManaged(entries);
  } catch (error) {
    if (error instanceof ManagedFieldsError) return nobody;
    throw error;
  }
}

/** The object as the request's version shows it, its managed fields apart. @param object in the storage version; undefined for none */
function atVersion(object: KubeObject | undefined, target: Resolved): Versioned {
  const version = requestVersion(target);
  if (object === undefined) return { object: {}, version };
  const { conversion } = target.version;
  const shown = conversion === undefined ? object : conversion.fromStorage(cloneJson(object));
  return { object: withoutManagedFields(shown), version };
}

/** The field manager, or what the client calls itself before the first slash. */
export function managerName({ fieldManager, userAgent }: Pick<WriteRequest, "fieldManager" | "userAgent">): string {
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

/** Whether nothing but times differs. */
export function sameButTimes(a: readonly ManagedFieldsEntry[] = [], b: readonly ManagedFieldsEntry[] = []): boolean {
  return a.length === b.length && a.every((entry, index) => sameEntry(entry, b[index] as ManagedFieldsEntry));
}

const identity = ["manager", "operation", "apiVersion", "subresource"] as const;

function sameEntry(a: ManagedFieldsEntry, b: ManagedFieldsEntry): boolean {
  return identity.every((field) => a[field] === b[field]) && identical(a.fieldsV1, b.fieldsV1);
}
