/** The flags of metrics. Names and defaults are kube-apiserver's. */
import { CsvError, parseCsv } from "../lib/csv/csv.ts";
import type { MetricsOptions } from "../metrics/contract.ts";
import { FlagValueError } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

type Draft = { server: { metrics: MetricsOptions } };

function metricsFlag(
  term: string,
  help: string,
  change: (text: string, present: MetricsOptions) => Partial<MetricsOptions>,
): Flag {
  return {
    term,
    help,
    set(text, { server }: Draft) {
      server.metrics = { ...server.metrics, ...change(text, server.metrics) };
    },
  };
}

export const metricsFlags: readonly Flag[] = [
  metricsFlag(
    "--show-hidden-metrics-for-version <version>",
    "Shows the metrics that are hidden because they are deprecated. Only the previous minor release is taken, such as 1.35, so that nobody who gets used to them is surprised by their end.",
    (showHiddenForVersion) => ({ showHiddenForVersion }),
  ),
  metricsFlag(
    "--disabled-metrics <names>",
    "Full names of metrics that are not shown, whatever else is said, with commas between; may be repeated.",
    (text, { disabled }) => ({ disabled: text === "" ? disabled : [...disabled, ...text.split(",")] }),
  ),
  metricsFlag(
    "--allow-metric-labels <map>",
    "Values that labels may have, others are shown as unexpected: metric1,label1=v1,v2,v3. May be repeated; several at once are quoted, with commas between.",
    (text, { allowLabels }) => ({ allowLabels: new Map([...allowLabels, ...readLabels(text)]) }),
  ),
  metricsFlag(
    "--allow-metric-labels-manifest <file>",
    "YAML file with the same: a map from metric1,label1 to v1,v2,v3.",
    (file) => ({
      allowLabelsManifest: file === "" ? undefined : file,
    }),
  ),
];

/** As upstream's flag library reads maps: one pair as it is, more of them as CSV, whose quotes keep the commas of a pair. */
function readLabels(text: string): [key: string, values: string][] {
  return pairsOf(text).map((pair) => {
    const equals = pair.indexOf("=");
    if (equals < 0) throw new FlagValueError(`${pair} must be formatted as key=value`);
    return [pair.slice(0, equals), pair.slice(equals + 1)];
  });
}

function pairsOf(text: string): readonly string[] {
  if (text.split("=").length <= 2) return [text.replace(/^"+|"+$/g, "")];
  try {
    return parseCsv(text)[0]?.fields ?? [];
  } catch (error) {
    if (error instanceof CsvError) throw new FlagValueError(error.message);
    throw error;
  }
}
