/**
 * The policy that the labels of a namespace select. Source: `PolicyToEvaluate` in
 * k8s.io/pod-security-admission@v0.36.0/api/helpers.go.
 */
import {
  compareLevels,
  type Level,
  type LevelVersion,
  latest,
  levelProblem,
  parseLevel,
  parseVersion,
  sameLevelVersion,
  type Version,
  versionProblem,
} from "./levels.ts";

/** What happens with violations: rejection, audit annotation, warning. */
export type Mode = "enforce" | "audit" | "warn";

/** The standard of each mode. */
export type Policy = Readonly<Record<Mode, LevelVersion>>;

/** A label with an invalid value. */
export interface LabelProblem {
  readonly label: string;
  readonly value: string;
  readonly message: string;
}

/** A policy, and the labels that could not be used. */
export interface ParsedPolicy {
  readonly policy: Policy;
  /** In upstream's order. */
  readonly problems: readonly LabelProblem[];
}

/** The prefix of labels of namespaces, and of audit annotations. */
export const labelPrefix = "pod-security.kubernetes.io/";

/** Upstream's policy without configuration. */
export const privilegedPolicy: Policy = {
  enforce: { level: "privileged", version: latest },
  audit: { level: "privileged", version: latest },
  warn: { level: "privileged", version: latest },
};

/** Returns the label of the level of a mode. */
export function levelLabel(mode: Mode): string {
  return labelPrefix + mode;
}

/** Returns the label of the version of a mode. */
export function versionLabel(mode: Mode): string {
  return `${labelPrefix}${mode}-version`;
}

/**
 * Reads the policy from labels. An invalid level means `restricted` for enforce and `privileged`
 * for the other modes; an invalid version means `latest`.
 *
 * @param label returns the value of a label
 */
export function parsePolicy(label: (name: string) => string | undefined, defaults: Policy): ParsedPolicy {
  const problems: LabelProblem[] = [];
  const read = (mode: Mode, failed: Level): LevelVersion => {
    const { level, version } = defaults[mode];
    return {
      level: readLabel(levelLabel(mode), parseLevel, { missing: level, failed, message: levelProblem }),
      version: readLabel(versionLabel(mode), parseVersion, {
        missing: version,
        failed: latest,
        message: versionProblem,
      }),
    };
  };
  const readLabel = <T>(name: string, parse: (text: string) => T | undefined, otherwise: Otherwise<T>): T => {
    const value = label(name);
    if (value === undefined) return otherwise.missing;
    const parsed = parse(value);
    if (parsed === undefined) problems.push({ label: name, value, message: otherwise.message });
    return parsed ?? otherwise.failed;
  };
  const enforce = read("enforce", "restricted");
  const audit = read("audit", "privileged");
  const warn = warnLevel(label, enforce, read("warn", "privileged"));
  return { policy: { enforce, audit, warn }, problems };
}

interface Otherwise<T> {
  readonly missing: T;
  readonly failed: T;
  readonly message: string;
}

/** Without a label for warnings, a stricter label for enforcement also warns. */
function warnLevel(
  label: (name: string) => string | undefined,
  enforce: LevelVersion,
  warn: LevelVersion,
): LevelVersion {
  const isEnforceLabel = parseLevel(label(levelLabel("enforce")) ?? "") !== undefined;
  if (label(levelLabel("warn")) !== undefined || !isEnforceLabel) return warn;
  if (compareLevels(enforce.level, warn.level) <= 0) return warn;
  const version: Version = label(versionLabel("warn")) === undefined ? enforce.version : warn.version;
  return { level: enforce.level, version };
}

/** @returns whether no mode restricts pods */
export function isPrivileged({ enforce, audit, warn }: Policy): boolean {
  return enforce.level === "privileged" && audit.level === "privileged" && warn.level === "privileged";
}

/** @returns whether two policies have the same effect */
export function sameEffect(one: Policy, other: Policy): boolean {
  return (["enforce", "audit", "warn"] as const).every(
    (mode) =>
      (one[mode].level === "privileged" && other[mode].level === "privileged") ||
      sameLevelVersion(one[mode], other[mode]),
  );
}
