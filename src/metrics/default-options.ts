/** Apart from what checks options, because importing the package loads the defaults, and reads YAML only with the server. */
import type { MetricsOptions } from "./contract.ts";

/** Upstream's defaults. */
export const defaultMetricsOptions: MetricsOptions = {
  showHiddenForVersion: "",
  disabled: [],
  allowLabels: new Map(),
  allowLabelsManifest: undefined,
};
