/**
 * Encodes patched documents with the member order of json-patch v4: it sorts the members of objects
 * that the patch opened, and leaves the others as they were sent.
 * Source: https://github.com/evanphx/json-patch.
 */
import { encodeAny, encodeSorted, encodeString, sortedKeys } from "../json/encode-any.ts";
import { isObject, setMember } from "../json/values.ts";
import { withoutNulls } from "./merge-patch.ts";

/**
 * Encodes the result of a JSON patch.
 *
 * @param opened the objects and arrays that the patch opened
 */
export function encodeOpened(value: unknown, opened: ReadonlySet<object>): string {
  if (Array.isArray(value)) return `[${value.map((item) => encodeOpened(item, opened)).join(",")}]`;
  if (!isObject(value)) return encodeAny(value);
  const keys = opened.has(value) ? sortedKeys(value) : Object.keys(value);
  return encodeMembers(keys.map((key) => [key, encodeOpened(value[key], opened)]));
}

/** Adds all objects and arrays of a tree to `opened`. */
export function openAll(value: unknown, opened: Set<object>): void {
  if (typeof value !== "object" || value === null) return;
  opened.add(value);
  for (const member of Object.values(value)) openAll(member, opened);
}

/** Returns a deep copy, and adds the copies of opened containers to `opened`. */
export function cloneOpened(value: unknown, opened: Set<object>): unknown {
  let copy: unknown[] | Record<string, unknown>;
  if (Array.isArray(value)) copy = value.map((item) => cloneOpened(item, opened));
  else if (!isObject(value)) return value;
  else {
    copy = {};
    for (const [key, member] of Object.entries(value)) setMember(copy, key, cloneOpened(member, opened));
  }
  if (opened.has(value)) opened.add(copy);
  return copy;
}

/**
 * Encodes the result of `applyMergePatch`.
 *
 * @param encodeTarget encodes parts of the target that the patch does not change
 */
export function encodeMerged(target: unknown, patch: unknown, encodeTarget: (value: unknown) => string): string {
  if (!isObject(target)) return encodeSorted(withoutNulls(patch));
  if (!isObject(patch)) return encodeAny(patch);
  const keys = sortedKeys({ ...target, ...patch }).filter(
    (key) => !(Object.hasOwn(patch, key) && (patch[key] ?? null) === null),
  );
  return encodeMembers(
    keys.map((key) => [
      key,
      Object.hasOwn(patch, key) ? encodeMerged(own(target, key), patch[key], encodeTarget) : encodeTarget(target[key]),
    ]),
  );
}

function encodeMembers(members: readonly (readonly [key: string, text: string])[]): string {
  return `{${members.map(([key, text]) => `${encodeString(key)}:${text}`).join(",")}}`;
}

const own = (object: Record<string, unknown>, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;
