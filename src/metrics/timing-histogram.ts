/**
 * A histogram of a ratio over time: each nanosecond counts as one observation of the current value.
 * Source: k8s.io/component-base@v0.36.0/metrics/prometheusextension/timing_histogram.go.
 */
import type { Sample } from "./exposition.ts";
import { Histogram } from "./histogram.ts";

const nsPerMs = 1e6;

/** Observes a numerator and a denominator. */
export class TimingHistogram {
  readonly #now: () => number;
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #since: number;
  #numerator = 0;
  #denominator = 1;

  /** @param now milliseconds since any fixed time, with fractions */
  constructor(bounds: readonly number[], now: () => number) {
    this.#bounds = bounds;
    this.#counts = new Array(bounds.length + 1).fill(0);
    this.#now = now;
    this.#since = now();
  }

  /** Changes the numerator. @param at the current time, which the caller has read */
  set(numerator: number, at: number): void {
    this.#observe(at);
    this.#numerator = numerator;
  }

  /** @param denominator at least 1 */
  setDenominator(denominator: number): void {
    this.#observe(this.#now());
    this.#denominator = denominator;
  }

  /** @returns the samples until now */
  *samples(labels: string): Iterable<Sample> {
    this.#observe(this.#now());
    yield* Histogram.of(this.#bounds, this.#counts, this.#sum).samples(labels);
  }

  #observe(now: number): void {
    const ns = Math.round((now - this.#since) * nsPerMs);
    this.#since = now;
    if (ns <= 0) return;
    const ratio = this.#numerator / this.#denominator;
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && ratio > (bounds[at] as number)) at++;
    this.#counts[at] = (this.#counts[at] as number) + ns;
    this.#sum += ratio * ns;
  }
}
