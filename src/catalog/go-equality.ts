/** Upstream's equality of what `goForm` prints: what is absent is the same as a list or map without items, not as a struct. */
import { isObject } from "../lib/json/values.ts";

export function equalGoForms(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a === null || b === null) return isWithoutItems(a ?? b);
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equalGoForms(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => Object.hasOwn(a, key) && Object.hasOwn(b, key) && equalGoForms(a[key], b[key]));
}

export const isWithoutItems = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;
