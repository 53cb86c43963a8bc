/** Samples of metrics by labels. Callers must use bounded sets of label values. */
import { formatLabels, type Metric, type Sample } from "./exposition.ts";
import { Histogram } from "./histogram.ts";
import type { LabelValues, MetricRow } from "./metric-row.ts";

/** The maximum number of series, a safeguard for label values that turn out to be unbounded. */
const seriesMax = 10_000;

/** One value for each combination of labels. */
type Values<Row extends MetricRow> = Iterable<readonly [labels: LabelValues<Row>, value: number]>;

/** Anything with the samples of a histogram. */
interface Distribution {
  samples(labels: string): Iterable<Sample>;
}

/** @returns a metric without labels */
export function single(row: MetricRow, value: number): Metric {
  return { ...row, samples: [{ suffix: "", labels: "", value }] };
}

/** @returns a metric with the values */
export function measured<const Row extends MetricRow>(row: Row, values: Values<Row>): Metric {
  const samples = Array.from(values, ([labels, value]) => ({ suffix: "", labels: encoded(row, labels), value }));
  return { ...row, samples };
}

/** @returns a metric with the histograms */
export function distributed<const Row extends MetricRow>(
  row: Row,
  all: Iterable<readonly [labels: LabelValues<Row>, histogram: Distribution]>,
): Metric {
  return { ...row, samples: Array.from(all, ([labels, one]) => [...one.samples(encoded(row, labels))]).flat() };
}

function encoded({ labels: names = [] }: MetricRow, values: readonly string[]): string {
  return formatLabels(names, values);
}

/** The series of a metric, each with its encoded labels. */
class Series<Row extends MetricRow, T> {
  readonly #row: Row;
  readonly #max: number;
  readonly #all = new Map<string, { readonly labels: string; value: T }>();

  constructor(row: Row, max: number) {
    this.#row = row;
    this.#max = max;
  }

  /** @returns the series; undefined if there are too many */
  of(labels: LabelValues<Row>, first: () => T): { value: T } | undefined {
    const values: readonly string[] = labels;
    const key = values.length === 1 ? (values[0] as string) : values.join("\0");
    let one = this.#all.get(key);
    if (one === undefined && this.#all.size < this.#max) {
      one = { labels: encoded(this.#row, values), value: first() };
      this.#all.set(key, one);
    }
    return one;
  }

  all(): Iterable<{ readonly labels: string; readonly value: T }> {
    return this.#all.values();
  }
}

/** Counters by labels. */
export class Counters<const Row extends MetricRow> {
  readonly #row: Row;
  readonly #series: Series<Row, number>;

  /** @param max the number of series */
  constructor(row: Row, max = seriesMax) {
    this.#row = row;
    this.#series = new Series(row, max);
  }

  count(labels: LabelValues<Row>, by = 1): void {
    const series = this.#series.of(labels, () => 0);
    if (series !== undefined) series.value += by;
  }

  metric(): Metric {
    return { ...this.#row, samples: Array.from(this.#series.all(), (one) => ({ suffix: "", ...one })) };
  }
}

/** Histograms by labels. */
export class Histograms<const Row extends MetricRow> {
  readonly #row: Row;
  readonly #series: Series<Row, Histogram>;

  /** @param max the number of series */
  constructor(row: Row, max = seriesMax) {
    this.#row = row;
    this.#series = new Series(row, max);
  }

  observe(labels: LabelValues<Row>, value: number): void {
    this.#series.of(labels, () => newHistogram(this.#row))?.value.observe(value);
  }

  /** Adds the values of a histogram whose bounds include all buckets of the row. */
  merge(labels: LabelValues<Row>, other: Histogram): void {
    this.#series.of(labels, () => newHistogram(this.#row))?.value.add(other);
  }

  metric(): Metric {
    const samples = Array.from(this.#series.all(), ({ labels, value }) => [...value.samples(labels)]).flat();
    return { ...this.#row, samples };
  }
}

/** @returns an empty histogram with the buckets of the row */
export function newHistogram({ buckets = [] }: MetricRow): Histogram {
  return new Histogram(buckets);
}
