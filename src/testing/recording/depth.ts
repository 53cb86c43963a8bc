/** Whether arrays and objects are nested at most this deep, so that functions can recurse into the value. */
export function isWithinDepth(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  for (const key in value) if (!isWithinDepth((value as Record<string, unknown>)[key], levels - 1)) return false;
  return true;
}
