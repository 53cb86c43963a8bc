/** Upstream's semantic equality of the results of `goForm`. */
import { isObject } from "../lib/json/values.ts";

/** Compares deeply; null equals an empty list or map, but not a struct. */
export function equalGoForms(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a === null || b === null) return isWithoutItems(a ?? b);
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equalGoForms(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => Object.hasOwn(a, key) && Object.hasOwn(b, key) && equalGoForms(a[key], b[key]));
}

/** Whether a value is an empty list or map. */
export const isWithoutItems = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;
