/**
 * Seat-seconds are the unit of work: seats multiplied by seconds. They are integers in units of
 * 10 ns of one seat. Source: pkg/util/flowcontrol/request/seat_seconds.go.
 */

/** Units of one seat-second. */
const scale = 1e8;
const nsPerUnit = 1e9 / scale;

/** @returns the work of this many seats for a time */
export function seatsTimesNs(seats: number, ns: number): number {
  return roundHalfAway((seats * ns) / nsPerUnit);
}

/** @returns the nanoseconds that the work takes on this many seats */
export function nsPerSeat(work: number, seats: number): number {
  return Math.trunc((work / seats) * nsPerUnit);
}

/** @returns seat-seconds as a fraction */
export function toSeatSeconds(work: number): number {
  return work / scale;
}

/** Formats as upstream's debug endpoints do, such as `3.00500000ss`. */
export function formatSeatSeconds(work: number): string {
  return `${Math.floor(work / scale)}.${String(work % scale).padStart(8, "0")}ss`;
}

function roundHalfAway(value: number): number {
  return value < 0 ? -Math.round(-value) : Math.round(value);
}

/** Milliseconds with fractions as whole nanoseconds. */
export function nsOf(ms: number): number {
  return Math.round(ms * 1e6);
}
