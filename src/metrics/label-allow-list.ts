/**
 * Replaces label values that are not allowed, to limit the number of series.
 * Source: k8s.io/component-base@v0.36.0/metrics/opts.go.
 */
import type { Metric, Sample } from "./exposition.ts";

/** The allowed values by metric and label. */
export type LabelAllowList = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

const other = "unexpected";

/** Parses a mapping. @param mapping values separated by commas, by `metric,label` */
export function labelAllowList(mapping: ReadonlyMap<string, string>): LabelAllowList {
  const lists = new Map<string, Map<string, ReadonlySet<string>>>();
  for (const [key, values] of mapping) {
    const [metric = "", label = ""] = key.split(",");
    const labels = lists.get(metric) ?? new Map<string, ReadonlySet<string>>();
    lists.set(metric, labels.set(label, new Set(values.split(","))));
  }
  return lists;
}

interface Constrained {
  readonly metric: Metric;
  /** The sum of the values of all replaced samples. */
  readonly unexpected: number;
}

/** Replaces label values that are not allowed, and adds up samples whose labels become equal. */
export function constrainLabels(metric: Metric, allowList: LabelAllowList): Constrained {
  const allowed = allowList.get(metric.name);
  if (allowed === undefined) return { metric, unexpected: 0 };
  const samples = new Map<string, Sample>();
  let unexpected = 0;
  for (const sample of metric.samples) {
    const labels = sample.labels.replace(labelPair, (pair, name: string, value: string) => {
      const values = allowed.get(name);
      return values === undefined || values.has(unescaped(value)) ? pair : `${name}="${other}"`;
    });
    if (labels !== sample.labels && (sample.suffix === "" || sample.suffix === "_count"))
      unexpected += metric.type === "gauge" ? 1 : sample.value;
    const key = `${sample.suffix}{${labels}`;
    samples.set(key, { ...sample, labels, value: (samples.get(key)?.value ?? 0) + sample.value });
  }
  return { metric: { ...metric, samples: [...samples.values()] }, unexpected };
}

const labelPair = /\b(\w+)="((?:[^"\\]|\\.)*)"/g;

function unescaped(value: string): string {
  return value.replace(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character));
}
