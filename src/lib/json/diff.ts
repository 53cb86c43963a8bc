/** Computes the JSON Patch (RFC 6902) from one value to another. */
import { deepEqual, isObject } from "./values.ts";

/** An operation of a JSON Patch. */
export interface DiffOperation {
  readonly op: "add" | "remove" | "replace";
  readonly path: string;
  readonly value?: unknown;
}

/**
 * Returns the operations that change `before` into `after`: one for each member that differs, in
 * the order of the members. A list that differs is replaced, except when items are only appended.
 */
export function diffJson(before: unknown, after: unknown, path = ""): DiffOperation[] {
  if (deepEqual(before, after)) return [];
  if (isObject(before) && isObject(after)) return diffMembers(before, after, path);
  if (Array.isArray(before) && Array.isArray(after) && isPrefix(before, after))
    return after.slice(before.length).map((value) => ({ op: "add", path: `${path}/-`, value }));
  return [{ op: "replace", path, value: after }];
}

function diffMembers(before: Record<string, unknown>, after: Record<string, unknown>, path: string): DiffOperation[] {
  const at = (key: string): string => `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  const removed = Object.keys(before).filter((key) => before[key] !== undefined && memberOf(after, key) === undefined);
  return [
    ...removed.map((key): DiffOperation => ({ op: "remove", path: at(key) })),
    ...Object.keys(after)
      .filter((key) => after[key] !== undefined)
      .flatMap((key): DiffOperation[] => {
        const old = memberOf(before, key);
        return old === undefined
          ? [{ op: "add", path: at(key), value: after[key] }]
          : diffJson(old, after[key], at(key));
      }),
  ];
}

/** The value of an own member; safe for any key. */
export function memberOf(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isPrefix(before: readonly unknown[], after: readonly unknown[]): boolean {
  return before.length < after.length && before.every((item, index) => deepEqual(item, after[index]));
}
