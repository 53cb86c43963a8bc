/** What the collector reads of an object: a few fields of its metadata, from the bytes that the cache holds. */
import assert from "node:assert/strict";
import type { ObjectMeta, OwnerReference } from "../../apimachinery/object.ts";
import { memberBytes } from "../../lib/json/member.ts";
import type { Entry } from "../../watch-cache/contract.ts";

export const orphanFinalizer = "orphan";
export const foregroundFinalizer = "foregroundDeletion";

export interface CollectedMeta {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly owners: readonly OwnerReference[];
  readonly finalizers: readonly string[];
  /** Its deletion has begun. */
  readonly deleting: boolean;
}

/** Its deletion waits for its dependents to go. */
export const waitsForDependents = ({ deleting, finalizers }: CollectedMeta): boolean =>
  deleting && finalizers.includes(foregroundFinalizer);

/** Its deletion waits for its dependents to be let go. */
export const orphansDependents = ({ deleting, finalizers }: CollectedMeta): boolean =>
  deleting && finalizers.includes(orphanFinalizer);

/** @returns undefined when the object has no owner and waits for no dependents: most are so, which costs two searches of bytes */
export function concernOf(entry: Entry): CollectedMeta | undefined {
  const { json } = entry;
  // Inside a JSON text a quote is escaped, so that these bytes can only be a key.
  if (json.indexOf('"ownerReferences":[', 0, "latin1") < 0 && json.indexOf('"deletionTimestamp":"', 0, "latin1") < 0)
    return undefined;
  const meta = readMetadata(entry);
  return meta.owners.length > 0 || waitsForDependents(meta) || orphansDependents(meta) ? meta : undefined;
}

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
