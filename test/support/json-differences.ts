/** Finds the differences between two JSON documents. */
import { isObject } from "../../src/lib/json/values.ts";

export interface Difference {
  readonly path: readonly string[];
  /** Undefined if this document has no value there. */
  readonly ours: unknown;
  readonly theirs: unknown;
}

/**
 * Lists of different lengths are one difference, other lists one for each index; the order of keys
 * is ignored.
 */
export function jsonDifferences(ours: unknown, theirs: unknown, path: readonly string[] = []): Difference[] {
  if (isObject(ours) && isObject(theirs)) {
    const keys = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
    return keys.flatMap((key) => jsonDifferences(own(ours, key), own(theirs, key), [...path, key]));
  }
  if (Array.isArray(ours) && Array.isArray(theirs) && ours.length === theirs.length) {
    return ours.flatMap((one, index) => jsonDifferences(one, theirs[index], [...path, String(index)]));
  }
  return ours === theirs ? [] : [{ path, ours, theirs }];
}

function own(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
