/**
 * What the columns and the row conditions of large built-in kinds read, so that a Table reads no more of stored objects.
 * Kinds without an entry are read without their managed fields. See `pathTree` of lib/json/project.ts.
 */
const times = ["metadata.creationTimestamp", "metadata.deletionTimestamp"];
const meta = ["metadata.name", ...times];

/** Of kinds with columns. */
export const usualCellPaths: readonly string[] = [...meta, "metadata.ownerReferences", "*"];

const containersOf = (template: string): string[] => [
  `${template}.spec.containers.name`,
  `${template}.spec.containers.image`,
];
const workload = [...meta, ...containersOf("spec.template"), "spec.replicas", "spec.selector", "status"];
const storage = ["metadata.annotations", "spec", "status"];
const labeled = ["metadata.labels", "spec.unschedulable", "status.conditions", "status.addresses", "status.nodeInfo"];
const pod = [
  "spec.containers.name",
  "spec.initContainers.name",
  "spec.initContainers.restartPolicy",
  "spec.nodeName",
  "spec.readinessGates",
  "status",
];

/** By `group/resource`. */
export const cellPaths: Readonly<Record<string, readonly string[]>> = {
  "/configmaps": [...meta, "data.*", "binaryData.*"],
  "/nodes": [...meta, ...labeled],
  "/persistentvolumeclaims": [...meta, ...storage],
  "/persistentvolumes": [...meta, ...storage],
  "/pods": [...meta, ...pod],
  "/podtemplates": [...meta, ...containersOf("template"), "template.metadata.labels"],
  "/replicationcontrollers": workload,
  "/secrets": [...meta, "type", "data.*"],
  "apps/controllerrevisions": [...meta, "metadata.ownerReferences", "revision"],
  "apps/daemonsets": [...workload, "spec.template.spec.nodeSelector"],
  "apps/deployments": workload,
  "apps/replicasets": workload,
  "apps/statefulsets": workload,
  "batch/cronjobs": [
    ...meta,
    "spec.schedule",
    "spec.timeZone",
    "spec.suspend",
    "spec.jobTemplate.spec.selector",
    ...containersOf("spec.jobTemplate.spec.template"),
    "status",
  ],
  "batch/jobs": [...workload, "spec.completions", "spec.parallelism"],
  "storage.k8s.io/storageclasses": [...meta, "metadata.annotations", "*"],
  "storage.k8s.io/volumeattributesclasses": [...meta, "metadata.annotations", "*"],
};
