/**
 * The conditions of a terminating namespace. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/namespace/deletion/status_condition_utils.go`.
 */
import { formatTime } from "../apimachinery/clock.ts";

/** The remaining content of a terminating namespace. */
export interface Remaining {
  /** Number of objects by resource, such as `configmaps.` or `deployments.apps`. */
  readonly resources: ReadonlyMap<string, number>;
  /** Number of objects by finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** Messages of failed deletions. */
  readonly failures: readonly string[];
}

export interface Condition {
  type: string;
  status: string;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

type Finding = Pick<Condition, "reason" | "message"> | undefined;

/**
 * The conditions in the order in which they are written, with reason and message for the status
 * False.
 */
const kinds: [type: string, found: (remaining: Remaining) => Finding, reason: string, message: string][] = [
  [
    "NamespaceDeletionDiscoveryFailure",
    () => undefined,
    "ResourcesDiscovered",
    "All resources successfully discovered",
  ],
  [
    "NamespaceDeletionGroupVersionParsingFailure",
    () => undefined,
    "ParsedGroupVersions",
    "All legacy kube types successfully parsed",
  ],
  [
    "NamespaceDeletionContentFailure",
    contentFailure,
    "ContentDeleted",
    "All content successfully deleted, may be waiting on finalization",
  ],
  ["NamespaceContentRemaining", contentRemaining, "ContentRemoved", "All content successfully removed"],
  [
    "NamespaceFinalizersRemaining",
    finalizersRemaining,
    "ContentHasNoFinalizers",
    "All content-preserving finalizers finished",
  ],
];

/**
 * @param now milliseconds since 1970
 * @returns the new conditions, with conditions of other types unchanged; undefined when nothing
 * changes
 */
export function nextConditions(old: readonly Condition[], remaining: Remaining, now: number): Condition[] | undefined {
  const next = old.map((condition) => ({ ...condition }));
  let changed = false;
  for (const [type, find, okReason, okMessage] of kinds) {
    const found = find(remaining);
    const expected = {
      status: found ? "True" : "False",
      reason: found?.reason ?? okReason,
      message: found?.message ?? okMessage,
    };
    const existing = next.find((condition) => condition.type === type);
    const { status, reason, message } = expected;
    if (existing?.status === status && existing.reason === reason && existing.message === message) continue;
    changed = true;
    const lastTransitionTime = existing?.status === status ? existing.lastTransitionTime : formatTime(now);
    const condition = { type, ...expected, ...(lastTransitionTime !== undefined && { lastTransitionTime }) };
    if (existing === undefined) next.push(condition);
    else Object.assign(existing, condition);
  }
  return changed ? next : undefined;
}

function contentFailure({ failures }: Remaining): Finding {
  if (failures.length === 0) return undefined;
  const message = `Failed to delete all resource types, ${failures.length} remaining: ${[...failures].sort().join(", ")}`;
  return { reason: "ContentDeletionFailed", message };
}

function contentRemaining({ resources }: Remaining): Finding {
  if (resources.size === 0) return undefined;
  const list = [...resources].map(([resource, count]) => `${resource} has ${count} resource instances`).sort();
  return { reason: "SomeResourcesRemain", message: `Some resources are remaining: ${list.join(", ")}` };
}

function finalizersRemaining({ finalizers }: Remaining): Finding {
  if (finalizers.size === 0) return undefined;
  const list = [...finalizers].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`).sort();
  return {
    reason: "SomeFinalizersRemain",
    message: `Some content in the namespace has finalizers remaining: ${list.join(", ")}`,
  };
}
