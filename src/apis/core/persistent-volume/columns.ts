/**
 * Table columns of PersistentVolumes and PersistentVolumeClaims.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { ageColumn, nameColumn } from "../../../catalog/common-columns.ts";
import type { Column } from "../../../catalog/strategy-contract.ts";
import { text, wide } from "../../column.ts";
import { findStorageClass } from "../claim-class.ts";

/** Columns of `persistentvolumes`. */
export const persistentVolumeColumns: readonly Column[] = [
  nameColumn,
  text(
    "Capacity",
    "capacity is the description of the persistent volume's resources and capacity. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#capacity",
    ({ spec }) => spec?.capacity?.storage ?? "0",
  ),
  text(
    "Access Modes",
    "accessModes contains all ways the volume can be mounted. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#access-modes",
    ({ spec }) => accessModes(spec?.accessModes),
  ),
  text(
    "Reclaim Policy",
    "persistentVolumeReclaimPolicy defines what happens to a persistent volume when released from its claim. Valid options are Retain (default for manually created PersistentVolumes), Delete (default for dynamically provisioned PersistentVolumes), and Recycle (deprecated). Recycle must be supported by the volume plugin underlying this PersistentVolume. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#reclaiming",
    ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? "",
  ),
  text(
    "Status",
    "phase indicates if a volume is available, bound to a claim, or released by a claim. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#phase",
    phase,
  ),
  text(
    "Claim",
    "claimRef is part of a bi-directional binding between PersistentVolume and PersistentVolumeClaim. Expected to be non-nil when bound. claim.VolumeName is the authoritative bind between PV and PVC. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#binding",
    ({ spec }) => (spec?.claimRef === undefined ? "" : `${spec.claimRef.namespace ?? ""}/${spec.claimRef.name ?? ""}`),
  ),
  text("StorageClass", "StorageClass of the pv", storageClass),
  text(
    "VolumeAttributesClass",
    "VolumeAttributesClass of the pv",
    ({ spec }) => spec?.volumeAttributesClassName ?? "<unset>",
  ),
  text(
    "Reason",
    "reason is a brief CamelCase string that describes any failure and is meant for machine parsing and tidy display in the CLI.",
    ({ status }) => status?.reason ?? "",
  ),
  ageColumn,
  wide(
    text(
      "VolumeMode",
      "volumeMode defines if a volume is intended to be used with a formatted filesystem or to remain in raw block state. Value of Filesystem is implied when not included in spec.",
      ({ spec }) => spec?.volumeMode ?? "<unset>",
    ),
  ),
];

/** Columns of `persistentvolumeclaims`. */
export const persistentVolumeClaimColumns: readonly Column[] = [
  nameColumn,
  text("Status", "phase represents the current phase of PersistentVolumeClaim.", phase),
  text(
    "Volume",
    "volumeName is the binding reference to the PersistentVolume backing this claim.",
    ({ spec }) => spec?.volumeName ?? "",
  ),
  text("Capacity", "capacity represents the actual resources of the underlying volume.", (claim) =>
    isBound(claim) ? (claim.status?.capacity?.storage ?? "0") : "",
  ),
  text(
    "Access Modes",
    "accessModes contains the actual access modes the volume backing the PVC has. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#access-modes-1",
    (claim) => (isBound(claim) ? accessModes(claim.status?.accessModes) : ""),
  ),
  text("StorageClass", "StorageClass of the pvc", storageClass),
  text(
    "VolumeAttributesClass",
    "VolumeAttributesClass of the pvc",
    ({ spec }) => spec?.volumeAttributesClassName ?? "<unset>",
  ),
  ageColumn,
  wide(
    text(
      "VolumeMode",
      "volumeMode defines what type of volume is required by the claim. Value of Filesystem is implied when not included in claim spec.",
      ({ spec }) => spec?.volumeMode ?? "<unset>",
    ),
  ),
];

function phase({ metadata, status }: KubeObject): string {
  return metadata.deletionTimestamp === undefined ? (status?.phase ?? "") : "Terminating";
}

function isBound({ spec }: KubeObject): boolean {
  return Boolean(spec?.volumeName);
}

const modeNames: readonly (readonly [mode: string, short: string])[] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

function accessModes(modes: readonly string[] = []): string {
  return modeNames
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(",");
}

function storageClass(object: KubeObject): string {
  return findStorageClass(object) ?? "";
}
