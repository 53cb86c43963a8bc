/**
 * PersistentVolumeClaim: the spec is immutable, except that a bound claim can be resized and can
 * change its VolumeAttributesClass.
 * Sources:
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`,
 * `k8s.io/kubernetes@v1.36.0/pkg/api/persistentvolumeclaim/util.go`,
 * `k8s.io/kubernetes@v1.36.0/pkg/registry/core/persistentvolumeclaim/strategy.go`.
 */
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import { type FieldErrors, plainText } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid, validateMetaAgainIfNeeded } from "../../apimachinery/validation/metadata.ts";
import { goForm } from "../../catalog/go-form.ts";
import { strategy } from "../../catalog/strategy.ts";
import { identical } from "../../lib/json/values.ts";
import { dnsSubdomainProblems, qualifiedNameProblems } from "../../lib/names/names.ts";
import { compareQuantities, parseQuantity } from "../../lib/quantity/quantity.ts";
import { jsonDiff } from "../../lib/text-diff/unified-diff.ts";
import { metaCells } from "../column.ts";
import { type Part, setAbsent, struct } from "../fields.ts";
import { isSoundSelector } from "../label-selector.ts";
import { classAnnotation } from "./claim-class.ts";
import { persistentVolumeClaimColumns } from "./persistent-volume/columns.ts";
import { checkBasicResource } from "./persistent-volume/validate-volume-spec.ts";
import { type ClaimRules, validateClaimSpec } from "./pod/claim-template.ts";
import { isNativeResource } from "./pod/resource-names.ts";
import { byName, validateResourceQuantity } from "./pod/resources.ts";
import { warnOfClaim } from "./pod/warnings.ts";
import { roundResources } from "./resource-list.ts";

/** Strategy of `persistentvolumeclaims`. */
export const persistentVolumeClaim = strategy({
  columns: persistentVolumeClaimColumns,
  cellPaths: [...metaCells, "metadata.annotations", "spec", "status"],
  setDefaults: setClaimDefaults,
  dropDisabled: (next, old, { gates }) => dropForeignSource(next.spec, old?.spec, gates),
  prepareForCreate(object) {
    object.status = { phase: "Pending" };
    dropUnsupportedSource(object.spec, undefined);
    copySources(object.spec);
  },
  prepareForUpdate(next, old) {
    dropUnsupportedSource(next.spec, old.spec);
    copySources(next.spec);
  },
  validate: (object, errors) => validateClaimSpec(object.spec, "spec", {}, errors),
  validateUpdate(next, old, errors, { gates }) {
    validateMetaAgainIfNeeded(next.metadata, { namespaced: true, validateName: dnsSubdomainProblems }, errors);
    validateClaimSpec(next.spec, "spec", rulesFrom(old.spec), errors);
    validateChanges(next, old, gates, errors);
  },
  dropsDisabledStatus: true,
  validateStatusUpdate(next, old, errors, { gates }) {
    validateStatus(next.status ?? {}, errors);
    const resizes =
      gates.enabled("RecoverVolumeExpansionFailure") ||
      old.status?.allocatedResources ||
      old.status?.allocatedResourceStatuses;
    if (resizes) validateResize(next.status ?? {}, errors);
  },
  warnings: warningsOf,
});

/** Sets the defaults of a claim or a claim template. */
export function setClaimDefaults(claim: Part): void {
  const spec = struct(claim, "spec");
  spec.volumeMode ??= "Filesystem";
  setAbsent(struct(claim, "status"), { phase: "Pending" });
  roundResources(spec.resources?.limits);
  roundResources(spec.resources?.requests);
  roundResources(claim.status.capacity);
  roundResources(claim.status.allocatedResources);
}

/** Drops a data source with a namespace while the feature gate for them is disabled. */
function dropForeignSource(spec: Part, old: Part | undefined, gates: FeatureGates): void {
  if (
    (spec.dataSourceRef?.namespace ?? "") === "" ||
    old?.dataSourceRef ||
    gates.enabled("CrossNamespaceVolumeDataSource")
  )
    return;
  delete spec.dataSourceRef;
}

/** `dataSource` accepts any kind for compatibility; unsupported kinds are dropped. */
function dropUnsupportedSource(spec: Part, old: Part | undefined): void {
  if (old?.dataSource || old?.dataSourceRef || spec.dataSourceRef || !spec.dataSource) return;
  const { apiGroup = "", kind } = spec.dataSource;
  const isClaim = kind === "PersistentVolumeClaim" && (apiGroup ?? "") === "";
  const isSnapshot = kind === "VolumeSnapshot" && apiGroup === "snapshot.storage.k8s.io";
  if (!isClaim && !isSnapshot) delete spec.dataSource;
}

/** Copies the source between `dataSource` and its successor `dataSourceRef`. */
function copySources(spec: Part): void {
  const copy = ({ apiGroup, kind, name }: Part): Part => ({
    ...(typeof apiGroup === "string" && { apiGroup }),
    kind,
    name,
  });
  if (spec.dataSource && !spec.dataSourceRef) spec.dataSourceRef = copy(spec.dataSource);
  else if (spec.dataSourceRef && !spec.dataSource && (spec.dataSourceRef.namespace ?? "") === "")
    spec.dataSource = copy(spec.dataSourceRef);
}

/** Accepts invalid values that the stored claim has. */
function rulesFrom({ dataSource, dataSourceRef, selector }: Part): ClaimRules {
  return {
    anySourceGroup: typeof dataSource?.apiGroup === "string" || typeof dataSourceRef?.apiGroup === "string",
    anySelectorValue: selector !== undefined && !isSoundSelector(selector),
  };
}

function validateChanges(next: KubeObject, old: KubeObject, gates: FeatureGates, errors: FieldErrors): void {
  const isBound = next.status?.phase === "Bound";
  const now = formOf(next.spec);
  const before = formOf(old.spec);
  if (before.VolumeName === "") before.VolumeName = now.VolumeName;
  checkClass(next, old, now, before, errors);
  if (isBound) {
    if (now.Resources.Requests) now.Resources.Requests = { ...now.Resources.Requests, storage: storageOf(old.spec) };
    now.VolumeAttributesClassName = before.VolumeAttributesClassName;
  }
  if (!isSame(now, before)) {
    const why =
      "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
    errors.forbidden("spec", `${why}\n${jsonDiff(before, now)}`);
  }
  checkSize(next, old, gates, errors);
  if (next.spec.volumeMode !== old.spec.volumeMode)
    errors.invalid("volumeMode", next.spec.volumeMode ?? null, "field is immutable");
  checkAttributesClass(next, old, gates, errors);
}

function formOf(spec: Part): Part {
  const old = { ...spec };
  copySources(old); // Older servers stored only one of the fields.
  return goForm("PersistentVolumeClaimSpec", old);
}

const storageOf = (spec: Part): string => spec.resources?.requests?.storage ?? "0";

/** The class can move from the annotation to the field, and can be set if it was absent. */
function checkClass(next: KubeObject, old: KubeObject, now: Part, before: Part, errors: FieldErrors): void {
  const annotationOf = ({ metadata }: KubeObject): string | undefined =>
    Object.hasOwn(metadata.annotations ?? {}, classAnnotation) ? metadata.annotations?.[classAnnotation] : undefined;
  const annotated = annotationOf(next);
  const annotatedBefore = annotationOf(old);
  const named = now.StorageClassName !== null && before.StorageClassName === null;
  if (
    named &&
    annotatedBefore !== undefined &&
    now.StorageClassName === annotatedBefore &&
    (annotated ?? annotatedBefore) === annotatedBefore
  ) {
    now.StorageClassName = null;
    return;
  }
  if ((annotated ?? "") !== (annotatedBefore ?? "")) {
    errors.invalid(`metadata.annotations.${classAnnotation}`, annotated ?? "", "field is immutable");
  }
  if (named && (annotatedBefore === undefined || annotatedBefore === now.StorageClassName)) now.StorageClassName = null;
}

/** Compares quantities by value; an empty list is equal to an absent one. */
function isSame(now: Part, before: Part): boolean {
  return identical(comparable(now), comparable(before));
}

function comparable(form: Part): Part {
  const amounts = (list: Part | null): unknown => {
    if (list === null || Object.keys(list).length === 0) return null;
    return Object.fromEntries(Object.entries(list).map(([name, amount]) => [name, plainNumber(amount)]));
  };
  const { Limits, Requests } = form.Resources;
  const AccessModes = form.AccessModes?.length ? form.AccessModes : null;
  return { ...form, AccessModes, Resources: { Limits: amounts(Limits), Requests: amounts(Requests) } };
}

function plainNumber(amount: string): string {
  const { mantissa, exponent } = parseQuantity(amount);
  let [digits, power] = [mantissa, exponent];
  for (; digits !== 0n && digits % 10n === 0n; power++) digits /= 10n;
  return digits === 0n ? "0" : `${digits}e${power}`;
}

/** A failed expansion can be reduced again to a size above the current capacity. */
function checkSize(next: KubeObject, old: KubeObject, gates: FeatureGates, errors: FieldErrors): void {
  const size = parseQuantity(storageOf(next.spec));
  if (compareQuantities(size, parseQuantity(storageOf(old.spec))) >= 0) return;
  const path = "spec.resources.requests.storage";
  const recovers =
    gates.enabled("RecoverVolumeExpansionFailure") ||
    old.status?.allocatedResources ||
    old.status?.allocatedResourceStatuses;
  if (!recovers) errors.forbidden(path, "field can not be less than previous value");
  else if (compareQuantities(size, parseQuantity(old.status?.capacity?.storage ?? "0")) <= 0) {
    errors.forbidden(path, "field can not be less than status.capacity");
  }
}

function checkAttributesClass(next: KubeObject, old: KubeObject, gates: FeatureGates, errors: FieldErrors): void {
  const { volumeAttributesClassName: now } = next.spec;
  if ((now ?? null) === (old.spec.volumeAttributesClassName ?? null)) return;
  const path = "spec.volumeAttributesClassName";
  if (!gates.enabled("VolumeAttributesClass"))
    errors.forbidden(path, "update is forbidden when the VolumeAttributesClass feature gate is disabled");
  if (typeof old.status?.currentVolumeAttributesClassName !== "string") return;
  const when = "is forbidden when status.currentVolumeAttributesClassName is not nil";
  if (typeof now !== "string") errors.forbidden(path, `update to nil ${when}`);
  else if (now === "") errors.forbidden(path, `update to empty string ${when}`);
}

function validateStatus({ capacity }: Part, errors: FieldErrors): void {
  for (const [name, amount] of byName(capacity)) checkBasicResource(amount, `status.capacity[${name}]`, errors);
}

const resizeStatuses = [
  "ControllerResizeInProgress",
  "ControllerResizeInfeasible",
  "NodeResizeInProgress",
  "NodeResizeInfeasible",
  "NodeResizePending",
].sort();

function validateResize({ allocatedResourceStatuses, allocatedResources }: Part, errors: FieldErrors): void {
  const path = "status.allocatedResourceStatuses";
  for (const [name, status] of byName(allocatedResourceStatuses)) {
    checkResourceName(name, path, errors);
    if (!resizeStatuses.includes(status)) errors.notSupported(path, name, resizeStatuses);
  }
  for (const [name, amount] of byName(allocatedResources)) {
    const at = `status.allocatedResources[${name}]`;
    if (!checkResourceName(name, "status.allocatedResources", errors)) continue;
    const before = errors.causes.length;
    checkBasicResource(amount, at, errors);
    if (errors.causes.length === before) validateResourceQuantity("storage", amount, at, errors);
  }
}

/** Of the native resources, a claim only has storage. @returns whether the name is valid */
function checkResourceName(name: string, path: string, errors: FieldErrors): boolean {
  const problems = qualifiedNameProblems(name);
  addInvalid(errors, path, name, problems);
  if (problems.length > 0) return false;
  if (!isNativeResource(name) || name === "storage") return true;
  errors.notSupported(path, plainText(name), ["storage"]);
  return false;
}

function warningsOf({ metadata, spec }: KubeObject): string[] {
  const warnings: string[] = [];
  if (Object.hasOwn(metadata.annotations ?? {}, classAnnotation)) {
    warnings.push(
      `metadata.annotations[${classAnnotation}]: deprecated since v1.8; use "storageClassName" attribute instead`,
    );
  }
  warnOfClaim(spec, "spec", warnings);
  return warnings;
}
