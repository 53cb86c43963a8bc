/** Where two JSON documents differ. */
import { isObject } from "../../src/lib/json/values.ts";

export interface Difference {
  readonly path: readonly string[];
  /** Undefined: it has nothing there. */
  readonly ours: unknown;
  readonly theirs: unknown;
}

/** Lists of different lengths are one difference, others one for each place; the order of keys says nothing. */
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
