/** Equality of values that are compared as a whole. */
import { checkDepth, isMap } from "./typed.ts";

/**
 * Equality to the letter, but for the order of members.
 * @param depth of the place that holds them
 * @throws TypedError beyond `depthMax` levels
 */
export function equalValues(a: unknown, b: unknown, depth = 0): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  checkDepth(depth);
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let index = 0; index < a.length; index++) if (!equalValues(a[index], b[index], depth + 1)) return false;
    return true;
  }
  if (!isMap(a) || !isMap(b)) return false;
  let count = 0;
  for (const name in a) {
    if (!Object.hasOwn(b, name) || !equalValues(a[name], b[name], depth + 1)) return false;
    count++;
  }
  for (const _name in b) count--;
  return count === 0;
}
