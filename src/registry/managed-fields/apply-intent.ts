/** Merges an applied intent into an object and computes its managed fields. See KEP-555. */

import { formatTime } from "../../apimachinery/clock.ts";
import { badRequest, plainError } from "../../apimachinery/errors.ts";
import { type KubeObject, parseGroupVersion } from "../../apimachinery/object.ts";
import {
  decodeManaged,
  encodeManaged,
  type Managed,
  ManagedFieldsError,
  managerId,
  setEntries,
} from "../../lib/managed-fields/entries.ts";
import { takeOver } from "../../lib/managed-fields/take-over.ts";
import { stripUnmanaged } from "../../lib/managed-fields/unmanaged.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { KnownElements } from "../../lib/structured-merge/items.ts";
import { isMap, type PlainMap, TypedError } from "../../lib/structured-merge/typed.ts";
import {
  ApplyConflict,
  applyKnown,
  type Managers,
  type MergeContext,
  type Versioned,
} from "../../lib/structured-merge/updater.ts";
import { hasTypes, validateIntent, validateKnown } from "../../lib/structured-merge/validate.ts";
import { applyConflict } from "./conflict.ts";
import { withoutManagedFields } from "./general-update.ts";
import { annotatingManager, renewLastApplied, unexplained } from "./last-applied.ts";

/** The body of an apply, and who applies it. */
interface Intent {
  /** As the client sent it. */
  readonly value: PlainMap;
  readonly manager: string;
  readonly force: boolean;
  /** Empty for the main resource. */
  readonly subresource: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The applied kind, at the request's version. */
export interface AppliedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: Struct;
  readonly context: MergeContext;
  /** Why objects of the kind cannot be converted to its version; undefined when they can. */
  readonly unconvertible?: string | undefined;
}

/** The manager that owns fields which existed before the first apply. */
const beforeFirstApply = "before-first-apply";

/**
 * Merges an intent into the live object.
 * @param live at the kind's version, not changed; undefined when it does not exist
 * @returns the merged object with its managed fields; it may share parts with the live one
 * @throws ApiError 400 for an intent of another kind, 409 for conflicts, 500 for an intent that
 *   does not fit the schema
 */
export function mergeIntent(kind: AppliedKind, live: KubeObject | undefined, intent: Intent): KubeObject {
  const { apiVersion } = kind;
  checkKind(kind, intent.value);
  const managed = readManaged(live);
  const current: Versioned = { object: live === undefined ? {} : withoutManagedFields(live), version: apiVersion };
  const { subresource } = intent;
  if (managed.sets.size === 0 && live !== undefined) checkClaimable(kind, live);
  const before = managed.sets.size === 0 ? claimAll(kind, current, managed, intent) : managed;
  const known = new KnownElements();
  checkIntent(kind, intent.value, known);
  const id = managerId({ manager: intent.manager, operation: "Apply", apiVersion, subresource });
  const { object, managers } = mergeOver(kind, current, before.sets, id, { ...intent, known });
  const sets = new Map(managers);
  stripUnmanaged(sets, id);
  const changed = object !== current.object;
  if (changed && kind.unconvertible !== undefined) {
    const { metadata } = intent.value as unknown as KubeObject;
    throw plainError(
      `failed to convert new object (${describeObject(kind, metadata)}) to proper version: ${kind.unconvertible}`,
    );
  }
  const merged = object as KubeObject;
  merged.metadata ??= {};
  const times = changed ? new Map(before.times).set(id, formatTime(intent.now)) : before.times;
  setEntries(merged, encodeManaged({ ...before, sets, times }));
  if (intent.manager === annotatingManager) renewLastApplied(merged, intent.value);
  return merged;
}

/** @throws ApiError 409; 500 for an object that the schema does not allow */
function mergeOver(
  kind: AppliedKind,
  live: Versioned,
  managers: Managers,
  id: string,
  intent: Intent & { readonly known: KnownElements },
): ReturnType<typeof applyKnown> {
  const { context, schema } = kind;
  const requested = { object: intent.value, version: live.version };
  try {
    return applyKnown(context, live, requested, managers, id, intent);
  } catch (error) {
    if (error instanceof TypedError) throw plainError(liveProblem(kind, live.object, error) ?? error.message);
    if (!(error instanceof ApplyConflict)) throw error;
    const conflicts =
      intent.manager === annotatingManager ? unexplained(error.conflicts, live, schema) : error.conflicts;
    if (conflicts.length > 0) throw applyConflict(conflicts);
    return applyKnown(context, live, requested, managers, id, { ...intent, force: true });
  }
}

/** @returns upstream's message, if the error is about an item of the live object without a key */
function liveProblem(kind: AppliedKind, live: PlainMap, { message }: TypedError): string | undefined {
  const { metadata, ...fields } = live as unknown as KubeObject;
  try {
    validateIntent(fields, kind.schema);
  } catch (error) {
    if (!(error instanceof TypedError)) throw error;
    if (error.message.endsWith(`: ${message}`))
      return `failed to create typed live object (${describeObject(kind, metadata)}): ${error.message}`;
  }
  return undefined;
}

function checkKind({ apiVersion, kind }: AppliedKind, value: PlainMap): void {
  if (value.apiVersion === apiVersion && value.kind === kind) return;
  const { group, version } = parseGroupVersion(text(value.apiVersion)) ?? { group: "", version: "" };
  throw badRequest(`invalid object type: ${group}/${version}, Kind=${text(value.kind)}`);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function readManaged(live: KubeObject | undefined): Managed {
  try {
    return decodeManaged(live?.metadata.managedFields);
  } catch (error) {
    if (error instanceof ManagedFieldsError) throw plainError(`failed to decode managed fields: ${error.message}`);
    throw error;
  }
}

/**
 * Fields whose types validation ignores cannot be claimed (see `isTyped` in general-update.ts), nor
 * items without keys.
 * @throws ApiError 500
 */
function checkClaimable(kind: AppliedKind, { metadata, ...fields }: KubeObject): void {
  if (kind.unconvertible !== undefined) {
    const what = `failed to convert live object (/; ${describeKind(kind)}) to proper version`;
    throw plainError(`failed to create manager for existing fields: ${what}: ${kind.unconvertible}`);
  }
  if (hasTypes(fields, kind.schema)) return;
  try {
    validateIntent(fields, kind.schema);
  } catch (error) {
    if (!(error instanceof TypedError)) throw error;
    const what = `failed to convert new object (${describeObject(kind, metadata)}) to smd typed`;
    throw plainError(`failed to create manager for existing fields: ${what}: ${error.message}`);
  }
}

function claimAll(
  { apiVersion, context }: AppliedKind,
  live: Versioned,
  none: Managed,
  { subresource, now }: Intent,
): Managed {
  const id = managerId({ manager: beforeFirstApply, operation: "Update", apiVersion, subresource });
  return takeOver(context, { object: {}, version: apiVersion }, live, none, id, formatTime(now));
}

/** @throws ApiError 400, 500 with upstream's texts */
function checkIntent(kind: AppliedKind, value: PlainMap, known: KnownElements): void {
  const { metadata } = value as { metadata?: KubeObject["metadata"] | null };
  if (isSet(metadata?.managedFields)) throw badRequest("metadata.managedFields must be nil");
  try {
    validateKnown(value, kind.schema, known);
  } catch (error) {
    if (!(error instanceof TypedError)) throw error;
    throw plainError(`failed to create typed patch object (${describeObject(kind, metadata)}): ${error.message}`);
  }
}

/** As upstream reads them from an object without a schema: entries of other types make all of them nil. */
function isSet(managedFields: unknown): boolean {
  return Array.isArray(managedFields) && managedFields.every(isMap);
}

/** For example `n/a; /v1, Kind=ConfigMap`, the form in upstream's messages. */
export function describeObject(kind: AppliedKind, metadata: KubeObject["metadata"] | null | undefined): string {
  return `${text(metadata?.namespace)}/${text(metadata?.name)}; ${describeKind(kind)}`;
}

/** For example `apps/v1, Kind=Deployment`, the form in upstream's messages. */
export function describeKind({ apiVersion, kind }: AppliedKind): string {
  const { group, version } = parseGroupVersion(apiVersion) as { group: string; version: string };
  return `${group}/${version}, Kind=${kind}`;
}
