/**
 * Reads and writes the paths of the scale subresource: names separated by dots.
 *
 * Source: k8s.io/apimachinery@v0.36.0/pkg/apis/meta/v1/unstructured/helpers.go
 */

import { formatGoValue, goTypeOf } from "../../lib/json/go-value.ts";
import { isObject, setMember } from "../../lib/json/values.ts";
import { type JsonObject, memberOf } from "../../lib/structural-schema/json-object.ts";

/** A value at the path, or a parent of it, has an unexpected type. */
export class PathTypeError extends Error {}

/** @returns the names of a path such as `.spec.replicas` */
export function splitPath(path: string): string[] {
  return path.replace(/^\./, "").split(".");
}

/**
 * @returns undefined if no value is there
 * @throws PathTypeError if a parent is not an object
 */
function valueAt(object: JsonObject, path: string): unknown {
  const steps = splitPath(path);
  let value: unknown = object;
  for (const [index, step] of steps.entries()) {
    if (value === null || value === undefined) return undefined;
    if (!isObject(value)) throw wrongType(steps.slice(0, index + 1), value, "map[string]interface{}");
    value = memberOf(value, step);
  }
  return value;
}

/**
 * @returns 0 if no value is there
 * @throws PathTypeError if the value is not an integer, or a parent is not an object
 */
export function integerAt(object: JsonObject, path: string): number | bigint {
  const value = valueAt(object, path);
  if (value === undefined) return 0;
  if (typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value))) return value;
  throw wrongType(splitPath(path), value, "int64");
}

/**
 * @returns an empty string if no value is there
 * @throws PathTypeError if the value is not a string, or a parent is not an object
 */
export function textAt(object: JsonObject, path: string): string {
  const value = valueAt(object, path);
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  throw wrongType(splitPath(path), value, "string");
}

function wrongType(steps: readonly string[], value: unknown, expected: string): PathTypeError {
  const found = value === null ? "<nil>" : goTypeOf(value);
  return new PathTypeError(
    `.${steps.join(".")} accessor error: ${formatGoValue(value)} is of the type ${found}, expected ${expected}`,
  );
}

/**
 * Sets the value, and creates missing parents.
 *
 * @throws PathTypeError if a parent is not an object
 */
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
    if (!isObject(next))
      throw new PathTypeError(
        `value cannot be set because .${steps.slice(0, index + 1).join(".")} is not a map[string]interface{}`,
      );
    at = next;
  }
  setMember(at, last, value);
}
