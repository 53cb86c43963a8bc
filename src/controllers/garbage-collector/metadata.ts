/** What the collector reads of an object: a few fields of its metadata, from the bytes that the cache holds. */
import type { ObjectMeta, OwnerReference } from "../../api/object.ts";
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
export const waitsForDependents = ({ deleting, finalizers }: CollectedMeta): boolean => deleting && finalizers.includes(foregroundFinalizer);

/** Its deletion waits for its dependents to be let go. */
export const orphansDependents = ({ deleting, finalizers }: CollectedMeta): boolean => deleting && finalizers.includes(orphanFinalizer);

/** @returns undefined when the object has no owner and waits for no dependents: most are so, which costs two searches of bytes */
export function concernOf(entry: Entry): CollectedMeta | undefined {
  const { json } = entry;
  // Inside a JSON text a quote is escaped, so that these bytes can only be a key.
  if (json.indexOf('"ownerReferences":[', 0, "latin1") < 0 && json.indexOf('"deletionTimestamp":"', 0, "latin1") < 0) return undefined;
  const meta = readMetadata(entry);
  return meta.owners.length > 0 || waitsForDependents(meta) || orphansDependents(meta) ? meta : undefined;
}

export function readMetadata({ json }: Entry): CollectedMeta {
  const [start, end] = metadataSpan(json);
  const {
    uid = "",
    resourceVersion = "",
    ownerReferences,
    finalizers,
    deletionTimestamp,
  } = JSON.parse(json.toString("utf8", start, end)) as ObjectMeta;
  const deleting = deletionTimestamp !== undefined && deletionTimestamp !== null;
  return { uid, resourceVersion, owners: ownerReferences ?? [], finalizers: finalizers ?? [], deleting };
}

const quote = 0x22;
const backslash = 0x5c;
const metadataKey = Buffer.from('"metadata":');

/** Where the value of the outermost `metadata` begins and ends, in compact JSON; the rest of the object is not parsed. */
function metadataSpan(json: Buffer): [start: number, end: number] {
  let depth = 0;
  let start = -1;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) {
      if (depth === 1 && start < 0 && json.compare(metadataKey, 0, metadataKey.length, at, at + metadataKey.length) === 0)
        start = at + metadataKey.length;
      at = endOfString(json, at);
    } else if (byte === 0x7b || byte === 0x5b) depth += 1;
    else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
      if (depth === 1 && start >= 0) return [start, at + 1];
    }
  }
  throw new Error("a stored object has no metadata");
}

/** @param at of the opening quote @returns of the closing one */
function endOfString(json: Buffer, at: number): number {
  for (let next = at + 1; next < json.length; next++) {
    if (json[next] === backslash) next += 1;
    else if (json[next] === quote) return next;
  }
  return json.length;
}
