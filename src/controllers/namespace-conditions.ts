/** What a terminating namespace says about its deletion. Source: the namespace controller's conditions. */
import { formatTime } from "../apimachinery/clock.ts";

/** How far the deletion of the content got. */
export interface Remaining {
  /** `configmaps.` or `deployments.apps`, and how many there are. */
  readonly resources: ReadonlyMap<string, number>;
  /** Finalizer, and how many objects carry it. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** Messages of the deletions that failed. */
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

/** In the order they are written, with what is said when all is well. */
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
 * @returns the conditions as they should be now, the ones of others kept, or undefined when nothing has changed
 */
export function nextConditions(old: readonly Condition[], remaining: Remaining, now: number): Condition[] | undefined {
  const next = old.map((condition) => ({ ...condition }));
  let changed = false;
  for (const [type, find, okReason, okMessage] of kinds) {
    const found = find(remaining);
    const wanted = {
      status: found ? "True" : "False",
      reason: found?.reason ?? okReason,
      message: found?.message ?? okMessage,
    };
    const known = next.find((condition) => condition.type === type);
    if (known?.status === wanted.status && known.reason === wanted.reason && known.message === wanted.message) continue;
    changed = true;
    const lastTransitionTime = known?.status === wanted.status ? known.lastTransitionTime : formatTime(now);
    const condition = { type, ...wanted, ...(lastTransitionTime !== undefined && { lastTransitionTime }) };
    if (known === undefined) next.push(condition);
    else Object.assign(known, condition);
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
