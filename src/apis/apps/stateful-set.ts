/**
 * StatefulSet: most fields of its spec are immutable.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/apps/validation/validation.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/apps/statefulset/strategy.go
 */
import { FieldErrors, typedText } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { strategy } from "../../catalog/strategy.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { dnsLabelProblems } from "../../lib/names/names.ts";
import { workloadCells } from "../column.ts";
import { setClaimDefaults } from "../core/persistent-volume-claim.ts";
import { validateClaimSpec } from "../core/pod/claim-template.ts";
import type { PodOptions } from "../core/pod/options.ts";
import { warnOfClaim } from "../core/pod/warnings.ts";
import { setTemplateDefaults, templateOptions, validateTemplate } from "../core/pod/workload-template.ts";
import { checkNonNegative, items, type Part, setAbsent, struct } from "../fields.ts";
import { workloadScale } from "../scale.ts";
import {
  blankReplicated,
  changedTemplateWarnings,
  checkAtMost,
  checkCollisionCount,
  checkCounts,
  checkSelected,
  checkTemplateRuns,
  validateSelector,
  validateTemplateMeta,
} from "../workload.ts";
import { statefulSetColumns } from "./columns.ts";
import { setRollingUpdateDefaults, validateStatefulSetRollingUpdate } from "./rolling-update.ts";

const mutableFields = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];
const immutableText =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
const endlessHistory =
  "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended";

const rules = { noun: "statefulset", unusableText: "", templateNoun: "StatefulSet" };

/** Tolerates an invalid template that is already stored. */
export const statefulSet = strategy({
  columns: statefulSetColumns,
  cellPaths: workloadCells,
  validateName: dnsLabelProblems,
  hasGeneration: true,
  blank: blankReplicated,
  scale: workloadScale,
  setDefaults(object, gates) {
    const spec = struct(object, "spec");
    setAbsent(spec, { replicas: 1, revisionHistoryLimit: 10, podManagementPolicy: "OrderedReady" });
    setTemplateDefaults(spec);
    const hasMaxUnavailable = gates?.enabled("MaxUnavailableStatefulSet") ?? false;
    setUpdateDefaults(struct(spec, "updateStrategy"), {
      partition: 0,
      ...(hasMaxUnavailable && { maxUnavailable: 1 }),
    });
    setAbsent(struct(spec, "persistentVolumeClaimRetentionPolicy"), { whenDeleted: "Retain", whenScaled: "Retain" });
    for (const claim of items(spec.volumeClaimTemplates)) {
      // These overwrite any values that the client sent.
      Object.assign(claim, { kind: "PersistentVolumeClaim", apiVersion: "v1" });
      setClaimDefaults(claim);
    }
  },
  prepareForCreate(object) {
    object.status = { replicas: 0, availableReplicas: 0 };
  },
  validate: (object, errors, context) => validateSpec(object, { options: templateOptions(context) }, errors),
  validateUpdate(next, old, errors, context) {
    const tolerated = new FieldErrors();
    const options = templateOptions(context, old.spec.template);
    validateSpec(old, { isUpdate: true, options }, tolerated);
    validateSpec(next, { isUpdate: true, keepsTemplate: !tolerated.empty, options }, errors);
    if (!deepEqual(immutablePart(next.spec), immutablePart(old.spec))) errors.forbidden("spec", immutableText);
  },
  validateStatusUpdate(next, old, errors) {
    validateStatus(next.status ?? {}, errors);
    checkCollisionCount(next, old, errors);
  },
  warnings(object, old) {
    const warnings = changedTemplateWarnings(object, old);
    for (const [index, { spec }] of items(object.spec.volumeClaimTemplates).entries()) {
      warnOfClaim(spec, `spec.volumeClaimTemplates[${index}]${old === undefined ? "" : ".Spec"}`, warnings);
    }
    return object.spec.revisionHistoryLimit < 0 ? [...warnings, endlessHistory] : warnings;
  },
});

function setUpdateDefaults(update: Part, rolling: Part): void {
  if ((update.type ?? "") === "") {
    update.type = "RollingUpdate";
    update.rollingUpdate ??= {};
  }
  if (update.type === "RollingUpdate" && update.rollingUpdate) setRollingUpdateDefaults(update.rollingUpdate, rolling);
}

const immutablePart = (spec: Part): Part =>
  Object.fromEntries(Object.entries({ serviceName: "", ...spec }).filter(([field]) => !mutableFields.includes(field)));

interface Leniency {
  readonly options: PodOptions;
  /** Skips the validation of immutable fields. */
  readonly isUpdate?: boolean;
  /**
   * The stored object does not pass the validation either, so that the template is not validated.
   */
  readonly keepsTemplate?: boolean;
}

function validateSpec(
  object: KubeObject,
  { options, isUpdate = false, keepsTemplate = false }: Leniency,
  errors: FieldErrors,
): void {
  const { spec } = object;
  const { podManagementPolicy, serviceName = "" } = spec;
  if (podManagementPolicy !== "OrderedReady" && podManagementPolicy !== "Parallel") {
    errors.invalid("spec.podManagementPolicy", typedText(podManagementPolicy), "must be 'OrderedReady' or 'Parallel'");
  }
  validateUpdateStrategy(spec.updateStrategy, errors);
  validateRetentionPolicy(spec.persistentVolumeClaimRetentionPolicy, errors);
  if (!isUpdate) {
    for (const [index, claim] of items(spec.volumeClaimTemplates).entries()) {
      validateClaimSpec(claim.spec ?? {}, `spec.volumeClaimTemplates[${index}].spec`, {}, errors);
    }
  }
  checkCounts(spec, "spec", ["replicas", "minReadySeconds"], errors);
  checkNonNegative(spec.ordinals?.start, "spec.ordinals.start", errors);
  if (!isUpdate && serviceName !== "")
    addInvalid(errors, "spec.serviceName", serviceName, dnsLabelProblems(serviceName));
  if (validateSelector(object, rules, errors)) {
    checkSelected(object, errors);
    if (!keepsTemplate) validateTemplate(withClaims(spec), "spec.template", errors, options);
    validateTemplateMeta(spec.template, "spec.template", errors);
  }
  checkTemplateRuns(object, rules, errors);
}

function validateUpdateStrategy({ type, rollingUpdate = null }: Part, errors: FieldErrors): void {
  const path = "spec.updateStrategy";
  if (type === "RollingUpdate") {
    if (rollingUpdate !== null) validateStatefulSetRollingUpdate(rollingUpdate, `${path}.rollingUpdate`, errors);
  } else if (type === "OnDelete") {
    if (rollingUpdate !== null)
      errors.invalid(`${path}.rollingUpdate`, inGo(rollingUpdate), "only allowed for updateStrategy 'RollingUpdate'");
  } else
    errors.invalid(
      path,
      { Type: type, RollingUpdate: rollingUpdate && inGo(rollingUpdate) },
      "must be 'RollingUpdate' or 'OnDelete'",
    );
}

const inGo = ({ partition = 0, maxUnavailable = null }: Part): Part => ({
  Partition: partition,
  MaxUnavailable: maxUnavailable,
});

function validateRetentionPolicy(policy: Part | undefined, errors: FieldErrors): void {
  if (!policy) return;
  for (const field of ["whenDeleted", "whenScaled"]) {
    const path = `spec.persistentVolumeClaimRetentionPolicy.${field}`;
    if (policy[field] !== "Retain" && policy[field] !== "Delete")
      errors.notSupported(path, policy[field], ["Retain", "Delete"]);
  }
}

/**
 * The template as its pods have it: each pod gets its own host name, and the volume of each claim
 * template replaces the template's volume of the same name.
 */
function withClaims({ template, volumeClaimTemplates }: Part): Part {
  const { hostname: _hostname, subdomain: _subdomain, ...spec } = template.spec;
  const names = new Set(items(volumeClaimTemplates).map(({ metadata }) => metadata?.name ?? ""));
  if (names.size === 0) return { ...template, spec };
  const claimed = [...names].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return {
    ...template,
    spec: { ...spec, volumes: [...claimed, ...items(spec.volumes).filter(({ name = "" }) => !names.has(name))] },
  };
}

function validateStatus(status: Part, errors: FieldErrors): void {
  const counts = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
  checkCounts(status, "status", ["replicas", ...counts, "observedGeneration", "collisionCount"], errors);
  checkAtMost(status, "status", { fields: counts, of: "replicas", name: "status.replicas" }, errors);
  checkAtMost(
    status,
    "status",
    { fields: ["availableReplicas"], of: "readyReplicas", name: "status.readyReplicas" },
    errors,
  );
}
