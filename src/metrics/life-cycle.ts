/**
 * Deprecated and hidden metrics. Source: Kubernetes docs, Metrics For Kubernetes System Components,
 * Metric lifecycle.
 */

/** How long a metric, and its name, are kept. */
export type Stability = "ALPHA" | "BETA" | "STABLE" | "INTERNAL";

/** What a metric says about its life. */
export interface LifeCycle {
  /** Undefined for metrics that Kubernetes does not define, such as `process_*`. */
  readonly stability: Stability | undefined;
  /** The release that deprecates it, such as `1.34.0`. */
  readonly deprecatedSince?: string;
}

/** The release of the served API. */
export const currentRelease = { major: 1, minor: 36 } as const;

/** The number of minor releases after its deprecation in which a metric is still shown. */
const minorsShown: Readonly<Record<Stability, number>> = { STABLE: 3, BETA: 1, ALPHA: 0, INTERNAL: 0 };

/** @returns whether the metric is shown only with `--show-hidden-metrics-for-version` */
export function isHidden({ stability, deprecatedSince }: LifeCycle, release: Release = currentRelease): boolean {
  if (stability === undefined || deprecatedSince === undefined) return false;
  const since = parseRelease(deprecatedSince);
  if (since.major !== release.major) return since.major < release.major;
  return since.minor + minorsShown[stability] <= release.minor;
}

/** @returns whether the metric is deprecated in the release */
export function isDeprecated(
  { deprecatedSince }: Pick<LifeCycle, "deprecatedSince">,
  release: Release = currentRelease,
): boolean {
  if (deprecatedSince === undefined) return false;
  const since = parseRelease(deprecatedSince);
  return since.major === release.major ? since.minor <= release.minor : since.major < release.major;
}

/** @returns the prefix of the help text: `[STABLE] (Deprecated from 1.34) ` */
export function helpPrefix({ stability, deprecatedSince }: LifeCycle): string {
  if (stability === undefined) return "";
  if (deprecatedSince === undefined || !isDeprecated({ deprecatedSince })) return `[${stability}] `;
  const { major, minor } = parseRelease(deprecatedSince);
  return `[${stability}] (Deprecated from ${major}.${minor}) `;
}

interface Release {
  readonly major: number;
  readonly minor: number;
}

/** @param text `1.34.0` */
function parseRelease(text: string): Release {
  const [major = 0, minor = 0] = text.split(".").map(Number);
  return { major, minor };
}
