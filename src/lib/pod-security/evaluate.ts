/**
 * Evaluates pods against Pod Security Standards. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/registry.go and checks.go.
 */
import { allChecks } from "./all-checks.ts";
import { checkedPod } from "./checked-pod.ts";
import type { Check, CheckPod, Violation } from "./contract.ts";
import type { Level, LevelVersion } from "./levels.ts";
import type { Pod } from "./pod.ts";

/** A violated check with its id. */
export interface FailedCheck extends Violation {
  readonly id: string;
  readonly level: Level;
}

interface ActiveCheck {
  readonly id: string;
  readonly level: Level;
  readonly check: CheckPod;
}

/** The newest minor version in which a check changes. Newer versions have the same checks. */
export const newestMinor = Math.max(...allChecks.flatMap(({ versions }) => versions.map(({ since }) => since)));

/** The checks of `baseline` and `restricted`, by minor version. */
const active = new Map<string, readonly ActiveCheck[]>();

/**
 * Runs the checks of a standard.
 *
 * @returns the violated checks in upstream's order; empty if the pod is allowed
 */
export function evaluatePod({ level, version }: LevelVersion, pod: Pod): FailedCheck[] {
  if (level === "privileged") return [];
  const subject = checkedPod(pod);
  const failed: FailedCheck[] = [];
  for (const { id, level: of, check } of checksOf(level, Math.min(version.minor, newestMinor))) {
    const violation = check(subject);
    if (violation !== undefined) failed.push({ id, level: of, ...violation });
  }
  return failed;
}

/** Joins the reasons of violated checks, for messages about many pods. */
export function formatReasons(failed: readonly FailedCheck[]): string {
  return failed.map(({ reason }) => reason).join(", ");
}

/** Joins the reasons and details of violated checks, for messages about one pod. */
export function formatDetails(failed: readonly FailedCheck[]): string {
  return failed.map(({ reason, detail }) => `${reason} (${detail})`).join(", ");
}

function checksOf(level: Level, minor: number): readonly ActiveCheck[] {
  const key = `${level} ${minor}`;
  let checks = active.get(key);
  if (checks === undefined) {
    checks = activeChecks(level, minor);
    active.set(key, checks);
  }
  return checks;
}

/** A check of `restricted` can replace one of `baseline`, which `restricted` otherwise contains. */
function activeChecks(level: Level, minor: number): ActiveCheck[] {
  const own = allChecks.filter((check) => level === "restricted" || check.level === "baseline");
  const overridden = new Set(own.flatMap((check) => versionAt(check, minor)?.overrides ?? []));
  return own.flatMap((check) => {
    const version = versionAt(check, minor);
    if (version === undefined || overridden.has(check.id)) return [];
    return [{ id: check.id, level: check.level, check: version.check }];
  });
}

function versionAt({ versions }: Check, minor: number): Check["versions"][number] | undefined {
  return versions.findLast(({ since }) => since <= minor);
}
