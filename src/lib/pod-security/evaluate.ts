/**
 * Evaluates pods against Pod Security Standards. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/registry.go and checks.go.
 */
import { allChecks } from "./all-checks.ts";
import type { Check, CheckedContainer, CheckedPod, CheckPod, Violation } from "./contract.ts";
import type { Level, LevelVersion } from "./levels.ts";
import type { Container, Pod } from "./pod.ts";

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
const newestMinor = Math.max(...allChecks.flatMap(({ versions }) => versions.map(({ since }) => since)));

/** The checks of `baseline` and `restricted`, by minor version. */
const active = new Map<string, readonly ActiveCheck[]>();

/**
 * Runs the checks of a standard.
 *
 * @param minorMax the newest version that has checks: later ones have the same
 * @returns the violated checks in upstream's order; empty if the pod is allowed
 */
export function evaluatePod({ level, version }: LevelVersion, pod: Pod, minorMax = newestMinor): FailedCheck[] {
  if (level === "privileged") return [];
  const subject = checkedPod(pod);
  const failed: FailedCheck[] = [];
  for (const { id, level: of, check } of checksOf(level, Math.min(version.minor, minorMax, newestMinor))) {
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

const none: readonly Container[] = [];

/** Collects the containers of a pod in the order in which messages name them. */
function checkedPod({ metadata, spec }: Pod): CheckedPod {
  const { initContainers = none, containers = none, ephemeralContainers = none } = spec;
  const all: CheckedContainer[] = [];
  add(all, "initContainers", initContainers);
  add(all, "containers", containers);
  add(all, "ephemeralContainers", ephemeralContainers);
  return {
    annotations: metadata?.annotations ?? {},
    spec,
    pod: { name: undefined, securityContext: spec.securityContext, path: () => "spec" },
    containers: all,
  };
}

function add(all: CheckedContainer[], list: string, containers: readonly Container[]): void {
  for (const [index, container] of containers.entries()) {
    const { name, securityContext } = container;
    all.push({ name, securityContext, container, path: () => `spec.${list}[${index}]` });
  }
}
