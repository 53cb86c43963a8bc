/** Reads the metadata that the collector needs from the bytes of a cached object. */
import assert from "node:assert/strict";
import type { ObjectMeta, OwnerReference } from "../../apimachinery/object.ts";
import { memberBytes } from "../../lib/json/member.ts";
import type { Entry, EntryFilter } from "../../watch-cache/contract.ts";
import { derivedOnce } from "../../watch-cache/derived-once.ts";

export const orphanFinalizer = "orphan";
export const foregroundFinalizer = "foregroundDeletion";

export interface CollectedMeta {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly owners: readonly OwnerReference[];
  readonly finalizers: readonly string[];
  /** Whether it has a deletionTimestamp. */
  readonly deleting: boolean;
}

/** Returns whether it is being deleted in the foreground. */
export const waitsForDependents = ({ deleting, finalizers }: CollectedMeta): boolean =>
  deleting && finalizers.includes(foregroundFinalizer);

/** Returns whether it is being deleted and its dependents are to be orphaned. */
export const orphansDependents = ({ deleting, finalizers }: CollectedMeta): boolean =>
  deleting && finalizers.includes(orphanFinalizer);

/**
 * Returns the metadata of an object that belongs into the graph.
 * @returns undefined when it has no owner and does not wait for dependents; for most objects two
 *   searches in their bytes decide this
 */
export function concernOf(entry: Entry): CollectedMeta | undefined {
  return mayConcern(entry) ? readConcern(entry).meta : undefined;
}

/** Finds the objects that belong into the graph. */
export const concerned: EntryFilter = { test: (entry) => concernOf(entry) !== undefined, without: new WeakSet() };

function mayConcern({ json }: Entry): boolean {
  // Quotes in JSON strings are escaped, so these bytes can only be a key.
  return (
    json.indexOf('"ownerReferences":[', 0, "latin1") >= 0 || json.indexOf('"deletionTimestamp":"', 0, "latin1") >= 0
  );
}

const readConcern = derivedOnce((entry: Entry): { readonly meta: CollectedMeta | undefined } => {
  const meta = readMetadata(entry);
  const concerns = meta.owners.length > 0 || waitsForDependents(meta) || orphansDependents(meta);
  return { meta: concerns ? meta : undefined };
});

const metadataLabel = Buffer.from('"metadata":');

export function readMetadata({ json }: Entry): CollectedMeta {
  const bytes = memberBytes(json, metadataLabel);
  assert.ok(bytes !== undefined, "a stored object has metadata");
  const {
    uid = "",
    resourceVersion = "",
    ownerReferences,
    finalizers,
    deletionTimestamp,
  } = JSON.parse(bytes.toString()) as ObjectMeta;
  const deleting = deletionTimestamp !== undefined && deletionTimestamp !== null;
  return { uid, resourceVersion, owners: ownerReferences ?? [], finalizers: finalizers ?? [], deleting };
}
