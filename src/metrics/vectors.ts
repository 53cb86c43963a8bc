/** Counters and distributions by labels, whose values come from what is bounded. */
import type { Sample } from "./exposition.ts";
import { Histogram } from "./histogram.ts";

/** Series beyond which no new ones begin, if what was meant to be bounded is not. */
const seriesMax = 10_000;

export class Counters {
  readonly #counts = new Map<string, number>();

  /** @param labels as formatLabels writes them */
  count(labels: string, by = 1): void {
    const count = this.#counts.get(labels);
    if (count !== undefined || this.#counts.size < seriesMax) this.#counts.set(labels, (count ?? 0) + by);
  }

  samples(): Sample[] {
    return [...this.#counts].map(([labels, value]) => ({ suffix: "", labels, value }));
  }
}

export class Histograms {
  readonly #bounds: readonly number[];
  readonly #all = new Map<string, Histogram>();

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
  }

  /** @param labels as formatLabels writes them */
  observe(labels: string, value: number): void {
    let one = this.#all.get(labels);
    if (one === undefined) {
      if (this.#all.size >= seriesMax) return;
      one = new Histogram(this.#bounds);
      this.#all.set(labels, one);
    }
    one.observe(value);
  }

  samples(): Sample[] {
    return [...this.#all].flatMap(([labels, one]) => [...one.samples(labels)]);
  }
}
