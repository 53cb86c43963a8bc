/**
 * Annotations that carry the values for which autoscaling/v1 has no field.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/autoscaling/annotations.go
 */
import type { KubeObject } from "../../apimachinery/object.ts";

export const annotationNames = {
  metrics: "autoscaling.alpha.kubernetes.io/metrics",
  currentMetrics: "autoscaling.alpha.kubernetes.io/current-metrics",
  conditions: "autoscaling.alpha.kubernetes.io/conditions",
  behavior: "autoscaling.alpha.kubernetes.io/behavior",
} as const;

/** Removes them from an object of any version but v1, even when the client sent them. */
export function dropAnnotations({ metadata }: KubeObject): void {
  if (metadata.annotations === undefined) return;
  for (const name of Object.values(annotationNames)) delete metadata.annotations[name];
  if (Object.keys(metadata.annotations).length === 0) delete metadata.annotations;
}
