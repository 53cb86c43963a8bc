/** JSON Merge Patch (RFC 7386) as Kubernetes applies it. */
import { isObject, setMember } from "../json/values.ts";

/**
 * Objects merge, null removes, all else replaces. Unlike the RFC, nulls within objects within lists go away too, unless the list takes an object's place.
 * @param target left as it is
 * @param patch nested at most as deep as decoding keeps (`retainedDepthMax`); left as it is
 * @returns a document that shares with `target` and `patch` what was taken over whole
 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(target)) return withoutNulls(patch);
  return isObject(patch) ? mergeMembers(target, patch) : patch;
}

function mergeMembers(target: Record<string, unknown>, patch: Record<string, unknown>): Record<string, unknown> {
  const merged = new Map(Object.entries(target));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined) merged.delete(key);
    else merged.set(key, applyMergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged); // Makes own members, `__proto__` included.
}

/** Null elements of lists stay: removing them would move the others. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member !== null && member !== undefined) setMember(kept, key, withoutNulls(member));
  }
  return kept;
}
