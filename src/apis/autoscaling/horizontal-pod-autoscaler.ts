/**
 * HorizontalPodAutoscaler, stored as autoscaling/v2.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/autoscaling/validation/validation.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go
 */
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column, StrategyContext } from "../../catalog/strategy-contract.ts";
import { text } from "../column.ts";
import { items, type Part, struct } from "../fields.ts";
import { checkCounts } from "../workload.ts";
import { dropAnnotations } from "./annotations.ts";
import { setBehaviorDefaults, validateBehavior } from "./behavior.ts";
import { type ReferenceRules, referenceVersionProblem, validateMetrics, validateReference } from "./metric-rules.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const autoscalerColumns: readonly Column[] = [
  nameColumn,
  text(
    "Reference",
    "scaleTargetRef points to the target resource to scale, and is used to the pods for which metrics should be collected, as well as to actually change the replica count.",
    ({ spec }) => `${spec?.scaleTargetRef?.kind ?? ""}/${spec?.scaleTargetRef?.name ?? ""}`,
  ),
  text(
    "Targets",
    "metrics contains the specifications for which to use to calculate the desired replica count (the maximum replica count across all metrics will be used).  The desired replica count is calculated multiplying the ratio between the target value and the current value by the current number of pods.  Ergo, metrics used must decrease as the pod count is increased, and vice-versa.  See the individual metric source types for more information about how each type of metric must respond. If not set, the default metric will be set to 80% average CPU utilization.",
    targets,
  ),
  text(
    "MinPods",
    "minReplicas is the lower limit for the number of replicas to which the autoscaler can scale down.  It defaults to 1 pod.  minReplicas is allowed to be 0 if the alpha feature gate HPAScaleToZero is enabled and at least one Object or External metric is configured.  Scaling is active as long as at least one metric value is available.",
    ({ spec }) => (spec?.minReplicas === undefined ? "<unset>" : String(spec.minReplicas)),
  ),
  text(
    "MaxPods",
    "maxReplicas is the upper limit for the number of replicas to which the autoscaler can scale up. It cannot be less that minReplicas.",
    ({ spec }) => spec?.maxReplicas ?? 0,
  ),
  text(
    "Replicas",
    "currentReplicas is current number of replicas of pods managed by this autoscaler, as last seen by the autoscaler.",
    ({ status }) => status?.currentReplicas ?? 0,
  ),
  ageColumn,
];

const sourceOf: Readonly<Record<string, string>> = {
  ContainerResource: "containerResource",
  External: "external",
  Object: "object",
  Pods: "pods",
  Resource: "resource",
};

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

/** Current and target values, such as `cpu: 12%/80%, memory: 1Gi/2Gi + 1 more...`. */
function targets({ spec, status }: KubeObject): string {
  const metrics = items(spec?.metrics);
  const current = items(status?.currentMetrics);
  const shown = metrics.slice(0, 2).map((metric, index) => formatMetric(metric, current[index]));
  if (shown.length === 0) return "<none>";
  return metrics.length > 2 ? `${shown.join(", ")} + ${metrics.length - 2} more...` : shown.join(", ");
}

/** @param measured the metric at the same index of the status */
function formatMetric(metric: Part, measured: Part | undefined): string {
  const field = Object.hasOwn(sourceOf, metric.type) ? (sourceOf[metric.type] as string) : "";
  const source: Part | undefined = metric[field];
  if (source === undefined) return "<unknown type>";
  const target: Part = source.target ?? {};
  const now: Part | undefined = measured?.[field]?.current;
  if (metric.type === "Pods") return `${quantity(now, "averageValue")}/${quantity(target, "averageValue")}`;
  if (metric.type === "Resource" || metric.type === "ContainerResource")
    return `${source.name}: ${formatResource(target, now)}`;
  if (target.averageValue !== undefined) return `${now?.averageValue ?? "<unknown>"}/${target.averageValue} (avg)`;
  return `${quantity(now, "value")}/${quantity(target, "value")}`;
}

function formatResource(target: Part, now: Part | undefined): string {
  if (target.averageValue !== undefined) return `${quantity(now, "averageValue")}/${target.averageValue}`;
  return `${percent(now, "<unknown>")}/${percent(target, "<auto>")}`;
}

function quantity(values: Part | undefined, field: string): string {
  return values === undefined ? "<unknown>" : (values[field] ?? "0");
}

function percent(values: Part | undefined, otherwise: string): string {
  return values?.averageUtilization === undefined ? otherwise : `${values.averageUtilization}%`;
}
