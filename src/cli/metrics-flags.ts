/** Metrics flags. Names and defaults are kube-apiserver's. */
import { CsvError, parseCsv } from "../lib/csv/csv.ts";
import { trimOf } from "../lib/text/trim.ts";
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
    "Shows metrics that are hidden since this version because they are deprecated. Only the previous minor version is accepted, such as 1.35.",
    (showHiddenForVersion) => ({ showHiddenForVersion }),
  ),
  metricsFlag(
    "--disabled-metrics <names>",
    "Comma-separated list of full names of metrics that are never shown; may be repeated.",
    (text, { disabled }) => ({ disabled: text === "" ? disabled : [...disabled, ...text.split(",")] }),
  ),
  metricsFlag(
    "--allow-metric-labels <map>",
    "Allowed values of metric labels, such as metric1,label1=v1,v2,v3; other values are shown as unexpected. May be repeated; several in one flag are quoted and separated by commas.",
    (text, { allowLabels }) => ({ allowLabels: new Map([...allowLabels, ...readLabels(text)]) }),
  ),
  metricsFlag(
    "--allow-metric-labels-manifest <file>",
    "YAML file with the allowed values of metric labels: a map from metric1,label1 to v1,v2,v3.",
    (file) => ({
      allowLabelsManifest: file === "" ? undefined : file,
    }),
  ),
];

/**
 * Parses maps as upstream's flag library does: a single pair as it is, several as CSV, in which
 * pairs with commas are quoted.
 */
function readLabels(text: string): [key: string, values: string][] {
  return pairsOf(text).map((pair) => {
    const equals = pair.indexOf("=");
    if (equals < 0) throw new FlagValueError(`${pair} must be formatted as key=value`);
    return [pair.slice(0, equals), pair.slice(equals + 1)];
  });
}

function pairsOf(text: string): readonly string[] {
  if (text.split("=").length <= 2) return [trimOf(text, '"')];
  try {
    return parseCsv(text)[0]?.fields ?? [];
  } catch (error) {
    if (error instanceof CsvError) throw new FlagValueError(error.message);
    throw error;
  }
}
