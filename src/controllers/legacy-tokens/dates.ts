/** Dates in the labels of legacy tokens and in the tracking ConfigMap: `2026-01-31`, in UTC. */

export const dayMs = 86_400_000;

/** @param ms milliseconds since 1970 */
export function formatDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** @returns the beginning of the day in milliseconds since 1970; undefined for an invalid date */
export function parseDay(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && formatDay(ms) === text ? ms : undefined;
}
