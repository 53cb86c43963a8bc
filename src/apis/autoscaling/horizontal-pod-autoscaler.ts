/**
 * HorizontalPodAutoscaler, stored as autoscaling/v2.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/autoscaling/validation/validation.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go
 */
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { StrategyContext } from "../../catalog/strategy-contract.ts";
import { items, type Part, struct } from "../fields.ts";
import { checkCounts } from "../workload.ts";
import { dropAnnotations } from "./annotations.ts";
import { setBehaviorDefaults, validateBehavior } from "./behavior.ts";
import { autoscalerColumns } from "./columns.ts";
import { type ReferenceRules, referenceVersionProblem, validateMetrics, validateReference } from "./metric-rules.ts";

/** Percent of the requested CPU, for an autoscaler without metrics. */
export const defaultCpuUtilization = 80;

/** Without metrics, an autoscaler gets the default CPU metric. */
export const horizontalPodAutoscaler = strategy({
  columns: autoscalerColumns,
  setDefaults(object) {
    const spec = struct(object, "spec");
    spec.minReplicas ??= 1;
    if (items(spec.metrics).length === 0) spec.metrics = [cpuMetric(defaultCpuUtilization)];
    if (spec.behavior) setBehaviorDefaults(spec.behavior);
    dropAnnotations(object);
  },
  prepareForCreate(object) {
    delete object.status;
  },
  declarative: { hasOption: (name, gates, old) => name === "HPAScaleToZero" && mayBeZero(gates, old) },
  validate: (object, errors, context) => validate(object, undefined, errors, context),
  validateUpdate: (next, old, errors, context) => validate(next, old, errors, context),
  validateStatusUpdate: (next, _old, errors) =>
    checkCounts(next.status ?? {}, "status", ["currentReplicas", "desiredReplicas"], errors),
});

export function cpuMetric(averageUtilization: number): Part {
  return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } };
}

const mayBeZero = (gates: FeatureGates, old: KubeObject | undefined): boolean =>
  gates.enabled("HPAScaleToZero") || old?.spec.minReplicas === 0;

/**
 * The apiVersion is not validated for an unchanged target, and for metrics when one of the stored
 * metrics has an invalid one.
 */
function validate(
  { spec }: KubeObject,
  old: KubeObject | undefined,
  errors: FieldErrors,
  { gates }: StrategyContext,
): void {
  const { minReplicas, maxReplicas = 0, scaleTargetRef = {} } = spec;
  const least = mayBeZero(gates, old) ? 0 : 1;
  if (minReplicas < least)
    errors.covered("minimum").invalid("spec.minReplicas", minReplicas, `must be greater than or equal to ${least}`);
  if (maxReplicas === 0) errors.covered().required("spec.maxReplicas", "must be set and greater than 0");
  else if (maxReplicas < 0)
    errors.covered("minimum").invalid("spec.maxReplicas", maxReplicas, "must be greater than or equal to 1");
  if (maxReplicas < minReplicas)
    errors.invalid("spec.maxReplicas", maxReplicas, "must be greater than or equal to `minReplicas`");
  validateReference(
    scaleTargetRef,
    targetRules(scaleTargetRef, old?.spec.scaleTargetRef),
    "spec.scaleTargetRef",
    errors,
  );
  const hadWrong = items(old?.spec.metrics).some(
    ({ type, object }) => type === "Object" && object && isWrongVersion(object.describedObject),
  );
  validateMetrics(items(spec.metrics), { anyVersion: hadWrong, emptyGroup: true }, minReplicas, errors);
  if (spec.behavior) validateBehavior(spec.behavior, "spec.behavior", errors);
}

const isWrongVersion = (reference: Part | undefined): boolean =>
  referenceVersionProblem(reference?.apiVersion ?? "", { emptyGroup: true }) !== undefined;

function targetRules({ apiVersion = "", kind = "" }: Part, old: Part | undefined): ReferenceRules {
  if (old !== undefined && (old.apiVersion ?? "") === apiVersion && (old.kind ?? "") === kind)
    return { anyVersion: true };
  // The only scalable kind of the core group.
  return { emptyGroup: kind === "ReplicationController" };
}
