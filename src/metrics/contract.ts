/** What is shown of metrics, and how. */

/** What `--show-hidden-metrics-for-version`, `--disabled-metrics` and `--allow-metric-labels` say. */
export interface MetricsOptions {
  /** `1.35`: what was hidden since then is shown. Empty: it is not. */
  readonly showHiddenForVersion: string;
  /** Full names of metrics that are not shown, whatever else is said. */
  readonly disabled: readonly string[];
  /** Values that labels may have, separated by commas, by `metric,label`; others are shown as `unexpected`. */
  readonly allowLabels: ReadonlyMap<string, string>;
  /** YAML file with the same. Undefined: none. */
  readonly allowLabelsManifest: string | undefined;
}
