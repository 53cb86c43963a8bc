/** Counters and histograms by labels. Callers must use bounded sets of label values. */
import type { Sample } from "./exposition.ts";
import { Histogram } from "./histogram.ts";

/** The maximum number of series, a safeguard for label values that turn out to be unbounded. */
const seriesMax = 10_000;

/** Counters by labels. */
export class Counters {
  readonly #counts = new Map<string, number>();

  /** @param labels encoded by `formatLabels` */
  count(labels: string, by = 1): void {
    const count = this.#counts.get(labels);
    if (count !== undefined || this.#counts.size < seriesMax) this.#counts.set(labels, (count ?? 0) + by);
  }

  samples(): Sample[] {
    return [...this.#counts].map(([labels, value]) => ({ suffix: "", labels, value }));
  }
}

/** Histograms by labels. */
export class Histograms {
  readonly #bounds: readonly number[];
  readonly #all = new Map<string, Histogram>();

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
  }

  /** @param labels encoded by `formatLabels` */
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
