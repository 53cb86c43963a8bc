/**
 * Statistics of the seats that a priority level needs, from which borrowing derives limits. Source:
 * KEP-1040, "Dispatching", and k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/fairqueuing/integrator.go.
 */
import { nsOf } from "./seat-seconds.ts";

/** The average of a value over a time, weighted by time. */
export interface Integrated {
  readonly seconds: number;
  /** NaN when no time has passed. */
  readonly average: number;
  /** The standard deviation. NaN when no time has passed, or when rounding makes it impossible. */
  readonly deviation: number;
  readonly min: number;
  readonly max: number;
}

/** Integrates a value that changes in steps. */
export class Integrator {
  readonly #now: () => number;
  #lastTime: number;
  #value = 0;
  #min = 0;
  #max = 0;
  #seconds = 0;
  #integral = 0;
  #integralOfSquare = 0;

  /** @param now milliseconds since any fixed time */
  constructor(now: () => number) {
    this.#now = now;
    this.#lastTime = now();
  }

  /** Changes the value. @param at the current time, if the caller has read it */
  set(value: number, at: number = this.#now()): void {
    this.#update(at);
    this.#value = value;
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
  }

  /** @returns the results from the last reset until now */
  results(): Integrated {
    this.#update(this.#now());
    const { average, deviation } = this.#statistics();
    return { seconds: this.#seconds, average, deviation, min: this.#min, max: this.#max };
  }

  /** @returns the results, and starts again from the current value */
  reset(): Integrated {
    const results = this.results();
    this.#seconds = 0;
    this.#integral = 0;
    this.#integralOfSquare = 0;
    this.#min = this.#value;
    this.#max = this.#value;
    return results;
  }

  #update(now: number): void {
    const ns = nsOf(now - this.#lastTime);
    this.#lastTime = now;
    if (ns === 0) return;
    const seconds = Math.trunc(ns / 1e9) + (ns % 1e9) / 1e9;
    this.#seconds += seconds;
    this.#integral += this.#value * seconds;
    this.#integralOfSquare += this.#value * this.#value * seconds;
  }

  #statistics(): { average: number; deviation: number } {
    if (this.#seconds <= 0) return { average: Number.NaN, deviation: Number.NaN };
    const average = this.#integral / this.#seconds;
    const variance = this.#integralOfSquare / this.#seconds - average * average;
    return { average, deviation: Math.sqrt(variance) };
  }
}

/** What is known about the demand of a level. */
export interface SeatDemandStats {
  readonly average: number;
  readonly deviation: number;
  /** The most seats that were needed at once, in the last period. */
  readonly highWatermark: number;
  /** Follows `average + deviation` up at once, and down slowly. */
  readonly smoothed: number;
}

/** The statistics of a level that was not observed. */
export const noSeatDemand: SeatDemandStats = { average: 0, deviation: 0, highWatermark: 0, smoothed: 0 };

/**
 * The weight of the past, and the rest of 1. With a period of 10 s, a peak is halved within 5
 * minutes.
 */
const pastWeight = 0.977;
const presentWeight = 0.023;

/** @returns the statistics after one more period */
export function updateSeatDemand(stats: SeatDemandStats, observed: Integrated): SeatDemandStats {
  const highWatermark = Math.round(observed.max);
  if (observed.seconds <= 0) return { ...stats, highWatermark };
  const deviation = Number.isNaN(observed.deviation) ? 0 : observed.deviation;
  const envelope = observed.average + deviation;
  const smoothed = Math.max(envelope, pastWeight * stats.smoothed + presentWeight * envelope);
  return { average: observed.average, deviation, highWatermark, smoothed };
}
