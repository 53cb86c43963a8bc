/**
 * Converts workloads from versions that are only stored. Sources: `defaults.go` and `conversion.go`
 * of `k8s.io/kubernetes@v1.36.0/pkg/apis/apps/v1beta1`, `apps/v1` and `extensions/v1beta1`.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { StoredConversion } from "../../catalog/contract.ts";
import { setAbsent, struct } from "../fields.ts";

/** Fields of older versions that apps/v1 has as annotations. */
const rollbackAnnotation = "deprecated.deployment.rollback.to";
const generationAnnotation = "deprecated.daemonset.template.generation";

/** Means no limit. */
const unlimited = 2 ** 31 - 1;

function annotate(object: KubeObject, name: string, value: unknown): void {
  object.metadata.annotations = { ...object.metadata.annotations, [name]: String(value ?? 0) };
}

function moveRollback(object: KubeObject): KubeObject {
  const { rollbackTo } = struct(object, "spec");
  if (rollbackTo) annotate(object, rollbackAnnotation, rollbackTo.revision);
  else delete object.metadata.annotations?.[rollbackAnnotation];
  delete object.spec.rollbackTo;
  return object;
}

/** Deployments of apps/v1beta1. */
export const deploymentV1beta1: StoredConversion = {
  toStorage(object) {
    setAbsent(struct(object, "spec"), { revisionHistoryLimit: 2 });
    return moveRollback(object);
  },
};

/** Deployments of extensions/v1beta1. */
export const extensionsDeployment: StoredConversion = {
  toStorage(object) {
    const spec = struct(object, "spec");
    setAbsent(spec, { revisionHistoryLimit: unlimited, progressDeadlineSeconds: unlimited });
    const strategy = struct(spec, "strategy");
    setAbsent(strategy, { type: "RollingUpdate" });
    if (strategy.type === "RollingUpdate" || strategy.rollingUpdate)
      setAbsent(struct(strategy, "rollingUpdate"), { maxUnavailable: 1, maxSurge: 1 });
    return moveRollback(object);
  },
};

/** StatefulSets of apps/v1beta1. */
export const statefulSetV1beta1: StoredConversion = {
  toStorage(object) {
    setAbsent(struct(struct(object, "spec"), "updateStrategy"), { type: "OnDelete" });
    return object;
  },
};

/** DaemonSets of extensions/v1beta1. */
export const extensionsDaemonSet: StoredConversion = {
  toStorage(object) {
    const spec = struct(object, "spec");
    setAbsent(struct(spec, "updateStrategy"), { type: "OnDelete" });
    annotate(object, generationAnnotation, spec.templateGeneration);
    delete spec.templateGeneration;
    return object;
  },
};
