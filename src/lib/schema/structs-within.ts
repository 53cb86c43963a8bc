import type { Type } from "./schema.ts";

/** The struct itself, or the structs a list or map (or a list of lists …) holds. */
export function* structsWithin(value: unknown, type: Type): Generator<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return;
  if (type.kind === "struct") yield value as Record<string, unknown>;
  else if (type.kind === "list") for (const item of value as unknown[]) yield* structsWithin(item, type.items);
  else if (type.kind === "map") for (const item of Object.values(value)) yield* structsWithin(item, type.values);
}
