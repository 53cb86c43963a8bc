import { setMember } from "../json/values.ts";

/** JSON with sorted keys, so that equal values have equal texts. */
export function sortedJson(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(",")}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${sortedJson((value as Record<string, unknown>)[key])}`);
  return `{${members.join(",")}}`;
}

/** A copy whose objects have their keys sorted, as Go prints maps. */
export function sortKeys(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const sorted: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) setMember(sorted, key, sortKeys((value as Record<string, unknown>)[key]));
  return sorted;
}
