/** Objects as Go prints maps. */
import { setMember } from "../json/values.ts";

/** A copy whose objects have their keys sorted, as Go prints maps. */
export function sortKeys(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const sorted: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort())
    setMember(sorted, key, sortKeys((value as Record<string, unknown>)[key]));
  return sorted;
}
