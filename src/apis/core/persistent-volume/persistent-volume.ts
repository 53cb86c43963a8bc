/**
 * PersistentVolume: its volume source is immutable after creation.
 * Sources:
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`,
 * `k8s.io/kubernetes@v1.36.0/pkg/registry/core/persistentvolume/strategy.go`.
 */
import { formatTime } from "../../../apimachinery/clock.ts";
import type { FeatureGates } from "../../../apimachinery/feature-gates.ts";
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { validateMetaAgain, validateMetaChangesAgain } from "../../../apimachinery/validation/metadata.ts";
import { goForm } from "../../../catalog/go-form.ts";
import { strategy } from "../../../catalog/strategy.ts";
import { deepEqual, identical } from "../../../lib/json/values.ts";
import { dnsSubdomainProblems } from "../../../lib/names/names.ts";
import { jsonDiff } from "../../../lib/text-diff/unified-diff.ts";
import { metaCells } from "../../column.ts";
import { items, type Part, setAbsent, struct } from "../../fields.ts";
import { warnOfNodeSelectorTerm } from "../pod/node-labels.ts";
import { setHostPathDefaults } from "../pod/spec-defaults.ts";
import { roundResources } from "../resource-list.ts";
import { persistentVolumeColumns } from "./columns.ts";
import { nodeAffinityRules, validateVolumeSpec } from "./validate-volume-spec.ts";

/** Strategy of `persistentvolumes`. */
export const persistentVolume = strategy({
  columns: persistentVolumeColumns,
  cellPaths: [...metaCells, "metadata.annotations", "spec", "status"],
  repeatsMetaRules: false,
  setDefaults(object) {
    const spec = struct(object, "spec");
    setAbsent(spec, { persistentVolumeReclaimPolicy: "Retain" });
    spec.volumeMode ??= "Filesystem";
    setAbsent(struct(object, "status"), { phase: "Pending" });
    roundResources(spec.capacity);
    setHostPathDefaults(spec.hostPath);
    if (spec.iscsi) setAbsent(spec.iscsi, { iscsiInterface: "default" });
  },
  prepareForCreate(object, { now }) {
    object.status = { phase: "Pending", lastPhaseTransitionTime: formatTime(now) };
  },
  prepareForStatusUpdate(next, old, { now }) {
    const status = struct(next, "status");
    const { phase, lastPhaseTransitionTime: before } = old.status ?? {};
    const requested = status.lastPhaseTransitionTime;
    if (status.phase === phase) setAbsent(status, { lastPhaseTransitionTime: before });
    else if (requested === undefined || requested === before) status.lastPhaseTransitionTime = formatTime(now);
  },
  validate(object, errors) {
    validateVolume(object, undefined, errors);
    checkMountOptions(object, errors);
  },
  validateUpdate(next, old, errors, { gates }) {
    const validate = (): void => {
      validateMetaAgain(next.metadata, { namespaced: false, validateName: dnsSubdomainProblems }, errors);
      validateVolume(next, old, errors);
    };
    validate();
    checkMountOptions(next, errors);
    validate(); // Upstream validates, and reports, twice.
    checkSource(next.spec, old.spec, errors);
    checkImmutable(next.spec, old.spec, gates, errors);
  },
  validateStatusUpdate: (next, old, errors) => validateMetaChangesAgain(next.metadata, old.metadata, errors),
  warnings: warningsOf,
});

function validateVolume({ metadata, spec }: KubeObject, old: KubeObject | undefined, errors: FieldErrors): void {
  validateVolumeSpec(spec, "spec", { name: metadata.name ?? "", ...nodeAffinityRules(old?.spec) }, errors);
}

const mountAnnotation = "volume.beta.kubernetes.io/mount-options";
const mountable = [
  ...[
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "nfs",
    "rbd",
    "quobyte",
    "iscsi",
    "cinder",
    "cephfs",
    "azureFile",
  ],
  ...["vsphereVolume", "azureDisk", "photonPersistentDisk"],
];

function checkMountOptions({ metadata, spec }: KubeObject, errors: FieldErrors): void {
  if (!Object.hasOwn(metadata.annotations ?? {}, mountAnnotation) || mountable.some((field) => spec[field])) return;
  errors.forbidden(`metadata.annotations.${mountAnnotation}`, "may not specify mount options for this volume type");
}

/** The source is immutable, except that a missing `controllerExpandSecretRef` can be set. */
function checkSource(next: Part, old: Part, errors: FieldErrors): void {
  const now = sourceOf(next);
  const before = sourceOf(old);
  if (before.CSI && now.CSI && !before.CSI.ControllerExpandSecretRef) now.CSI.ControllerExpandSecretRef = null;
  if (identical(withoutEmpty(now), withoutEmpty(before))) return;
  errors.forbidden(
    "spec.persistentvolumesource",
    `spec.persistentvolumesource is immutable after creation\n${jsonDiff(before, now)}`,
  );
}

const sourceOf = (spec: Part): Part => goForm("PersistentVolumeSource", spec);

/** Replaces empty lists and maps by null, so that they compare equal to absent ones. */
function withoutEmpty(form: Part): Part {
  return Object.fromEntries(
    Object.entries(form).map(([field, value]) => {
      if (Array.isArray(value)) return [field, value.length === 0 ? null : value];
      if (typeof value !== "object" || value === null) return [field, value];
      return [field, isEmptyMap(field, value) ? null : withoutEmpty(value)];
    }),
  );
}

const isEmptyMap = (field: string, value: object): boolean =>
  (field === "Options" || field === "VolumeAttributes") && Object.keys(value).length === 0;

/** Deprecated node labels and their replacements. */
const renamedLabels = new Map([
  ["beta.kubernetes.io/arch", "kubernetes.io/arch"],
  ["beta.kubernetes.io/os", "kubernetes.io/os"],
  ["failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"],
  ["failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"],
  ["beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"],
]);

function checkImmutable(next: Part, old: Part, gates: FeatureGates, errors: FieldErrors): void {
  if (next.volumeMode !== old.volumeMode) errors.invalid("volumeMode", next.volumeMode ?? null, "field is immutable");
  if (
    !gates.enabled("MutablePVNodeAffinity") &&
    old.nodeAffinity &&
    !isSameAffinity(next.nodeAffinity, old.nodeAffinity)
  ) {
    const shown = next.nodeAffinity ? goForm("VolumeNodeAffinity", next.nodeAffinity) : null;
    errors.invalid("nodeAffinity", shown, "field is immutable, except for updating from beta label to GA");
  }
  const [now, before] = [next.volumeAttributesClassName, old.volumeAttributesClassName];
  const path = "spec.volumeAttributesClassName";
  if (now !== before && !gates.enabled("VolumeAttributesClass"))
    errors.forbidden(path, "update is forbidden when the VolumeAttributesClass feature gate is disabled");
  if (typeof before === "string" && typeof now !== "string")
    errors.forbidden(path, "update from non-nil value to nil is forbidden");
}

/** Whether they are equal, except that deprecated labels may be replaced. */
function isSameAffinity(next: Part | undefined, old: Part): boolean {
  if (!next) return false;
  const now = goForm("VolumeNodeAffinity", next);
  const before = goForm("VolumeNodeAffinity", old);
  const requirementsOf = (form: Part): Part[] =>
    items(form.Required?.NodeSelectorTerms).flatMap(({ MatchExpressions, MatchFields }) => [
      ...items(MatchExpressions),
      ...items(MatchFields),
    ]);
  const expected = requirementsOf(before);
  for (const [index, { Key }] of requirementsOf(now).entries()) {
    const requirement = expected[index];
    // Like upstream, accepts an empty key in place of a label without a replacement.
    if (requirement && (renamedLabels.get(requirement.Key) ?? "") === Key) requirement.Key = Key;
  }
  return deepEqual(now, before);
}

const deprecatedAnnotations: [key: string, why: string][] = [
  ["volume.beta.kubernetes.io/storage-class", 'deprecated since v1.8; use "storageClassName" attribute instead'],
  [mountAnnotation, 'deprecated since v1.31; use "mountOptions" attribute instead'],
];

const deprecatedSources: [field: string, shown: string, why: string][] = [
  ["cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"],
];

function warningsOf({ metadata, spec }: KubeObject): string[] {
  const warnings: string[] = [];
  for (const [key, why] of deprecatedAnnotations) {
    if (Object.hasOwn(metadata.annotations ?? {}, key)) warnings.push(`metadata.annotations[${key}]: ${why}`);
  }
  if (spec.persistentVolumeReclaimPolicy === "Recycle") {
    const why =
      "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.";
    warnings.push(`spec.persistentVolumeReclaimPolicy: ${why}`);
  }
  for (const [index, term] of items(spec.nodeAffinity?.required?.nodeSelectorTerms).entries()) {
    warnOfNodeSelectorTerm(term, `spec.nodeAffinity.required.nodeSelectorTerms[${index}]`, warnings);
  }
  for (const [field, shown, why] of deprecatedSources) if (spec[field]) warnings.push(`spec.${shown}: ${why}`);
  return warnings;
}
