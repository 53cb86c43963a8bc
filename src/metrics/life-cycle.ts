/** Which metrics are deprecated and which are hidden for that. Source: access-control §6.3, §9.2; component-base's metrics registry. */
import type { Metric, Stability } from "./exposition.ts";

/** Of the API that is served. */
export const currentRelease = { major: 1, minor: 36 } as const;

/** Minor releases that a metric stays after the one that deprecates it. */
const minorsShown: Readonly<Record<Stability, number>> = { STABLE: 3, BETA: 1, ALPHA: 0 };

/** Whether the release has passed from which on it is only shown to those who ask. */
export function isHidden(
  { stability, deprecatedSince }: Pick<Metric, "stability" | "deprecatedSince">,
  release: Release = currentRelease,
): boolean {
  if (stability === undefined || deprecatedSince === undefined) return false;
  const since = parseRelease(deprecatedSince);
  if (since.major !== release.major) return since.major < release.major;
  return since.minor + minorsShown[stability] <= release.minor;
}

export function isDeprecated(
  { deprecatedSince }: Pick<Metric, "deprecatedSince">,
  release: Release = currentRelease,
): boolean {
  if (deprecatedSince === undefined) return false;
  const since = parseRelease(deprecatedSince);
  return since.major === release.major ? since.minor <= release.minor : since.major < release.major;
}

/** As it stands before the text: `[STABLE] (Deprecated from 1.34) `. */
export function helpPrefix({ stability, deprecatedSince }: Pick<Metric, "stability" | "deprecatedSince">): string {
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
