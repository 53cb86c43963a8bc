/** What travels in annotations where autoscaling/v1 has no field for it. Source: autoscaling/v1 conversion. */
import type { KubeObject } from "../../apimachinery/object.ts";

export const annotationNames = {
  metrics: "autoscaling.alpha.kubernetes.io/metrics",
  currentMetrics: "autoscaling.alpha.kubernetes.io/current-metrics",
  conditions: "autoscaling.alpha.kubernetes.io/conditions",
  behavior: "autoscaling.alpha.kubernetes.io/behavior",
} as const;

/** No other version than v1 has them, whoever sends them. */
export function dropAnnotations({ metadata }: KubeObject): void {
  if (metadata.annotations === undefined) return;
  for (const name of Object.values(annotationNames)) delete metadata.annotations[name];
  if (Object.keys(metadata.annotations).length === 0) delete metadata.annotations;
}
