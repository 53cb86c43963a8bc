/**
 * Table columns of the apps kinds.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { formatGroupKind, parseGroupVersion } from "../../apimachinery/object.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { containerColumns, formatLabels, formatSelector, integer, text, wide } from "../column.ts";
import type { Part } from "../fields.ts";
import { formatLabelSelector } from "../label-selector.ts";

const ofTemplate = containerColumns(({ spec }) => spec?.template?.spec);
const readyText = "Number of the pod with ready state";

export const deploymentColumns: readonly Column[] = [
  nameColumn,
  text("Ready", readyText, readyOfDesired),
  text(
    "Up-to-date",
    "Total number of non-terminating pods targeted by this deployment that have the desired template spec.",
    ({ status }) => status?.updatedReplicas ?? 0,
  ),
  text(
    "Available",
    "Total number of available non-terminating pods (ready for at least minReadySeconds) targeted by this deployment.",
    ({ status }) => status?.availableReplicas ?? 0,
  ),
  ageColumn,
  ...ofTemplate,
  wide(
    text(
      "Selector",
      "Label selector for pods. Existing ReplicaSets whose pods are selected by this will be the ones affected by this deployment. It must match the pod template's labels.",
      ({ spec }) => formatLabelSelector(spec?.selector),
    ),
  ),
];

export const replicaSetColumns: readonly Column[] = [
  nameColumn,
  integer(
    "Desired",
    "Replicas is the number of desired pods. This is a pointer to distinguish between explicit zero and unspecified. Defaults to 1. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicaset",
    ({ spec }) => spec?.replicas ?? 0,
  ),
  integer(
    "Current",
    "Replicas is the most recently observed number of non-terminating pods. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicaset",
    ({ status }) => status?.replicas ?? 0,
  ),
  integer(
    "Ready",
    "The number of non-terminating pods targeted by this ReplicaSet with a Ready Condition.",
    ({ status }) => status?.readyReplicas ?? 0,
  ),
  ageColumn,
  ...ofTemplate,
  wide(
    text(
      "Selector",
      "Selector is a label query over pods that should match the replica count. Label keys and values that must match in order to be controlled by this replica set. It must match the pod template's labels. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
      ({ spec }) => formatSelector(spec?.selector),
    ),
  ),
];

export const daemonSetColumns: readonly Column[] = [
  nameColumn,
  integer(
    "Desired",
    "The total number of nodes that should be running the daemon pod (including nodes correctly running the daemon pod). More info: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/",
    ({ status }) => status?.desiredNumberScheduled ?? 0,
  ),
  integer(
    "Current",
    "The number of nodes that are running at least 1 daemon pod and are supposed to run the daemon pod. More info: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/",
    ({ status }) => status?.currentNumberScheduled ?? 0,
  ),
  integer(
    "Ready",
    "numberReady is the number of nodes that should be running the daemon pod and have one or more of the daemon pod running with a Ready Condition.",
    ({ status }) => status?.numberReady ?? 0,
  ),
  integer(
    "Up-to-date",
    "The total number of nodes that are running updated daemon pod",
    ({ status }) => status?.updatedNumberScheduled ?? 0,
  ),
  integer(
    "Available",
    "The number of nodes that should be running the daemon pod and have one or more of the daemon pod running and available (ready for at least spec.minReadySeconds)",
    ({ status }) => status?.numberAvailable ?? 0,
  ),
  text(
    "Node Selector",
    "NodeSelector is a selector which must be true for the pod to fit on a node. Selector which must match a node's labels for the pod to be scheduled on that node. More info: https://kubernetes.io/docs/concepts/configuration/assign-pod-node/",
    ({ spec }) => formatLabels(spec?.template?.spec?.nodeSelector),
  ),
  ageColumn,
  ...ofTemplate,
  wide(
    text(
      "Selector",
      "A label query over pods that are managed by the daemon set. Must match in order to be controlled. It must match the pod template's labels. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
      ({ spec }) => formatSelector(spec?.selector),
    ),
  ),
];

export const controllerRevisionColumns: readonly Column[] = [
  nameColumn,
  text("Controller", "Controller of the object", controller),
  text(
    "Revision",
    "Revision indicates the revision of the state represented by Data.",
    ({ revision }) => revision ?? 0,
  ),
  ageColumn,
];

export const statefulSetColumns: readonly Column[] = [
  nameColumn,
  text("Ready", readyText, readyOfDesired),
  ageColumn,
  ...ofTemplate,
];

function readyOfDesired({ spec, status }: Part): string {
  return `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`;
}

/** @returns the controlling owner, such as `daemonset.apps/a` */
function controller({ metadata }: KubeObject): string {
  const owner = metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (owner === undefined) return "<none>";
  const group = parseGroupVersion(owner.apiVersion)?.group ?? "";
  return `${formatGroupKind(group, owner.kind).toLowerCase()}/${owner.name}`;
}
