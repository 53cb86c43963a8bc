/**
 * Table columns of devices and claims.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { age, ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { integer, text } from "../column.ts";
import { items, type Part } from "../fields.ts";

export const taintRuleColumns: readonly Column[] = [
  nameColumn,
  text("Key", "The taint key to be applied to a device. Must be a label name.", ({ spec }) => spec?.taint?.key ?? ""),
  text(
    "Value",
    "The taint value corresponding to the taint key. Must be a label value.",
    ({ spec }) => spec?.taint?.value ?? "",
  ),
  text(
    "Effect",
    "The effect of the taint on claims that do not tolerate the taint and through such claims on the pods using them.\n\nValid effects are None, NoSchedule and NoExecute. PreferNoSchedule as used for nodes is not valid here. More effects may get added in the future. Consumers must treat unknown effects like None.",
    ({ spec }) => spec?.taint?.effect ?? "",
  ),
  text(
    "TimeAdded",
    "TimeAdded represents the time at which the taint was added or (only in a DeviceTaintRule) the effect was modified. Added automatically during create or update if not set.\n\nIn addition, in a DeviceTaintRule a value provided during an update gets replaced with the current time if the provided value is the same as the old one and the new effect is different. Changing the key and/or value while keeping the effect unchanged is possible and does not update the time stamp because the eviction which uses it is either already started (NoExecute) or not started yet (NoEffect, NoSchedule).",
    ({ spec }) => (spec?.taint?.timeAdded === undefined ? "" : age(spec.taint.timeAdded)),
  ),
  ageColumn,
];

export const poolStatusColumns: readonly Column[] = [
  nameColumn,
  text("Driver", "The driver to query pools for.", ({ spec }) => spec?.driver ?? ""),
  text("Total", "Total number of devices across all pools.", (request) =>
    sumOfPools(request, ({ totalDevices }) => totalDevices),
  ),
  text("Available", "Number of available devices across all pools.", (request) =>
    sumOfPools(request, ({ availableDevices }) => availableDevices),
  ),
  text("Allocated", "Number of allocated devices across all pools.", (request) =>
    sumOfPools(request, ({ allocatedDevices }) => allocatedDevices),
  ),
  text("Unavailable", "Number of unavailable devices across all pools.", (request) =>
    sumOfPools(request, ({ unavailableDevices }) => unavailableDevices),
  ),
  text("Errors", "Number of pools with validation errors.", (request) =>
    sumOfPools(request, ({ validationError }) => (validationError === undefined ? 0 : 1)),
  ),
  integer("Pools", "Total number of matching pools.", ({ status }) => status?.poolCount ?? 0),
  text("Status", "Processing status.", requestStatus),
  text("Completed", "Time since the observation completed.", (request) => {
    const end = endOf(request);
    return end?.type === "Complete" ? age(end.lastTransitionTime) : "<none>";
  }),
];

export const claimColumns: readonly Column[] = [
  nameColumn,
  text("State", "A summary of the current state (allocated, pending, reserved, etc.).", claimState),
  ageColumn,
];

export const sliceColumns: readonly Column[] = [
  nameColumn,
  text(
    "Node",
    "NodeName identifies the node which provides the resources in this pool. A field selector can be used to list only ResourceSlice objects belonging to a certain node.\n\nThis field can be used to limit access from nodes to ResourceSlices with the same node name. It also indicates to autoscalers that adding new nodes of the same type as some old node might also make new resources available.\n\nExactly one of NodeName, NodeSelector, AllNodes, and PerDeviceNodeSelection must be set. This field is immutable.",
    ({ spec }) => spec?.nodeName ?? "",
  ),
  text(
    "Driver",
    "Driver identifies the DRA driver providing the capacity information. A field selector can be used to list only ResourceSlice objects with a certain driver name.\n\nMust be a DNS subdomain and should end with a DNS domain owned by the vendor of the driver. It should use only lower case characters. This field is immutable.",
    ({ spec }) => spec?.driver ?? "",
  ),
  text(
    "Pool",
    "Name is used to identify the pool. For node-local devices, this is often the node name, but this is not required.\n\nIt must not be longer than 253 characters and must consist of one or more DNS sub-domains separated by slashes. This field is immutable.",
    ({ spec }) => spec?.pool?.name ?? "",
  ),
  ageColumn,
];

function claimState({ metadata, status }: KubeObject): string {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const states = isDeleted ? ["deleted"] : [];
  if (status?.allocation === undefined) return isDeleted ? "deleted" : "pending";
  states.push("allocated");
  if (items(status.reservedFor).length > 0) states.push("reserved");
  return states.join(",");
}

/** The condition that ends a request. */
function endOf({ status }: KubeObject): Part | undefined {
  return items(status?.conditions).find(
    ({ type, status }) => status === "True" && (type === "Complete" || type === "Failed"),
  );
}

/** Includes the number of listed pools when the list is incomplete. */
function requestStatus(request: KubeObject): string {
  const end = endOf(request)?.type ?? "Pending";
  const listed = items(request.status?.pools).length;
  const all = request.status?.poolCount ?? 0;
  return end === "Complete" && all > listed ? `Complete (${listed}/${all} pools)` : end;
}

function sumOfPools(request: KubeObject, value: (pool: Part) => number | undefined): string {
  if (request.status === undefined || endOf(request)?.type === "Failed") return "-";
  return String(items(request.status.pools).reduce((sum, pool) => sum + (value(pool) ?? 0), 0));
}
