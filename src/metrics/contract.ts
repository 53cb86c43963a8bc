/**
 * The flags `--show-hidden-metrics-for-version`, `--disabled-metrics` and `--allow-metric-labels*`.
 * Source: Kubernetes docs, "Metrics For Kubernetes System Components".
 */
export interface MetricsOptions {
  /** The previous minor version, such as `1.35`, shows hidden metrics. Empty hides them. */
  readonly showHiddenForVersion: string;
  /** Full names of metrics that are never shown. */
  readonly disabled: readonly string[];
  /**
   * Allowed label values, separated by commas, by `metric,label`. Other values are shown as
   * `unexpected`.
   */
  readonly allowLabels: ReadonlyMap<string, string>;
  /** The path of a YAML file with the same mapping. */
  readonly allowLabelsManifest: string | undefined;
}
