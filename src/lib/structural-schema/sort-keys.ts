import { isObject, setMember } from "../json/values.ts";

/**
 * Returns a copy of a value with the keys of all objects sorted, as Go prints maps. Source:
 * https://pkg.go.dev/fmt.
 */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  const sorted: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) setMember(sorted, key, sortKeys(value[key]));
  return sorted;
}
