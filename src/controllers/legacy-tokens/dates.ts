/** Days as labels of legacy tokens and their ConfigMap have them: `2026-01-31`, in UTC. */

export const dayMs = 86_400_000;

/** @param ms since 1970 */
export function formatDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** @returns the begin of the day, milliseconds since 1970; undefined for what is no day */
export function parseDay(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && formatDay(ms) === text ? ms : undefined;
}
