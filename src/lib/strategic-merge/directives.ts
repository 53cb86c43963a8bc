/**
 * Directives of strategic merge patches. Source: Kubernetes docs, "Update API Objects in Place
 * Using kubectl patch".
 */
import { isObject, setMember } from "../json/values.ts";
import { badFormat } from "./strategic-merge-error.ts";

/** `$patch: replace | delete`, in an object or in an element of a list. */
export const patchDirective = "$patch";
/** `$retainKeys`: the only members of the object that stay, for unions. */
export const retainKeysDirective = "$retainKeys";
/** `$deleteFromPrimitiveList/<field>`: elements that are removed. */
export const deletionPrefix = "$deleteFromPrimitiveList";
/** `$setElementOrder/<field>`: the elements, or their merge keys, in the requested order. */
export const orderPrefix = "$setElementOrder";

/** A plain JSON object. */
export type JsonObject = Record<string, unknown>;

/** The `$patch` directive of an element or object, if any. */
export function directiveOf(value: unknown): unknown {
  return isObject(value) && Object.hasOwn(value, patchDirective) ? value[patchDirective] : undefined;
}

/**
 * The field to which a key such as `$setElementOrder/<field>` refers.
 * @throws StrategicMergeError when no slash follows the prefix
 */
export function fieldOfDirective(key: string, prefix: typeof deletionPrefix | typeof orderPrefix): string {
  if (key.charAt(prefix.length) === "/") return key.slice(prefix.length + 1);
  throw badFormat(prefix === orderPrefix ? "setElementOrder list" : "primitive list");
}

/**
 * Removes null members at any depth, in place, from a value without a counterpart. Null list
 * elements stay.
 */
export function discardNulls(value: unknown): void {
  if (Array.isArray(value)) for (const item of value) discardNulls(item);
  if (!isObject(value)) return;
  for (const [key, member] of Object.entries(value)) {
    if (member === null || member === undefined) delete value[key];
    else discardNulls(member);
  }
}

/**
 * Removes objects with a `$patch` directive at any depth: members in place, list elements in a
 * copy.
 * @returns undefined when the value is such an object itself
 */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, patchDirective)) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const kept = withoutDirectives(member);
    if (kept === undefined) delete value[key];
    else if (kept !== member) setMember(value, key, kept);
  }
  return value;
}
