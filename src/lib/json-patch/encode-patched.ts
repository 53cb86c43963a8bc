/**
 * Encodes patched documents with the member order of json-patch v4: it sorts the members of objects
 * that the patch opened, and leaves the others as they were sent.
 * Source: https://github.com/evanphx/json-patch.
 */
import { encodeAny, encodeSorted, encodeString, sortedKeys } from "../json/encode-any.ts";
import type { Member } from "../json/exact.ts";
import { isObject, setMember } from "../json/values.ts";
import { withoutNulls } from "./merge-patch.ts";

/** What the text of a patched document depends on, besides its value. */
export interface PatchNotes {
  /** The objects and arrays that the patch opened. */
  readonly opened: Set<object>;
  /** For each object of the patch with repeated keys, all members in order. They are written until it is opened. */
  readonly repeated: Map<object, readonly Member[]>;
}

/** @param repeated those of the operations; none by default */
export function patchNotes(repeated: ReadonlyMap<object, readonly Member[]> = new Map()): PatchNotes {
  return { opened: new Set(), repeated: new Map(repeated) };
}

/** Encodes the result of a JSON patch. */
export function encodePatched(value: unknown, notes: PatchNotes): string {
  if (Array.isArray(value)) return `[${value.map((item) => encodePatched(item, notes)).join(",")}]`;
  if (!isObject(value)) return encodeAny(value);
  return encodeMembers(membersOf(value, notes).map(([key, member]) => [key, encodePatched(member, notes)]));
}

function membersOf(object: Record<string, unknown>, { opened, repeated }: PatchNotes): readonly Member[] {
  if (opened.has(object)) return sortedKeys(object).map((key) => [key, object[key]]);
  return repeated.get(object) ?? Object.entries(object);
}

/** Opens all objects and arrays of a tree. */
export function openAll(value: unknown, { opened }: PatchNotes): void {
  const add = (part: unknown): void => {
    if (typeof part !== "object" || part === null) return;
    opened.add(part);
    for (const member of Object.values(part)) add(member);
  };
  add(value);
}

/** Returns a deep copy, for whose parts the notes say the same. */
export function cloneNoted(value: unknown, notes: PatchNotes): unknown {
  const { opened, repeated } = notes;
  let copy: unknown[] | Record<string, unknown>;
  if (Array.isArray(value)) copy = value.map((item) => cloneNoted(item, notes));
  else if (!isObject(value)) return value;
  else {
    copy = {};
    const all = repeated.get(value);
    const members = (all ?? Object.entries(value)).map(([key, member]): Member => [key, cloneNoted(member, notes)]);
    for (const [key, member] of members) setMember(copy, key, member);
    if (all !== undefined) repeated.set(copy, members);
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
