/** JSON Merge Patch (RFC 7386) as kube-apiserver applies it. */
import { isObject, setMember } from "../json/values.ts";

/**
 * Applies a patch: objects are merged, null removes a member, other values replace. Unlike in the
 * RFC, null members of objects in lists are removed too, unless the list replaces an object.
 *
 * @param target not modified
 * @param patch nested at most `retainedDepthMax` deep; not modified
 * @returns a document that shares unchanged parts with `target` and `patch`
 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(target)) return withoutNulls(patch);
  return isObject(patch) ? mergeMembers(target, patch) : patch;
}

function mergeMembers(target: Record<string, unknown>, patch: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...target }; // Copies own members, `__proto__` included.
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined) delete merged[key];
    else setMember(merged, key, applyMergePatch(Object.hasOwn(merged, key) ? merged[key] : undefined, value));
  }
  return merged;
}

/** Removes null members, but not null elements of lists. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member !== null && member !== undefined) setMember(kept, key, withoutNulls(member));
  }
  return kept;
}
