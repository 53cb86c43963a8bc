/**
 * Levels and versions of Pod Security Standards. Source:
 * k8s.io/pod-security-admission@v0.36.0/api/helpers.go.
 */

/** From the least to the most strict. */
export const levels = ["privileged", "baseline", "restricted"] as const;

/** A Pod Security Standard. */
export type Level = (typeof levels)[number];

/** A standard as it was in one minor version of Kubernetes. */
export interface LevelVersion {
  readonly level: Level;
  readonly version: Version;
}

/** A version of the standards. Two versions with the same text are equal. */
export interface Version {
  /** `v1.30` or `latest` */
  readonly text: string;
  /** 30; Infinity for `latest` */
  readonly minor: number;
}

/** The newest rules. */
export const latest: Version = { text: "latest", minor: Number.POSITIVE_INFINITY };

/** The message for a text that is not a level. */
export const levelProblem = `must be one of ${levels.join(", ")}`;
/** The message for a text that is not a version. */
export const versionProblem = 'must be "latest" or "v1.x"';

/** @returns undefined if the text is not a level */
export function parseLevel(text: string): Level | undefined {
  return levels.find((level) => level === text);
}

const versionPattern = /^v1\.(0|[1-9][0-9]*)$/;
/** Go's largest int. */
const minorMax = 0x7fff_ffff_ffff_ffffn;

/** @returns undefined if the text is neither `latest` nor `v1.x` */
export function parseVersion(text: string): Version | undefined {
  if (text === latest.text) return latest;
  const digits = versionPattern.exec(text)?.[1];
  if (digits === undefined || digits.length > 19 || BigInt(digits) > minorMax) return undefined;
  return { text, minor: Number(digits) };
}

/** Formats a level and its version, such as `restricted:v1.30`. */
export function formatLevelVersion({ level, version }: LevelVersion): string {
  return `${level}:${version.text}`;
}

/** @returns whether both have the same level and version */
export function sameLevelVersion(one: LevelVersion, other: LevelVersion): boolean {
  return one.level === other.level && one.version.text === other.version.text;
}

/** @returns positive if `one` is stricter, negative if `other` is */
export function compareLevels(one: Level, other: Level): number {
  return levels.indexOf(one) - levels.indexOf(other);
}
