/** The marker of an unfinished copy, and batches of changes. */
import type { CopiedChange, CopyMarker } from "./contract.ts";

const format = 1;

export function writeMarker(marker: CopyMarker): Buffer {
  return Buffer.from(JSON.stringify({ format, ...marker }));
}

/**
 * @param target named in errors
 * @throws Error when the marker is that of another source, or cannot be read
 */
export function readMarker(bytes: Buffer, { source, target }: { source: string; target: string }): CopyMarker {
  const marker = parse(bytes);
  if (marker === undefined) throw new Error(`the marker of a copy in ${target} cannot be read`);
  if (marker.source !== source)
    throw new Error(`${target} has an unfinished copy of another source: ${marker.source}, not ${source}`);
  return marker;
}

function parse(bytes: Buffer): CopyMarker | undefined {
  try {
    const { format: found, source, applied, passed, complete } = JSON.parse(bytes.toString());
    const isValid = found === format && typeof source === "string" && Number.isSafeInteger(applied);
    if (!isValid || (passed !== undefined && typeof passed !== "string")) return undefined;
    return { source, applied, complete: complete === true, ...(passed !== undefined && { passed }) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Divides changes into batches; a larger value is a batch of its own. */
export function batchesOf(
  changes: readonly CopiedChange[],
  max: { readonly changes: number; readonly bytes: number },
): CopiedChange[][] {
  const batches: CopiedChange[][] = [];
  let batch: CopiedChange[] = [];
  let bytes = 0;
  for (const change of changes) {
    const size = change.key.length + (change.value?.length ?? 0);
    if (batch.length > 0 && (batch.length >= max.changes || bytes + size > max.bytes)) {
      batches.push(batch);
      [batch, bytes] = [[], 0];
    }
    batch.push(change);
    bytes += size;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
