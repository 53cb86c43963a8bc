/**
 * Table columns of the core group, of EndpointSlices and of events.k8s.io.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { containerColumns, count, formatLabels, integer, text, wide } from "../column.ts";
import type { Part } from "../fields.ts";

export const replicationControllerColumns: readonly Column[] = [
  nameColumn,
  integer(
    "Desired",
    "Replicas is the number of desired replicas. This is a pointer to distinguish between explicit zero and unspecified. Defaults to 1. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicationcontroller#what-is-a-replicationcontroller",
    ({ spec }) => spec?.replicas ?? 0,
  ),
  integer(
    "Current",
    "Replicas is the most recently observed number of replicas. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicationcontroller#what-is-a-replicationcontroller",
    ({ status }) => status?.replicas ?? 0,
  ),
  integer(
    "Ready",
    "The number of ready replicas for this replication controller.",
    ({ status }) => status?.readyReplicas ?? 0,
  ),
  ageColumn,
  ...containerColumns(({ spec }) => spec?.template?.spec),
  wide(
    text(
      "Selector",
      "Selector is a label query over pods that should match the Replicas count. If Selector is empty, it is defaulted to the labels present on the Pod template. Label keys and values that must match in order to be controlled by this replication controller, if empty defaulted to labels on Pod template. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
      ({ spec }) => formatLabels(spec?.selector),
    ),
  ),
];

const componentHealth = ({ conditions = [] }: KubeObject): Part =>
  conditions.find(({ type }: Part) => type === "Healthy") ?? {};

export const componentStatusColumns: readonly Column[] = [
  nameColumn,
  text("Status", "Status of the component conditions", (component) => healthText(componentHealth(component).status)),
  text("Message", "Message of the component conditions", (component) => componentHealth(component).message ?? ""),
  text("Error", "Error of the component conditions", (component) => componentHealth(component).error ?? ""),
];

function healthText(status: string | undefined): string {
  if (status === undefined) return "Unknown";
  return status === "True" ? "Healthy" : "Unhealthy";
}

export const resourceQuotaColumns: readonly Column[] = [
  nameColumn,
  text("Request", "Request represents a minimum amount of cpu/memory that a container may consume.", (quota) =>
    quotaUse(quota, { limits: false }),
  ),
  text(
    "Limit",
    "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.",
    (quota) => quotaUse(quota, { limits: true }),
  ),
  ageColumn,
];

export const configMapColumns: readonly Column[] = [
  nameColumn,
  text(
    "Data",
    "Data contains the configuration data. Each key must consist of alphanumeric characters, '-', '_' or '.'. Values with non-UTF-8 byte sequences must use the BinaryData field. The keys stored in Data must not overlap with the keys in the BinaryData field, this is enforced during validation process.",
    ({ data, binaryData }) => count(data) + count(binaryData),
  ),
  ageColumn,
];

export const namespaceColumns: readonly Column[] = [
  nameColumn,
  text("Status", "The status of the namespace", ({ status }) => status?.phase ?? ""),
  ageColumn,
];

export const secretColumns: readonly Column[] = [
  nameColumn,
  text(
    "Type",
    "Used to facilitate programmatic handling of secret data. More info: https://kubernetes.io/docs/concepts/configuration/secret/#secret-types",
    ({ type }) => type ?? "",
  ),
  text(
    "Data",
    "Data contains the secret data. Each key must consist of alphanumeric characters, '-', '_' or '.'. The serialized form of the secret data is a base64 encoded string, representing the arbitrary (possibly non-string) data value here. Described in https://tools.ietf.org/html/rfc4648#section-4",
    ({ data }) => count(data),
  ),
  ageColumn,
];

/** Such as `pods: 1/3, services: 0/2`. @param limits the `limits.*` resources or the others */
function quotaUse({ status }: KubeObject, { limits }: { limits: boolean }): string {
  const { hard = {}, used = {} } = status ?? {};
  return Object.keys(hard)
    .filter((resource) => resource.startsWith("limits.") === limits)
    .sort()
    .map((resource) => `${resource}: ${Object.hasOwn(used, resource) ? used[resource] : "0"}/${hard[resource]}`)
    .join(", ");
}
