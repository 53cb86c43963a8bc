/** Reads and sets conditions in the status of a definition, which has at most one of each type. */
import { formatTime } from "../../apimachinery/clock.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { deepEqual } from "../../lib/json/values.ts";

/** A condition of a definition, without its transition time. */
export interface Condition {
  readonly type:
    | "NamesAccepted"
    | "Established"
    | "NonStructuralSchema"
    | "KubernetesAPIApprovalPolicyConformant"
    | "Terminating";
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

export function findCondition(definition: KubeObject, type: Condition["type"]): Condition | undefined {
  return (definition.status?.conditions as readonly Condition[] | undefined)?.find(
    (condition) => condition.type === type,
  );
}

export function isConditionTrue(definition: KubeObject, type: Condition["type"]): boolean {
  return findCondition(definition, type)?.status === "True";
}

/**
 * Adds the condition or replaces the one of its type.
 *
 * @param now milliseconds since the Unix epoch, the transition time of a changed status
 * @returns whether the definition changed
 */
export function setCondition(definition: KubeObject, condition: Condition, now: number): boolean {
  definition.status ??= {};
  const conditions: (Condition & { lastTransitionTime?: string })[] = definition.status.conditions ?? [];
  definition.status.conditions = conditions;
  const index = conditions.findIndex(({ type }) => type === condition.type);
  const before = conditions[index];
  const { type, status, reason, message } = condition;
  if (before !== undefined && deepEqual([before.status, before.reason, before.message], [status, reason, message]))
    return false;
  const lastTransitionTime =
    before?.status === status && before.lastTransitionTime !== undefined ? before.lastTransitionTime : formatTime(now);
  const next = { ...before, type, status, lastTransitionTime, reason, message };
  if (before === undefined) conditions.push(next);
  else conditions[index] = next;
  return true;
}
