import type { Type } from "./schema.ts";

/** Yields a struct itself, or the structs in a list or map (or in a list of lists …). */
export function* structsWithin(value: unknown, type: Type): Generator<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return;
  if (type.kind === "struct") yield value as Record<string, unknown>;
  else if (type.kind === "list") for (const item of value as unknown[]) yield* structsWithin(item, type.items);
  else if (type.kind === "map") for (const item of Object.values(value)) yield* structsWithin(item, type.values);
}
