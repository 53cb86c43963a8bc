/** Namespace: stays in phase Terminating until the controller has emptied it and taken `kubernetes` off spec.finalizers. */
import { forbidden } from "../../api/errors.ts";
import type { FieldErrors } from "../../api/field-errors.ts";
import type { KubeObject } from "../../api/object.ts";
import { addInvalid } from "../../api/validation/metadata.ts";
import { dnsLabelProblems, finalizerProblems, qualifiedNameProblems } from "../../lib/names/names.ts";
import { strategy } from "../../resource/strategy.ts";
import { selectableAt, struct } from "../fields.ts";

/** The finalizer that stands for "its content must go first". */
export const kubernetesFinalizer = "kubernetes";

const nameLabel = "kubernetes.io/metadata.name";
const protectedNamespaces = new Set(["default", "kube-system", "kube-public"]);

export const namespace = strategy({
  validateName: dnsLabelProblems,
  selectableFields: selectableAt("status.phase"),
  setDefaults: labelWithName,
  prepareForCreate(object) {
    labelWithName(object); // By now a generated name is there too.
    object.status = { phase: "Active" };
    const finalizers: string[] = struct(object, "spec").finalizers ?? [];
    object.spec.finalizers = finalizers.includes(kubernetesFinalizer) ? finalizers : [...finalizers, kubernetesFinalizer];
  },
  prepareForUpdate(next, old) {
    struct(next, "spec").finalizers = old.spec?.finalizers; // Only `/finalize` changes them.
  },
  validate: (object, errors) => validateFinalizers(object, () => "spec.finalizers", errors),
  validateStatusUpdate(next, _old, errors) {
    const wanted = next.metadata.deletionTimestamp === undefined ? "Active" : "Terminating";
    if (next.status?.phase === wanted) return;
    const when = wanted === "Active" ? "empty" : "not empty";
    errors.invalid("status.Phase", next.status?.phase ?? "", `may only be '${wanted}' if \`deletionTimestamp\` is ${when}`);
  },
  subresources: {
    finalize: {
      prepare(next, old) {
        next.status = old.status;
      },
      validate: (next, _old, errors) => validateFinalizers(next, (index) => `spec.finalizers[${index}]`, errors),
    },
  },
  checkDeletion(object) {
    const name = object.metadata.name as string;
    if (protectedNamespaces.has(name)) throw forbidden({ group: "", resource: "namespaces" }, name, "this namespace may not be deleted");
  },
  holdsDeletion: (object) => (object.spec?.finalizers?.length ?? 0) > 0,
  markDeleted(object) {
    struct(object, "status").phase = "Terminating";
  },
});

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
