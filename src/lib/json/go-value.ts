/** Values as Go prints them, for upstream's messages. */

/** With `%v`: `map[data:map[s:2] extra:[1 2]]`. */
export function formatGoValue(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `[${value.map(formatGoValue).join(" ")}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${key}:${formatGoValue((value as Record<string, unknown>)[key])}`);
  return `map[${members.join(" ")}]`;
}

/** The type JSON has in Go when it is decoded without a schema; nil's as `%s` prints it. */
export function goTypeOf(value: unknown): string {
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "bool";
    case "bigint":
      return "int64";
    case "number":
      return Number.isInteger(value) ? "int64" : "float64";
    default:
      if (value === null || value === undefined) return "%!s(<nil>)";
      return Array.isArray(value) ? goListType : goMapType;
  }
}

export const goMapType = "map[string]interface {}";
export const goListType = "[]interface {}";
