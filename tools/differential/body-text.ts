/** Writes the bodies of steps as JSON with values that JavaScript does not have. */
import { isObject } from "../../src/lib/json/values.ts";

/** A value that is written as this text: a number in another spelling, or broken JSON. */
export const rawKey = "$raw";
/** The members of an object as a list, some of which have the same key. */
export const membersKey = "$members";

/** @param text such as `1e3` */
export function raw(text: string): object {
  return { [rawKey]: text };
}

/** @param members in this order, also with equal keys */
export function repeatedMembers(members: readonly (readonly [key: string, value: unknown])[]): object {
  return { [membersKey]: members };
}

/** @returns JSON; a text is returned as it is */
export function formatBody(body: unknown): string {
  return typeof body === "string" ? body : format(body);
}

/** Whether a body has values that only its text can express. */
export function isOnlyText(body: unknown): boolean {
  if (typeof body === "string") return true;
  if (Array.isArray(body)) return body.some((item) => typeof item === "object" && isOnlyText(item));
  if (!isObject(body)) return false;
  if (Object.hasOwn(body, rawKey) || Object.hasOwn(body, membersKey)) return true;
  return Object.values(body).some((value) => typeof value === "object" && isOnlyText(value));
}

function format(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(format).join()}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  if (typeof value[rawKey] === "string") return value[rawKey];
  const members = Array.isArray(value[membersKey]) ? (value[membersKey] as [string, unknown][]) : Object.entries(value);
  return `{${members
    .filter((pair) => Array.isArray(pair) && pair[1] !== undefined) // A change may have added another item.
    .map(([key, member]) => `${JSON.stringify(key)}:${format(member)}`)
    .join()}}`;
}
