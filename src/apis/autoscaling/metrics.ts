/**
 * Converts single metrics between autoscaling/v2 and the form in autoscaling/v1's annotations.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/autoscaling/v1/conversion.go
 */
import type { Part } from "../fields.ts";

/** A quantity that Go encodes even when it is unset. */
const quantity = (value: unknown): unknown => value ?? "0";

export function metricSpecToV1({ type, object, pods, resource, containerResource, external }: Part): Part {
  return defined({
    type,
    object: object && {
      target: object.describedObject ?? {},
      metricName: object.metric?.name ?? "",
      targetValue: quantity(object.target?.value),
      selector: object.metric?.selector,
      averageValue: object.target?.averageValue,
    },
    pods: pods && {
      metricName: pods.metric?.name ?? "",
      targetAverageValue: quantity(pods.target?.averageValue),
      selector: pods.metric?.selector,
    },
    resource: resource && resourceToV1(resource),
    containerResource: containerResource && {
      ...resourceToV1(containerResource),
      container: containerResource.container ?? "",
    },
    external: external && {
      metricName: external.metric?.name ?? "",
      metricSelector: external.metric?.selector,
      targetValue: external.target?.value,
      targetAverageValue: external.target?.averageValue,
    },
  });
}

const resourceToV1 = ({ name, target }: Part): Part => ({
  name,
  targetAverageUtilization: target?.averageUtilization,
  targetAverageValue: target?.averageValue,
});

export function metricSpecFromV1({ type, object, pods, resource, containerResource, external }: Part): Part {
  return defined({
    type,
    object: object && {
      describedObject: object.target ?? {},
      target:
        object.averageValue === undefined
          ? { type: "Value", value: object.targetValue }
          : {
              type: "AverageValue",
              averageValue: object.averageValue,
              ...(object.targetValue !== "0" && { value: object.targetValue }),
            },
      metric: { name: object.metricName ?? "", selector: object.selector },
    },
    pods: pods && {
      metric: { name: pods.metricName ?? "", selector: pods.selector },
      target: { type: "AverageValue", averageValue: pods.targetAverageValue },
    },
    resource: resource && resourceFromV1(resource),
    containerResource: containerResource && {
      ...resourceFromV1(containerResource),
      container: containerResource.container ?? "",
    },
    external: external && {
      metric: { name: external.metricName ?? "", selector: external.metricSelector },
      target:
        external.targetAverageValue === undefined
          ? { type: "Value", value: external.targetValue }
          : { type: "AverageValue", averageValue: external.targetAverageValue, value: external.targetValue },
    },
  });
}

const resourceFromV1 = ({
  name,
  targetAverageUtilization: averageUtilization,
  targetAverageValue: averageValue,
}: Part): Part => ({
  name,
  target:
    averageUtilization === undefined
      ? { type: "AverageValue", averageValue }
      : { type: "Utilization", averageUtilization, averageValue },
});

export function metricStatusToV1({ type, object, pods, resource, containerResource, external }: Part): Part {
  return defined({
    type,
    object: object && {
      target: object.describedObject ?? {},
      metricName: object.metric?.name ?? "",
      currentValue: quantity(object.current?.value),
      selector: object.metric?.selector,
      averageValue: object.current?.averageValue,
    },
    pods: pods && {
      metricName: pods.metric?.name ?? "",
      currentAverageValue: quantity(pods.current?.averageValue),
      selector: pods.metric?.selector,
    },
    resource: resource && resourceStatusToV1(resource),
    containerResource: containerResource && {
      ...resourceStatusToV1(containerResource),
      container: containerResource.container ?? "",
    },
    external: external && {
      metricName: external.metric?.name ?? "",
      metricSelector: external.metric?.selector,
      currentValue: quantity(external.current?.value),
      currentAverageValue: external.current?.averageValue,
    },
  });
}

const resourceStatusToV1 = ({ name, current }: Part): Part => ({
  name,
  currentAverageUtilization: current?.averageUtilization,
  currentAverageValue: quantity(current?.averageValue),
});

export function metricStatusFromV1({ type, object, pods, resource, containerResource, external }: Part): Part {
  return defined({
    type,
    object: object && {
      metric: { name: object.metricName ?? "", selector: object.selector },
      current: { value: object.currentValue, averageValue: object.averageValue },
      describedObject: object.target ?? {},
    },
    pods: pods && {
      metric: { name: pods.metricName ?? "", selector: pods.selector },
      current: { averageValue: pods.currentAverageValue },
    },
    resource: resource && resourceStatusFromV1(resource),
    containerResource: containerResource && {
      ...resourceStatusFromV1(containerResource),
      container: containerResource.container ?? "",
    },
    external: external && {
      metric: { name: external.metricName ?? "", selector: external.metricSelector },
      current: { value: external.currentValue, averageValue: external.currentAverageValue },
    },
  });
}

const resourceStatusFromV1 = ({
  name,
  currentAverageUtilization: averageUtilization,
  currentAverageValue: averageValue,
}: Part): Part => ({
  name,
  current: { averageValue, averageUtilization },
});

/** Removes keys whose value is undefined, at every level, because a decoded object has none. */
function defined(value: Part): Part {
  return JSON.parse(JSON.stringify(value));
}
