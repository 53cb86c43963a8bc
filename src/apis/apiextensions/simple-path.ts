/** Paths of the scale subresource: names and dots. Source: apimachinery's unstructured, NestedInt64 and the like */

import { formatGoValue, goTypeOf } from "../../lib/json/go-value.ts";
import { setMember } from "../../lib/json/values.ts";
import { isJsonObject, type JsonObject, memberOf } from "../../lib/structural-schema/json-object.ts";

/** A value on the way, or at the end of it, is of another type than it should be. */
export class PathTypeError extends Error {}

export function splitPath(path: string): string[] {
  return path.replace(/^\./, "").split(".");
}

/** @returns undefined where there is nothing @throws PathTypeError where something on the way is no object */
function valueAt(object: JsonObject, path: string): unknown {
  const steps = splitPath(path);
  let value: unknown = object;
  for (const [index, step] of steps.entries()) {
    if (value === null || value === undefined) return undefined;
    if (!isJsonObject(value)) throw wrongType(steps.slice(0, index + 1), value, "map[string]interface{}");
    value = memberOf(value, step);
  }
  return value;
}

/** @returns 0 where there is nothing @throws PathTypeError */
export function integerAt(object: JsonObject, path: string): number | bigint {
  const value = valueAt(object, path);
  if (value === undefined) return 0;
  if (typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value))) return value;
  throw wrongType(splitPath(path), value, "int64");
}

/** @returns empty where there is nothing @throws PathTypeError */
export function textAt(object: JsonObject, path: string): string {
  const value = valueAt(object, path);
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  throw wrongType(splitPath(path), value, "string");
}

function wrongType(steps: readonly string[], value: unknown, wanted: string): PathTypeError {
  const found = value === null ? "<nil>" : goTypeOf(value);
  return new PathTypeError(
    `.${steps.join(".")} accessor error: ${formatGoValue(value)} is of the type ${found}, expected ${wanted}`,
  );
}

/** Makes the objects on the way. @throws PathTypeError where something on the way is no object */
export function setAt(object: JsonObject, path: string, value: unknown): void {
  const steps = splitPath(path);
  const last = steps.pop() as string;
  let at = object;
  for (const [index, step] of steps.entries()) {
    let next = memberOf(at, step);
    if (next === undefined) {
      next = {};
      setMember(at, step, next);
    }
    if (!isJsonObject(next))
      throw new PathTypeError(
        `value cannot be set because .${steps.slice(0, index + 1).join(".")} is not a map[string]interface{}`,
      );
    at = next;
  }
  setMember(at, last, value);
}
