/** Histograms with fixed buckets. Only the first value that is recorded allocates memory: a server has hundreds, of which most stay empty. */
import { formatGoFloat } from "../lib/json/go-value.ts";
import type { Sample } from "./exposition.ts";

/** @returns `count` bounds; each is the previous one multiplied by `factor` */
export function exponentialBounds(first: number, factor: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first * factor ** index);
}

/** The counts of one series. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** The number of values per bucket; the last bucket has no upper bound. Undefined without values. */
  #counts: Float64Array | undefined;
  #sum = 0;
  #count = 0;

  /** @param bounds upper bounds, ascending, inclusive */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
  }

  /**
   * Creates a histogram from counters.
   *
   * @param counts one more than bounds
   * @param sum the sum of all values
   */
  static of(bounds: readonly number[], counts: readonly number[], sum: number): Histogram {
    const histogram = new Histogram(bounds);
    histogram.#counts = Float64Array.from(counts);
    histogram.#sum = sum;
    histogram.#count = counts.reduce((all, one) => all + one, 0);
    return histogram;
  }

  /** The number of recorded values. */
  get count(): number {
    return this.#count;
  }

  /** Records a value. @param times how often it occurred */
  observe(value: number, times = 1): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at++;
    this.#add(at, times);
    this.#sum += value * times;
    this.#count += times;
  }

  /** Adds the values of another histogram, whose bounds must include all bounds of this one. */
  add(other: Histogram): void {
    for (const [index, count] of other.#counts?.entries() ?? []) {
      const bound = other.#bounds[index] ?? Number.POSITIVE_INFINITY;
      const at = this.#bounds.findIndex((own) => bound <= own);
      this.#add(at < 0 ? this.#bounds.length : at, count);
    }
    this.#sum += other.#sum;
    this.#count += other.#count;
  }

  /** Yields the samples. @param labels the encoded labels of the series, without `le` */
  *samples(labels: string): Iterable<Sample> {
    let below = 0;
    for (const [index, bound] of [...this.#bounds, Number.POSITIVE_INFINITY].entries()) {
      below += this.#counts?.[index] ?? 0;
      yield {
        suffix: "_bucket",
        labels: `${labels === "" ? "" : `${labels},`}le="${formatGoFloat(bound)}"`,
        value: below,
      };
    }
    yield { suffix: "_sum", labels, value: this.#sum };
    yield { suffix: "_count", labels, value: this.#count };
  }

  #add(at: number, count: number): void {
    this.#counts ??= new Float64Array(this.#bounds.length + 1);
    this.#counts[at] = (this.#counts[at] as number) + count;
  }
}
