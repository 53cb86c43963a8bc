/** Computes managed fields when another manager may lose fields, and those of a Scale. */
import { formatTime } from "../../apimachinery/clock.ts";
import type { KubeObject, ManagedFieldsEntry } from "../../apimachinery/object.ts";
import type { Resolved } from "../../catalog/contract.ts";
import { cloneJson, identical } from "../../lib/json/values.ts";
import { capManagers } from "../../lib/managed-fields/cap.ts";
import {
  decodeManaged,
  encodeManaged,
  type Managed,
  ManagedFieldsError,
  type ManagerInfo,
  managerId,
  noManagers,
  type ReadEntry,
  setEntries,
} from "../../lib/managed-fields/entries.ts";
import { takeOver } from "../../lib/managed-fields/take-over.ts";
import type { Struct } from "../../lib/structured-merge/schema.ts";
import type { PlainMap } from "../../lib/structured-merge/typed.ts";
import type { MergeContext, Versioned } from "../../lib/structured-merge/updater.ts";
import { hasTypes } from "../../lib/structured-merge/validate.ts";
import type { RegistryContext } from "../contract.ts";
import type { Conversions } from "./conversions.ts";
import { type MergedWrite, mergeContext } from "./merge-context.ts";
import { scaleVersion } from "./scale.ts";

/** A write whose managed fields are computed. */
export interface TrackedWrite extends MergedWrite {
  /** Owns what the write changes. */
  readonly writer: ManagerInfo;
}

/**
 * The general algorithm, which all other updates use.
 * @returns undefined for no managers
 */
export function generalUpdate(
  registry: RegistryContext,
  write: TrackedWrite,
  next: KubeObject,
  old: KubeObject | undefined,
  conversions: Conversions | undefined,
): ManagedFieldsEntry[] | undefined {
  const before = managedBefore(write, next, old);
  // A client that cleared managed fields disabled tracking until the next apply.
  if (old !== undefined && before.sets.size === 0) return undefined;
  const { target, writer } = write;
  const context = mergeContext(write, conversions);
  const sent = atVersion(next, target, writer.apiVersion);
  const schema = context.schemaOf(sent.version);
  if (target.resource.definition.custom && !isTyped(schema, sent.object)) return undefined;
  const live = atVersion(old, target, writer.apiVersion);
  return encodeManaged(capManagers(afterWrite(registry, writer, context, live, sent, before)));
}

/**
 * Sets the managed fields of a Scale, whose object is written instead.
 * @param writer owns what the write changes
 * @param live with the managed fields of the Scale
 */
export function trackScale(
  registry: RegistryContext,
  writer: ManagerInfo,
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
    encodeManaged(afterWrite(registry, writer, context, from, { object: next, version: scaleVersion }, before)),
  );
}

function afterWrite(
  registry: RegistryContext,
  writer: ManagerInfo,
  context: MergeContext,
  live: Versioned,
  next: Versioned,
  before: Managed,
): Managed {
  return takeOver(context, live, next, before, managerId(writer), formatTime(registry.clock.now()));
}

/** A shallow copy of the object. */
export function withoutManagedFields(object: KubeObject): PlainMap {
  const { managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/**
 * The managed fields that the client sent, unless they are absent or malformed; through a
 * subresource, always those of the old object.
 */
function managedBefore({ subresource }: TrackedWrite, next: KubeObject, old: KubeObject | undefined): Managed {
  const sent = next.metadata.managedFields;
  if (subresource === "" && sent !== undefined) {
    if (isReset(sent)) return noManagers;
    const managed = decodeOrNone(sent);
    if (managed.sets.size > 0) return { ...managed, read: unchangedEntries(managed, old?.metadata.managedFields) };
  }
  return decodeOrNone(old?.metadata.managedFields);
}

/** Entries that a client sent back unchanged are encoded as ours; others may not be. */
function unchangedEntries({ read }: Managed, old: readonly ManagedFieldsEntry[] = []): Managed["read"] {
  const unchanged = new Map<string, ReadEntry>();
  for (const { manager = "", operation = "", apiVersion = "", subresource = "", fieldsV1 = {} } of old) {
    const id = managerId({ manager, operation: operation as ManagerInfo["operation"], apiVersion, subresource });
    const sent = read.get(id);
    if (sent !== undefined && identical(sent.fieldsV1, fieldsV1)) unchanged.set(id, { set: sent.set, fieldsV1 });
  }
  return unchanged;
}

/** An empty list, or one empty entry. */
function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  return entries.length < 2 && entries.every((entry) => Object.values(entry).every((value) => value === ""));
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
 * @param version the apiVersion of the request
 */
function atVersion(object: KubeObject | undefined, target: Resolved, version: string): Versioned {
  if (object === undefined) return { object: {}, version };
  const { conversion } = target.version;
  const shown = conversion === undefined ? object : conversion.fromStorage(cloneJson(object));
  return { object: withoutManagedFields(shown), version };
}

/**
 * Whether a custom object has the types of its schema. Fields that validation ignores may not: a
 * status that is reset, a list instead of bytes. Upstream cannot compute managers of such an
 * object, and removes all.
 */
export function isTyped(schema: Struct | undefined, object: PlainMap): boolean {
  if (schema === undefined) return true;
  const { metadata: _, ...fields } = object;
  return hasTypes(fields, schema);
}
