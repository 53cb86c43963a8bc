/** A distribution over fixed buckets; observing costs a few comparisons and allocates nothing. */
import type { Sample } from "./exposition.ts";
import { formatNumber } from "./exposition.ts";

/** @returns so many bounds, each a multiple of the one before it */
export function exponentialBounds(first: number, factor: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first * factor ** index);
}

export class Histogram {
  readonly #bounds: readonly number[];
  /** Observations per bucket, the last one above all bounds. */
  readonly #counts: Float64Array;
  #sum = 0;
  #count = 0;

  /** @param bounds upper bounds, ascending, inclusive */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  /** @param counts of observations that somebody else has counted, one more than bounds @param sum of what was observed */
  static of(bounds: readonly number[], counts: readonly number[], sum: number): Histogram {
    const histogram = new Histogram(bounds);
    histogram.#counts.set(counts);
    histogram.#sum = sum;
    histogram.#count = counts.reduce((all, one) => all + one, 0);
    return histogram;
  }

  get count(): number {
    return this.#count;
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at++;
    this.#counts[at] = (this.#counts[at] as number) + 1;
    this.#sum += value;
    this.#count++;
  }

  /** Adds what another one observed, whose bounds are these and perhaps some between. */
  add(other: Histogram): void {
    for (const [index, count] of other.#counts.entries()) {
      const bound = other.#bounds[index] ?? Number.POSITIVE_INFINITY;
      const at = this.#bounds.findIndex((own) => bound <= own);
      const own = at < 0 ? this.#bounds.length : at;
      this.#counts[own] = (this.#counts[own] as number) + count;
    }
    this.#sum += other.#sum;
    this.#count += other.#count;
  }

  /** @param labels of the series; the bound `le` is added */
  *samples(labels: string): Iterable<Sample> {
    let below = 0;
    for (const [index, bound] of [...this.#bounds, Number.POSITIVE_INFINITY].entries()) {
      below += this.#counts[index] as number;
      yield {
        suffix: "_bucket",
        labels: `${labels === "" ? "" : `${labels},`}le="${formatNumber(bound)}"`,
        value: below,
      };
    }
    yield { suffix: "_sum", labels, value: this.#sum };
    yield { suffix: "_count", labels, value: this.#count };
  }
}
