/**
 * Merges lists of tolerations. Source:
 * k8s.io/kubernetes@v1.36.0/pkg/util/tolerations/tolerations.go.
 */
import type { Part } from "../../../apis/fields.ts";
import { deepEqual } from "../../../lib/json/values.ts";

/** @returns the tolerations of both lists in order, without those that another one includes */
export function mergeTolerations(first: readonly Part[], second: readonly Part[]): Part[] {
  const merged: Part[] = [];
  const all = [...first, ...second];
  for (const [index, toleration] of all.entries()) {
    const isRedundant =
      merged.some((other) => includes(other, toleration)) ||
      all.slice(index + 1).some((other) => !deepEqual(other, toleration) && includes(other, toleration));
    if (!isRedundant) merged.push(toleration);
  }
  return merged;
}

/** Whether `wide` tolerates everything that `toleration` tolerates. */
function includes(wide: Part, toleration: Part): boolean {
  if (deepEqual(wide, toleration)) return true;
  const { key = "", operator = "", effect = "" } = wide;
  if ((toleration.key ?? "") !== key && (key !== "" || operator !== "Exists")) return false;
  if ((toleration.effect ?? "") !== effect && effect !== "") return false;
  if (effect === "NoExecute" && wide.tolerationSeconds !== undefined) {
    if (toleration.tolerationSeconds === undefined || toleration.tolerationSeconds > wide.tolerationSeconds)
      return false;
  }
  if (operator === "Exists") return true;
  const isEqual = operator === "Equal" || operator === "";
  return isEqual && toleration.operator === "Equal" && (toleration.value ?? "") === (wide.value ?? "");
}
