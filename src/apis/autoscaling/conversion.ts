/**
 * Converts HorizontalPodAutoscalers between v1 and v2. Annotations carry the values for which v1
 * has no field, in the shape that upstream writes, so that both directions are lossless.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/autoscaling/v1/conversion.go
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Conversion } from "../../catalog/contract.ts";
import { items, type Part, struct } from "../fields.ts";
import { annotationNames, dropAnnotations } from "./annotations.ts";
import { cpuMetric, defaultCpuUtilization } from "./horizontal-pod-autoscaler.ts";
import { metricSpecFromV1, metricSpecToV1, metricStatusFromV1, metricStatusToV1 } from "./metrics.ts";

/** Converts between autoscaling/v1 and the storage version, autoscaling/v2. */
export const horizontalPodAutoscalerV1: Conversion = {
  fromStorage(object) {
    dropAnnotations(object);
    const { metrics, behavior, ...spec } = struct(object, "spec");
    const { currentMetrics, conditions, ...status } = struct(object, "status");
    const [cpu, others] = takeCpu(items(metrics), (metric) => metric.resource.target?.averageUtilization);
    const [currentCpu] = takeCpu(items(currentMetrics), (metric) => metric.resource.current?.averageUtilization);
    object.spec = { ...spec, ...(cpu !== undefined && { targetCPUUtilizationPercentage: cpu }) };
    object.status = { ...status, ...(currentCpu !== undefined && { currentCPUUtilizationPercentage: currentCpu }) };
    annotate(object, "metrics", others.map(metricSpecToV1));
    annotate(object, "currentMetrics", items(currentMetrics).map(metricStatusToV1));
    annotate(object, "conditions", items(conditions).map(conditionInGo));
    if (behavior) setAnnotation(object, "behavior", JSON.stringify(behaviorInGo(behavior)));
    return object;
  },
  toStorage(object) {
    const { targetCPUUtilizationPercentage: cpu, ...spec } = struct(object, "spec");
    const { currentCPUUtilizationPercentage: currentCpu, ...status } = struct(object, "status");
    const others = readList(object, "metrics").map(metricSpecFromV1);
    // Upstream sets the default here, so that the comparison of a server-side apply includes it.
    const metrics =
      typeof cpu === "number" || others.length === 0 ? [...others, cpuMetric(cpu ?? defaultCpuUtilization)] : others;
    const annotated = readList(object, "currentMetrics").map(metricStatusFromV1);
    const currentMetrics =
      annotated.length === 0 && typeof currentCpu === "number" ? [currentCpuMetric(currentCpu)] : annotated;
    const conditions = readList(object, "conditions").map(conditionFromGo);
    const behavior = behaviorFromGo(readAnnotation(object, "behavior"));
    object.spec = { ...spec, metrics, ...(behavior !== undefined && { behavior }) };
    object.status = {
      ...status,
      ...(currentMetrics.length > 0 && { currentMetrics }),
      ...(conditions.length > 0 && { conditions }),
    };
    dropAnnotations(object);
    return object;
  },
};

/** An unset time is written as null. */
const conditionInGo = ({ type = "", status = "", lastTransitionTime = null, reason, message }: Part): Part => ({
  type,
  status,
  lastTransitionTime,
  reason,
  message,
});

function conditionFromGo(condition: Part): Part {
  const { lastTransitionTime, ...rest } = condition;
  return lastTransitionTime === null ? rest : condition;
}

const currentCpuMetric = (averageUtilization: number): Part => ({
  type: "Resource",
  resource: { name: "cpu", current: { averageUtilization } },
});

const isCpu = (metric: Part): boolean => metric.type === "Resource" && metric.resource?.name === "cpu";

/**
 * Separates the CPU metrics, for which v1 has a field, from all others.
 *
 * @returns the utilization of the first CPU metric, since v1 has room for one only
 */
function takeCpu(metrics: readonly Part[], utilization: (metric: Part) => unknown): [number | undefined, Part[]] {
  const value = metrics
    .filter(isCpu)
    .map(utilization)
    .find((one) => typeof one === "number");
  if (typeof value !== "number") return [undefined, [...metrics]];
  return [value, metrics.filter((metric) => !isCpu(metric) || typeof utilization(metric) !== "number")];
}

type Annotated = keyof typeof annotationNames;

function annotate(object: KubeObject, what: Annotated, values: readonly unknown[]): void {
  if (values.length > 0) setAnnotation(object, what, JSON.stringify(values));
}

function setAnnotation(object: KubeObject, what: Annotated, text: string): void {
  object.metadata.annotations ??= {};
  object.metadata.annotations[annotationNames[what]] = text;
}

/**
 * @returns undefined also for text that is not JSON: a client may write anything there, and
 *   upstream ignores it
 */
function readAnnotation(object: KubeObject, what: Annotated): unknown {
  const text = object.metadata.annotations?.[annotationNames[what]];
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function readList(object: KubeObject, what: Annotated): Part[] {
  const value = readAnnotation(object, what);
  return Array.isArray(value)
    ? value.filter((one) => typeof one === "object" && one !== null && !Array.isArray(one))
    : [];
}

/**
 * Upstream encodes the behavior from a Go struct without JSON tags, so that the keys are Go's field
 * names and no field is omitted.
 */
function behaviorInGo({ scaleUp, scaleDown }: Part): Part {
  return { ScaleUp: rulesInGo(scaleUp), ScaleDown: rulesInGo(scaleDown) };
}

function rulesInGo(rules: Part | undefined): Part | null {
  if (!rules) return null;
  const { stabilizationWindowSeconds = null, selectPolicy = null, policies, tolerance = null } = rules;
  const listed = items(policies).map(({ type = "", value = 0, periodSeconds = 0 }) => ({
    Type: type,
    Value: value,
    PeriodSeconds: periodSeconds,
  }));
  return {
    StabilizationWindowSeconds: stabilizationWindowSeconds,
    SelectPolicy: selectPolicy,
    Policies: policies ? listed : null,
    Tolerance: tolerance,
  };
}

function behaviorFromGo(behavior: unknown): unknown {
  if (typeof behavior !== "object" || behavior === null || Array.isArray(behavior)) return undefined;
  return renameKeys(behavior, (key) => key.charAt(0).toLowerCase() + key.slice(1), 8);
}

/** @param depth how many levels are renamed; a behavior has four */
function renameKeys(value: unknown, rename: (key: string) => string, depth: number): unknown {
  if (depth === 0 || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => renameKeys(one, rename, depth - 1));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== null)
      .map(([key, part]) => [rename(key), renameKeys(part, rename, depth - 1)]),
  );
}
