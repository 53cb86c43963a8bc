/**
 * Namespace: stays in phase Terminating until the namespace controller has deleted its content
 * and removed `kubernetes` from `spec.finalizers`.
 * Sources:
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`,
 * `k8s.io/kubernetes@v1.36.0/pkg/registry/core/namespace/storage/storage.go`.
 */
import { forbidden } from "../../apimachinery/errors.ts";
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid, validateMetaAgain, validateMetaChangesAgain } from "../../apimachinery/validation/metadata.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column, DependentsOptions } from "../../catalog/strategy-contract.ts";
import { dnsLabelProblems, finalizerProblems, qualifiedNameProblems } from "../../lib/names/names.ts";
import { text } from "../column.ts";
import { selectableAt, setAbsent, struct } from "../fields.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const namespaceColumns: readonly Column[] = [
  nameColumn,
  text("Status", "The status of the namespace", ({ status }) => status?.phase ?? ""),
  ageColumn,
];

/** Finalizer that the namespace controller removes when the namespace is empty. */
const kubernetesFinalizer = "kubernetes";

const nameLabel = "kubernetes.io/metadata.name";
const protectedNamespaces = new Set(["default", "kube-system", "kube-public"]);

/** Strategy of `namespaces`. */
export const namespace = strategy({
  columns: namespaceColumns,
  validateName: dnsLabelProblems,
  selectableFields: selectableAt("status.phase"),
  setDefaults(object) {
    labelWithName(object);
    setAbsent(struct(object, "status"), { phase: "Active" });
  },
  prepareForCreate(object) {
    labelWithName(object); // Again, because a generated name is only set now.
    object.status = { phase: "Active" };
    const finalizers: string[] = struct(object, "spec").finalizers ?? [];
    object.spec.finalizers = finalizers.includes(kubernetesFinalizer)
      ? finalizers
      : [...finalizers, kubernetesFinalizer];
  },
  prepareForUpdate(next, old) {
    struct(next, "spec").finalizers = old.spec?.finalizers; // Only `/finalize` changes them.
  },
  repeatsMetaRules: false,
  validate: (object, errors) => validateFinalizers(object, () => "spec.finalizers", errors),
  validateUpdate(next, old, errors) {
    validateMetaAgain(next.metadata, { namespaced: false, validateName: dnsLabelProblems }, errors);
    validateFinalizers(next, () => "spec.finalizers", errors);
    validateMetaChangesAgain(next.metadata, old.metadata, errors);
  },
  validateStatusUpdate(next, old, errors) {
    validateMetaChangesAgain(next.metadata, old.metadata, errors);
    const expected = next.metadata.deletionTimestamp === undefined ? "Active" : "Terminating";
    if (next.status?.phase === expected) return;
    const when = expected === "Active" ? "empty" : "not empty";
    errors.invalid(
      "status.Phase",
      next.status?.phase ?? "",
      `may only be '${expected}' if \`deletionTimestamp\` is ${when}`,
    );
  },
  subresources: {
    finalize: {
      prepare(next, old) {
        next.status = old.status;
      },
      validate(next, old, errors) {
        validateMetaChangesAgain(next.metadata, old.metadata, errors);
        validateFinalizers(next, (index) => `spec.finalizers[${index}]`, errors);
      },
    },
  },
  checkDeletion(object) {
    const name = object.metadata.name as string;
    if (protectedNamespaces.has(name))
      throw forbidden({ group: "", resource: "namespaces" }, name, "this namespace may not be deleted");
  },
  holdsDeletion: ({ metadata, spec }) =>
    metadata.deletionTimestamp === undefined || (spec?.finalizers?.length ?? 0) > 0,
  markDeleted(object, dependents) {
    struct(object, "status").phase = "Terminating";
    setDependentsFinalizers(object, dependents);
  },
});

/** Adds and removes the `orphan` and `foregroundDeletion` finalizers as the options require. */
function setDependentsFinalizers(
  { metadata }: KubeObject,
  { orphanDependents, propagationPolicy }: DependentsOptions,
): void {
  const before = metadata.finalizers ?? [];
  const isRequested = (finalizer: string, orphans: boolean, policy: string): boolean => {
    if (orphanDependents !== undefined) return orphanDependents === orphans;
    return propagationPolicy === undefined ? before.includes(finalizer) : propagationPolicy === policy;
  };
  const requested = new Map([
    ["orphan", isRequested("orphan", true, "Orphan")],
    ["foregroundDeletion", isRequested("foregroundDeletion", false, "Foreground")],
  ]);
  const kept = before.filter((finalizer) => requested.get(finalizer) !== false);
  const added = [...requested]
    .filter(([finalizer, isOn]) => isOn && !before.includes(finalizer))
    .map(([finalizer]) => finalizer);
  if (added.length > 0 || kept.length < before.length) metadata.finalizers = [...new Set(kept), ...added];
}

function validateFinalizers(object: KubeObject, pathOf: (index: number) => string, errors: FieldErrors): void {
  for (const [index, finalizer] of (object.spec?.finalizers ?? []).entries()) {
    addInvalid(errors, pathOf(index), finalizer, qualifiedNameProblems(finalizer));
    addInvalid(errors, pathOf(index), finalizer, finalizerProblems(finalizer));
  }
}

function labelWithName(object: KubeObject): void {
  const { name = "" } = object.metadata;
  if (name === "") return;
  object.metadata.labels ??= {};
  object.metadata.labels[nameLabel] = name;
}
