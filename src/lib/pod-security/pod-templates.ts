/**
 * Where the built-in kinds contain a pod. Source: `DefaultPodSpecExtractor` in
 * k8s.io/pod-security-admission@v0.36.0/admission/admission.go.
 */
import type { Pod } from "./pod.ts";

/** A kind that contains a pod or a pod template. */
export interface PodTemplateKind {
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  /** The fields that lead to the template; empty for pods. */
  readonly path: readonly string[];
}

const template = ["spec", "template"];

/** Pods and all pod controllers. */
export const podTemplateKinds: readonly PodTemplateKind[] = [
  { group: "", resource: "pods", kind: "Pod", path: [] },
  { group: "", resource: "podtemplates", kind: "PodTemplate", path: ["template"] },
  { group: "", resource: "replicationcontrollers", kind: "ReplicationController", path: template },
  { group: "apps", resource: "daemonsets", kind: "DaemonSet", path: template },
  { group: "apps", resource: "deployments", kind: "Deployment", path: template },
  { group: "apps", resource: "replicasets", kind: "ReplicaSet", path: template },
  { group: "apps", resource: "statefulsets", kind: "StatefulSet", path: template },
  { group: "batch", resource: "cronjobs", kind: "CronJob", path: ["spec", "jobTemplate", ...template] },
  { group: "batch", resource: "jobs", kind: "Job", path: template },
];

/**
 * Finds the pod or pod template of a decoded object.
 *
 * @returns undefined if the object has none
 */
export function podOf(object: object, { path }: PodTemplateKind): Pod | undefined {
  const found = path.reduce<unknown>((value, field) => (value as Record<string, unknown> | undefined)?.[field], object);
  return (found as Pod | undefined)?.spec === undefined ? undefined : (found as Pod);
}

/** Returns the path of a field of the pod in the object that contains it. */
export function fieldIn({ path }: PodTemplateKind, field: string): string {
  return [...path, field].join(".");
}
