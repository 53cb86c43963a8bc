/**
 * Merges and compares tolerations.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/util/tolerations/tolerations.go.
 */
import { items, type Part } from "../../apis/fields.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import { rejection } from "../rejection.ts";

/** Merging compares each toleration with all others: 75,000, which a body can contain, would take minutes. Upstream has no limit. */
const tolerationsMax = 1000;

/** @throws ApiError 403 for a pod with more tolerations than are merged */
export function checkTolerationCount(attributes: AdmissionAttributes, spec: Part): void {
  if (items(spec.tolerations).length > tolerationsMax)
    throw rejection(attributes, `pods can have at most ${tolerationsMax} tolerations`);
}

/**
 * Joins lists, without tolerations that others include. Of equal ones the first is kept.
 *
 * @returns the remaining tolerations in order
 */
export function mergeTolerations(first: readonly Part[], second: readonly Part[]): Part[] {
  const all = [...first, ...second];
  const merged: Part[] = [];
  for (const [index, toleration] of all.entries()) {
    const isIncluded =
      merged.some((other) => includes(other, toleration)) ||
      all.slice(index + 1).some((other) => !isEqual(other, toleration) && includes(other, toleration));
    if (!isIncluded) merged.push(toleration);
  }
  return merged;
}

/** Whether a toleration tolerates all taints that another one tolerates, for as long. */
export function includes(wide: Part, narrow: Part): boolean {
  if (isEqual(wide, narrow)) return true;
  const { key = "", operator = "", value = "", effect = "", tolerationSeconds } = wide;
  const anyKey = key === "" && operator === "Exists";
  if ((narrow.key ?? "") !== key && !anyKey) return false;
  if (effect !== "" && (narrow.effect ?? "") !== effect) return false;
  if (effect === "NoExecute" && tolerationSeconds !== undefined) {
    const { tolerationSeconds: seconds } = narrow;
    if (seconds === undefined || seconds > tolerationSeconds) return false;
  }
  if (operator === "Exists") return true;
  return (operator === "Equal" || operator === "") && narrow.operator === "Equal" && (narrow.value ?? "") === value;
}

function isEqual(one: Part, other: Part): boolean {
  return (
    ["key", "operator", "value", "effect"].every((field) => (one[field] ?? "") === (other[field] ?? "")) &&
    one.tolerationSeconds === other.tolerationSeconds
  );
}
