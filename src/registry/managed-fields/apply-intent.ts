/** Lays an intent over an object and says who manages what then. Source: resource-api §4.11; apimachinery's managedfields package. */

import { formatTime } from "../../apimachinery/clock.ts";
import { badRequest, plainError } from "../../apimachinery/errors.ts";
import { type KubeObject, parseGroupVersion } from "../../apimachinery/object.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { type PlainMap, TypedError } from "../../lib/structured-merge/typed.ts";
import {
  ApplyConflict,
  applyIntent,
  type Managers,
  type MergeContext,
  type Versioned,
} from "../../lib/structured-merge/updater.ts";
import { hasTypes, validateIntent } from "../../lib/structured-merge/validate.ts";
import { applyConflict } from "./conflict.ts";
import { decodeManaged, encodeManaged, type Managed, ManagedFieldsError, managerId } from "./entries.ts";
import { annotatingManager, renewLastApplied, unexplained } from "./last-applied.ts";
import { setEntries, takeOver, withoutManagedFields } from "./track.ts";
import { stripUnmanaged } from "./unmanaged.ts";

export interface Intent {
  /** As the client wrote it. */
  readonly value: PlainMap;
  readonly manager: string;
  readonly force: boolean;
  /** Empty for the main resource. */
  readonly subresource: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The kind that is applied, at the request's version. */
export interface AppliedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: Struct;
  readonly context: MergeContext;
  /** Why no object of the kind, merged or empty, becomes one of its version; undefined where they do. */
  readonly unconvertible?: string | undefined;
}

/** Whom the fields belong to that were there before anybody applied anything. */
const beforeFirstApply = "before-first-apply";

/**
 * @param live at the kind's version, not changed; undefined when there is none yet
 * @returns the merged object with its managed fields; it may share parts with the live one
 * @throws ApiError 400 for an intent of another kind, 409 for fields of others, 500 for one that does not fit the schema
 */
export function mergeIntent(kind: AppliedKind, live: KubeObject | undefined, intent: Intent): KubeObject {
  const { apiVersion } = kind;
  checkKind(kind, intent.value);
  const managed = readManaged(live);
  const present: Versioned = { object: live === undefined ? {} : withoutManagedFields(live), version: apiVersion };
  const { subresource } = intent;
  if (managed.sets.size === 0 && live !== undefined) checkClaimable(kind, live);
  const before = managed.sets.size === 0 ? claimAll(kind, present, managed, intent) : managed;
  checkIntent(kind, intent.value);
  const id = managerId({ manager: intent.manager, operation: "Apply", apiVersion, subresource });
  const { object, managers } = mergeOver(kind, present, before.sets, id, intent);
  const sets = new Map(managers);
  stripUnmanaged(sets, id);
  const changed = object !== present.object;
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

/** @throws ApiError 409 */
function mergeOver(
  kind: AppliedKind,
  live: Versioned,
  managers: Managers,
  id: string,
  intent: Intent,
): ReturnType<typeof applyIntent> {
  const { context, schema } = kind;
  const wanted = { object: intent.value, version: live.version };
  try {
    return applyIntent(context, live, wanted, managers, id, { force: intent.force });
  } catch (error) {
    if (error instanceof TypedError) throw plainError(error.message);
    if (!(error instanceof ApplyConflict)) throw error;
    const conflicts =
      intent.manager === annotatingManager ? unexplained(error.conflicts, live, schema) : error.conflicts;
    if (conflicts.length > 0) throw applyConflict(conflicts);
    return applyIntent(context, live, wanted, managers, id, { force: true });
  }
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

/** What validation has let pass cannot be claimed (see `isTyped` in track.ts). @throws ApiError 500 */
function checkClaimable(kind: AppliedKind, { metadata, ...fields }: KubeObject): void {
  if (kind.unconvertible !== undefined) {
    const what = `failed to convert live object (/; ${describeKind(kind)}) to proper version`;
    throw plainError(`failed to create manager for existing fields: ${what}: ${kind.unconvertible}`);
  }
  if (kind.schema.custom === undefined || hasTypes(fields, kind.schema)) return;
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
  nobody: Managed,
  { subresource, now }: Intent,
): Managed {
  const id = managerId({ manager: beforeFirstApply, operation: "Update", apiVersion, subresource });
  return takeOver(context, { object: {}, version: apiVersion }, live, nobody, id, formatTime(now));
}

/** @throws ApiError 400, 500 with upstream's texts */
function checkIntent(kind: AppliedKind, value: PlainMap): void {
  const { metadata } = value as { metadata?: KubeObject["metadata"] | null };
  if (metadata?.managedFields !== undefined && metadata.managedFields !== null)
    throw badRequest("metadata.managedFields must be nil");
  try {
    validateIntent(value, kind.schema);
  } catch (error) {
    if (!(error instanceof TypedError)) throw error;
    throw plainError(`failed to create typed patch object (${describeObject(kind, metadata)}): ${error.message}`);
  }
}

/** `n/a; /v1, Kind=ConfigMap`, as upstream's messages name what is applied. */
export function describeObject(kind: AppliedKind, metadata: KubeObject["metadata"] | null | undefined): string {
  return `${text(metadata?.namespace)}/${text(metadata?.name)}; ${describeKind(kind)}`;
}

export function describeKind({ apiVersion, kind }: AppliedKind): string {
  const { group, version } = parseGroupVersion(apiVersion) as { group: string; version: string };
  return `${group}/${version}, Kind=${kind}`;
}
