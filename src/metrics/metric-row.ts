/** A metric is a row. What `/metrics` shows of it besides its samples, and docs/reference/metrics.md, come from it. */
import type { Metric } from "./exposition.ts";

/** What is registered of a metric. */
export interface MetricRow extends Omit<Metric, "samples"> {
  /** The names of its labels, in the order of their values. */
  readonly labels?: readonly string[];
  /** The upper bounds of the buckets of a histogram, ascending. */
  readonly buckets?: readonly number[];
}

/** The rows of a component, by names of its own. */
export type MetricRows = Readonly<Record<string, MetricRow>>;

/** One value for each name. */
export type ValuesOf<Names extends readonly string[]> = { readonly [At in keyof Names]: string };

/** The values of the labels of a metric, in the order of its row. */
export type LabelValues<Row extends MetricRow> = Row extends { readonly labels: infer Names extends readonly string[] }
  ? ValuesOf<Names>
  : readonly [];
