/** Reads the uid of a cached object from its bytes. */

const label = Buffer.from('"uid":"');
/** The length of the uids that the server creates. */
const uuidBytes = 36;
const quote = 0x22;
const backslash = 0x5c;

/**
 * The uid is next to the resourceVersion: before it in built-in objects, after it in custom ones,
 * whose keys are sorted. Other layouts, which this server does not write, are parsed.
 *
 * @param entry its JSON, and the offset of the resourceVersion in it
 * @returns the bytes of `metadata.uid`; none if the object has no uid
 */
export function uidBytes({ json, versionOffset }: { readonly json: Buffer; readonly versionOffset: number }): Buffer {
  const afterVersion = json.indexOf(",", versionOffset, "latin1") + 1;
  return (
    uuidAt(json, versionOffset - uuidBytes - 2) ??
    uuidAt(json, afterVersion + label.length) ??
    Buffer.from(JSON.parse(json.toString()).metadata.uid ?? "")
  );
}

/** @returns the text at the offset if it is a whole uid of the usual length, without escapes */
function uuidAt(json: Buffer, start: number): Buffer | undefined {
  const isUid = start >= label.length && label.compare(json, start - label.length, start) === 0;
  if (!isUid || json[start + uuidBytes] !== quote) return undefined;
  const text = json.subarray(start, start + uuidBytes);
  return text.includes(quote) || text.includes(backslash) ? undefined : text;
}
