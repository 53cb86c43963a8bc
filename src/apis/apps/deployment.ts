/**
 * Deployment.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/apps/validation/validation.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/apps/deployment/strategy.go,
 *         `defaults.go` and `conversion.go` of each version in k8s.io/kubernetes@v1.36.0/pkg/apis
 */
import { badRequest } from "../../apimachinery/errors.ts";
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { StoredConversion } from "../../catalog/contract.ts";
import { strategy } from "../../catalog/strategy.ts";
import { deepEqual, type Integer } from "../../lib/json/values.ts";
import { workloadCells } from "../column.ts";
import type { PodOptions } from "../core/pod/options.ts";
import { setTemplateDefaults, templateOptions } from "../core/pod/workload-template.ts";
import { checkNonNegative, type Part, setAbsent, struct } from "../fields.ts";
import { workloadScale } from "../scale.ts";
import {
  blankReplicated,
  checkAtMost,
  checkCollisionCount,
  checkCounts,
  checkSelectorUnchanged,
  replicatedWarnings,
  validateReplicated,
} from "../workload.ts";
import { deploymentColumns } from "./columns.ts";
import { annotatedInteger, annotateInteger } from "./field-annotation.ts";
import { rollingUpdateInGo, setRollingUpdateDefaults, validateDeploymentRollingUpdate } from "./rolling-update.ts";

const rules = { noun: "deployment", unusableText: "invalid label selector", templateNoun: "ReplicaSet" };

/** The revision to roll back to. It replaces the removed field `spec.rollbackTo`. */
const rollbackAnnotation = "deprecated.deployment.rollback.to";

/** A change of the annotations raises the generation, and a status write keeps the labels. */
export const deployment = strategy({
  columns: deploymentColumns,
  cellPaths: workloadCells,
  hasGeneration: true,
  fieldAnnotation: rollbackAnnotation,
  blank: blankReplicated,
  scale: workloadScale,
  setDefaults(object) {
    const spec = struct(object, "spec");
    setAbsent(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
    setTemplateDefaults(spec);
    const update = struct(spec, "strategy");
    setAbsent(update, { type: "RollingUpdate" });
    if (update.type === "RollingUpdate")
      setRollingUpdateDefaults(struct(update, "rollingUpdate"), { maxUnavailable: "25%", maxSurge: "25%" });
    normalizeRollback(object);
  },
  prepareForCreate(object) {
    delete object.status;
  },
  // The deployment controller copies annotations to the ReplicaSets.
  raisesGeneration: (next, old) => !deepEqual(next.metadata.annotations, old.metadata.annotations),
  dropsDisabledStatus: true,
  prepareForStatusUpdate(next, old) {
    if (old.metadata.labels === undefined) delete next.metadata.labels;
    else next.metadata.labels = old.metadata.labels;
  },
  validate: (object, errors, context) => validate(object, templateOptions(context), errors),
  validateUpdate(next, old, errors, context) {
    validate(next, templateOptions(context, old.spec.template), errors);
    checkSelectorUnchanged(next, old, errors);
  },
  validateStatusUpdate(next, old, errors) {
    validateStatus(next.status ?? {}, errors);
    checkCollisionCount(next, old, errors);
  },
  warnings: replicatedWarnings,
});

/** Upstream drops an empty annotation. @throws ApiError 400 for a value that is no int64 */
function normalizeRollback(object: KubeObject): void {
  const { annotations } = object.metadata;
  const text = annotations?.[rollbackAnnotation];
  if (annotations === undefined || text === undefined) return;
  if (text === "") delete annotations[rollbackAnnotation];
  else annotateInteger(object, rollbackAnnotation, rollbackRevision(text));
}

function rollbackRevision(text: string): Integer {
  return annotatedInteger(text, (why) =>
    badRequest(
      `Deployment in version "v1" cannot be handled as a Deployment: failed to parse annotation[${rollbackAnnotation}]=${text} as int64: ${why}`,
    ),
  );
}

function validate(object: KubeObject, options: PodOptions, errors: FieldErrors): void {
  const { spec } = object;
  checkNonNegative(spec.replicas, "spec.replicas", errors);
  validateReplicated(object, rules, options, errors);
  validateStrategy(spec.strategy, "spec.strategy", errors);
  checkCounts(spec, "spec", ["minReadySeconds", "revisionHistoryLimit"], errors);
  const rollback = object.metadata.annotations?.[rollbackAnnotation];
  if (rollback !== undefined) checkNonNegative(rollbackRevision(rollback), "spec.rollback.version", errors);
  checkCounts(spec, "spec", ["progressDeadlineSeconds"], errors);
  if (spec.progressDeadlineSeconds <= (spec.minReadySeconds ?? 0)) {
    errors.invalid(
      "spec.progressDeadlineSeconds",
      spec.progressDeadlineSeconds,
      "must be greater than minReadySeconds",
    );
  }
}

function validateStrategy({ type, rollingUpdate = null }: Part, path: string, errors: FieldErrors): void {
  if (type === "RollingUpdate") validateDeploymentRollingUpdate(rollingUpdate, `${path}.rollingUpdate`, errors);
  else if (type !== "Recreate")
    errors.notSupported(path, { Type: type, RollingUpdate: rollingUpdate && rollingUpdateInGo(rollingUpdate) }, [
      "Recreate",
      "RollingUpdate",
    ]);
  else if (rollingUpdate !== null)
    errors.forbidden(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'");
}

function validateStatus(status: Part, errors: FieldErrors): void {
  const counts = [
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
  ];
  checkCounts(status, "status", ["observedGeneration", ...counts, "collisionCount"], errors);
  const fields = ["updatedReplicas", "readyReplicas", "availableReplicas"];
  checkAtMost(status, "status", { fields, of: "replicas", name: "status.replicas" }, errors);
  checkAtMost(status, "status", { fields: ["availableReplicas"], of: "readyReplicas", name: "readyReplicas" }, errors);
}

/** Deployments of apps/v1beta1. */
export const deploymentV1beta1: StoredConversion = {
  toStorage(object) {
    setAbsent(struct(object, "spec"), { revisionHistoryLimit: 2 });
    return moveRollback(object);
  },
};

/** Means no limit. */
const unlimited = 2 ** 31 - 1;

/** Deployments of extensions/v1beta1. */
export const extensionsDeployment: StoredConversion = {
  toStorage(object) {
    const spec = struct(object, "spec");
    setAbsent(spec, { revisionHistoryLimit: unlimited, progressDeadlineSeconds: unlimited });
    const update = struct(spec, "strategy");
    setAbsent(update, { type: "RollingUpdate" });
    if (update.type === "RollingUpdate" || update.rollingUpdate)
      setAbsent(struct(update, "rollingUpdate"), { maxUnavailable: 1, maxSurge: 1 });
    return moveRollback(object);
  },
};

function moveRollback(object: KubeObject): KubeObject {
  const { rollbackTo } = struct(object, "spec");
  if (rollbackTo) annotateInteger(object, rollbackAnnotation, rollbackTo.revision ?? 0);
  else delete object.metadata.annotations?.[rollbackAnnotation];
  delete object.spec.rollbackTo;
  return object;
}
