/**
 * The table columns of built-in kinds. Kinds without an entry show name and age.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`.
 */
import { formatGroupResource, type KubeObject } from "../apimachinery/object.ts";
import { ageColumn, nameColumn } from "../catalog/common-columns.ts";
import type { Column } from "../catalog/strategy-contract.ts";
import { admissionregistrationColumns } from "./admissionregistration/columns.ts";
import { appsColumns } from "./apps/columns.ts";
import { autoscalingColumns } from "./autoscaling/columns.ts";
import { batchColumns } from "./batch/columns.ts";
import { certificatesColumns } from "./certificates/columns.ts";
import { firstThree, integer, text } from "./column.ts";
import { coreColumns } from "./core/columns.ts";
import { items } from "./fields.ts";
import { flowcontrolColumns } from "./flowcontrol/columns.ts";
import { networkingColumns } from "./networking/columns.ts";
import { rbacColumns } from "./rbac/columns.ts";
import { resourceColumns } from "./resource/columns.ts";
import { schedulingColumns } from "./scheduling/columns.ts";
import { storageColumns } from "./storage/columns.ts";

/** Columns of groups with one or two kinds. */
const smallGroups: Readonly<Record<string, readonly Column[]>> = {
  // Source: k8s.io/kube-aggregator@v0.36.0/pkg/registry/apiservice/etcd/etcd.go
  "apiregistration.k8s.io/apiservices": [
    nameColumn,
    text("Service", "The reference to the service that hosts this API endpoint.", ({ spec }) =>
      spec?.service ? `${spec.service.namespace ?? ""}/${spec.service.name ?? ""}` : "Local",
    ),
    text("Available", "Whether this service is available.", availability),
    ageColumn,
  ],
  "coordination.k8s.io/leases": [
    nameColumn,
    text(
      "Holder",
      "holderIdentity contains the identity of the holder of a current lease. If Coordinated Leader Election is used, the holder identity must be equal to the elected LeaseCandidate.metadata.name field.",
      ({ spec }) => spec?.holderIdentity ?? "",
    ),
    ageColumn,
  ],
  "coordination.k8s.io/leasecandidates": [
    nameColumn,
    text(
      "LeaseName",
      "LeaseName is the name of the lease for which this candidate is contending. This field is immutable.",
      ({ spec }) => spec?.leaseName ?? "",
    ),
    text("BinaryVersion", "", ({ spec }) => spec?.binaryVersion ?? ""),
    text("EmulationVersion", "", ({ spec }) => spec?.emulationVersion ?? ""),
    ageColumn,
  ],
  "internal.apiserver.k8s.io/storageversions": [
    nameColumn,
    text(
      "CommonEncodingVersion",
      "commonEncodingVersion is set to an encoding storage version if all API server instances share that same version. If they don't share one storage version, this field is left empty. API servers should finish updating its storageVersionStatus entry before serving write operations, so that this field will be in sync with the reality.",
      ({ status }) => status?.commonEncodingVersion ?? "<unset>",
    ),
    text("StorageVersions", "storageVersions lists the reported versions per API server instance.", storageVersions),
    ageColumn,
  ],
  "node.k8s.io/runtimeclasses": [nameColumn, text("Handler", "", ({ handler }) => handler ?? ""), ageColumn],
  "policy/poddisruptionbudgets": [
    nameColumn,
    text("Min Available", "The minimum number of pods that must be available.", ({ spec }) =>
      String(spec?.minAvailable ?? "N/A"),
    ),
    text("Max Unavailable", "The maximum number of pods that may be unavailable.", ({ spec }) =>
      String(spec?.maxUnavailable ?? "N/A"),
    ),
    integer(
      "Allowed Disruptions",
      "Calculated number of pods that may be disrupted at this time.",
      ({ status }) => status?.disruptionsAllowed ?? 0,
    ),
    ageColumn,
  ],
  "storagemigration.k8s.io/storageversionmigrations": [
    { ...nameColumn, format: "" },
    text("Resource", "GroupResource to migrate", ({ spec }) =>
      formatGroupResource({ group: spec?.resource?.group ?? "", resource: spec?.resource?.resource ?? "" }),
    ),
    text("Status", "Status of the migration", migrationStatus),
  ],
};

/** The columns by `group/resource`. */
export const columnsByResource: Readonly<Record<string, readonly Column[]>> = {
  ...coreColumns,
  ...admissionregistrationColumns,
  ...appsColumns,
  ...autoscalingColumns,
  ...batchColumns,
  ...certificatesColumns,
  ...flowcontrolColumns,
  ...networkingColumns,
  ...rbacColumns,
  ...resourceColumns,
  ...schedulingColumns,
  ...smallGroups,
  ...storageColumns,
};

/** The last condition that is true. */
function migrationStatus({ status }: KubeObject): string {
  const isState = (type: string): boolean => type === "Running" || type === "Failed" || type === "Succeeded";
  return (
    items(status?.conditions).findLast((condition) => condition.status === "True" && isState(condition.type))?.type ??
    "Unknown"
  );
}

function storageVersions({ status }: KubeObject): string {
  return (
    firstThree(
      items(status?.storageVersions).map(
        ({ apiServerID, encodingVersion }) => `${apiServerID ?? ""}=${encodingVersion ?? ""}`,
      ),
    ) || "<unset>"
  );
}

/** The status of the condition Available, and its reason unless it is True. */
function availability({ status }: KubeObject): string {
  const condition = items(status?.conditions).find(({ type }) => type === "Available");
  if (condition === undefined) return "Unknown";
  return condition.status === "True" || !condition.reason
    ? condition.status
    : `${condition.status} (${condition.reason})`;
}
