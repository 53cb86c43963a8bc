/**
 * The condition `Unused` of PersistentVolumeClaims (KEP-5541): since when no pod uses the claim.
 */

import { formatTime } from "../../apimachinery/clock.ts";
import type { KubeObject } from "../../apimachinery/object.ts";

/**
 * Sets the condition if it is absent or differs.
 *
 * @param now milliseconds since 1970
 * @returns whether the claim has changed
 */
export function updateUnused(claim: KubeObject, isUsed: boolean, now: number): boolean {
  const conditions: { type: string; status: string }[] = claim.status?.conditions ?? [];
  const existing = conditions.find(({ type }) => type === "Unused");
  const status = isUsed ? "False" : "True";
  // An unknown status of a used claim stays.
  if (existing !== undefined && (isUsed ? existing.status !== "True" : existing.status === "True")) return false;
  const condition = {
    type: "Unused",
    status,
    lastTransitionTime: formatTime(now),
    ...(isUsed
      ? { reason: "PodUsingPVC", message: "A pod is currently referencing this PVC" }
      : { reason: "NoPodsUsingPVC", message: "No pods are currently referencing this PVC" }),
  };
  claim.status = {
    ...claim.status,
    conditions: [...conditions.map((each) => (each === existing ? condition : each)), ...(existing ? [] : [condition])],
  };
  return true;
}
