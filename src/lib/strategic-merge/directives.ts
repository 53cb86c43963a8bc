/** The words by which a strategic merge patch says more than its values do. Source: Kubernetes' strategic merge patch design. */
import { isObject, setMember } from "../json/values.ts";
import { badFormat } from "./strategic-merge-error.ts";

/** `$patch: replace | delete`, in an object or in an element of a list. */
export const patchDirective = "$patch";
/** The only members that stay, of an object of which one is set at a time. */
export const retainKeysDirective = "$retainKeys";
/** `$deleteFromPrimitiveList/<field>`: elements that go away. */
export const deletionPrefix = "$deleteFromPrimitiveList";
/** `$setElementOrder/<field>`: the elements, or their merge keys, in the order they shall have. */
export const orderPrefix = "$setElementOrder";

export type JsonObject = Record<string, unknown>;

/** The directive an element or object carries; undefined when it carries none. */
export function directiveOf(value: unknown): unknown {
  return isObject(value) && Object.hasOwn(value, patchDirective) ? value[patchDirective] : undefined;
}

/** The field a prefixed key is about. @throws StrategicMergeError when the key is the prefix and something else than a slash and a field */
export function fieldOfDirective(key: string, prefix: typeof deletionPrefix | typeof orderPrefix): string {
  if (key.charAt(prefix.length) === "/") return key.slice(prefix.length + 1);
  throw badFormat(prefix === orderPrefix ? "setElementOrder list" : "primitive list");
}

/** Takes the null members away, at any depth, in place: what is left has nothing to merge with. Null elements of lists stay. */
export function discardNulls(value: unknown): void {
  if (Array.isArray(value)) for (const item of value) discardNulls(item);
  if (!isObject(value)) return;
  for (const [key, member] of Object.entries(value)) {
    if (member === null || member === undefined) delete value[key];
    else discardNulls(member);
  }
}

/** The same with objects that carry `$patch`, but that lists are made anew. @returns undefined when the value is such an object itself */
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
