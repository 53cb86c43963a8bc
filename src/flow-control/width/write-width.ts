/**
 * Estimates the work of writes, whose events are sent to watches after the response.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/request/mutating_work_estimator.go.
 */
import type { WorkEstimate } from "../../lib/fair-queuing/contract.ts";

const watchesPerSeat = 10;
/** The time for which the events of a write occupy its seats. */
const eventMs = 5;
const writeSeatsMax = 10;

/** The work of requests that are not estimated. */
export const oneSeat: WorkEstimate = { initialSeats: 1, finalSeats: 0, additionalLatencyMs: 0 };

/**
 * @param watches that receive the event
 * @param seatsMax the most seats of a request at the priority level; 0 if the level sets no limit
 */
export function writeWork(watches: number, seatsMax: number): WorkEstimate {
  if (watches < watchesPerSeat) return oneSeat;
  const seats = Math.ceil(watches / watchesPerSeat);
  const finalSeats = Math.min(seats, seatsMax === 0 ? writeSeatsMax : Math.min(seatsMax, writeSeatsMax));
  return { initialSeats: 1, finalSeats, additionalLatencyMs: (seats * eventMs) / finalSeats };
}
