/**
 * Validates the metrics of an autoscaler and the objects it refers to.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/autoscaling/validation/validation.go
 */
import { type FieldErrors, typedText } from "../../apimachinery/field-errors.ts";
import { parseGroupVersion } from "../../apimachinery/object.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { dnsLabelProblems, pathSegmentNameProblems } from "../../lib/names/names.ts";
import { validateContainerResourceName } from "../core/pod/resources.ts";
import type { Part } from "../fields.ts";

export interface ReferenceRules {
  /** The apiVersion is not validated. */
  readonly anyVersion?: boolean;
  /** The apiVersion may have no group. */
  readonly emptyGroup?: boolean;
}

/** Validates a CrossVersionObjectReference. */
export function validateReference(
  { kind = "", name = "", apiVersion = "" }: Part,
  rules: ReferenceRules,
  path: string,
  errors: FieldErrors,
): void {
  validateSegment(kind, `${path}.kind`, "", errors);
  validateSegment(name, `${path}.name`, "", errors);
  const problem = rules.anyVersion === true ? undefined : referenceVersionProblem(apiVersion, rules);
  if (problem !== undefined) errors.invalid(`${path}.apiVersion`, apiVersion, problem);
}

function validateSegment(value: string, path: string, missing: string, errors: FieldErrors): void {
  if (value === "") errors.required(path, missing);
  else addInvalid(errors, path, value, pathSegmentNameProblems(value));
}

export function referenceVersionProblem(
  apiVersion: string,
  { emptyGroup = false }: ReferenceRules,
): string | undefined {
  if (apiVersion.split("/").length > 2) return `unexpected GroupVersion string: ${apiVersion}`;
  const group = parseGroupVersion(apiVersion)?.group ?? "";
  return group === "" && !emptyGroup ? "apiVersion must specify API group" : undefined;
}

/** @param minReplicas 0 requires a metric that can be measured without pods */
export function validateMetrics(
  metrics: readonly Part[],
  rules: ReferenceRules,
  minReplicas: number,
  errors: FieldErrors,
): void {
  for (const [index, metric] of metrics.entries()) validateMetric(metric, rules, `spec.metrics[${index}]`, errors);
  if (minReplicas === 0 && !metrics.some(({ type }) => type === "Object" || type === "External")) {
    errors.forbidden(
      "spec.metrics",
      "must specify at least one Object or External metric to support scaling to zero replicas",
    );
  }
}

const fieldOf: Readonly<Record<string, string>> = {
  Object: "object",
  External: "external",
  Pods: "pods",
  Resource: "resource",
  ContainerResource: "containerResource",
};
const types = ["ContainerResource", "External", "Object", "Pods", "Resource"];

/** If a metric has several sources, only the first is validated. */
function validateMetric(metric: Part, rules: ReferenceRules, path: string, errors: FieldErrors): void {
  const { type = "" } = metric;
  const isKnown = types.includes(type);
  if (type === "") errors.required(`${path}.type`, "must specify a metric source type");
  if (!isKnown) errors.notSupported(`${path}.type`, type, types);
  const present = Object.values(fieldOf).filter((field) => metric[field]);
  const [first] = present;
  if (first !== undefined) validateSource(first, metric[first], rules, `${path}.${first}`, errors);
  const expected = isKnown ? (fieldOf[type] as string) : "";
  if (!isKnown) errors.notSupported(`${path}.type`, type, types);
  else if (!metric[expected])
    errors.required(`${path}.${expected}`, "must populate information for the given metric source");
  if (present.length === 1) return;
  for (const field of present)
    if (field !== expected) errors.forbidden(`${path}.${field}`, "must populate the given metric source only");
}

function validateSource(field: string, source: Part, rules: ReferenceRules, path: string, errors: FieldErrors): void {
  switch (field) {
    case "object":
      validateReference(source.describedObject ?? {}, rules, `${path}.describedObject`, errors);
      return validateMeasured(
        source,
        { missing: "must set either a target value or averageValue", value: true },
        path,
        errors,
      );
    case "external":
      validateMeasured(
        source,
        { missing: "must set either a target value for metric or a per-pod target", value: true },
        path,
        errors,
      );
      if (source.target?.value && source.target.averageValue) {
        errors.forbidden(`${path}.target.value`, "may not set both a target value for metric and a per-pod target");
      }
      return;
    case "pods":
      return validateMeasured(
        source,
        { missing: "must specify a positive target averageValue", value: false },
        path,
        errors,
      );
    case "containerResource":
      validateResource(source, path, errors, () => validateContainer(source, path, errors));
      return;
    default:
      validateResource(source, path, errors, () => {});
  }
}

/**
 * @param required `missing` is the message for an absent target; `value` allows `target.value`
 *   instead of an average
 */
function validateMeasured(
  { metric, target = {} }: Part,
  required: { missing: string; value: boolean },
  path: string,
  errors: FieldErrors,
): void {
  validateSegment(metric?.name ?? "", `${path}.metric.name`, "must specify a metric name", errors);
  validateTarget(target, `${path}.target`, errors);
  if (!target.averageValue && !(required.value && target.value))
    errors.required(`${path}.target.averageValue`, required.missing);
}

function validateResource(
  { name = "", target = {} }: Part,
  path: string,
  errors: FieldErrors,
  validateOwn: () => void,
): void {
  if (name === "") errors.required(`${path}.name`, "must specify a resource name");
  validateOwn();
  validateTarget(target, `${path}.target`, errors);
  const hasUtilization = target.averageUtilization !== undefined;
  if (!hasUtilization && !target.averageValue) {
    errors.required(`${path}.target.averageUtilization`, "must set either a target raw value or a target utilization");
  }
  if (hasUtilization && target.averageValue)
    errors.forbidden(`${path}.target.averageValue`, "may not set both a target raw value and a target utilization");
}

function validateContainer({ name = "", container = "" }: Part, path: string, errors: FieldErrors): void {
  if (name !== "") validateContainerResourceName(name, `${path}.name`, errors);
  if (container === "") errors.required(`${path}.container`, "must specify a container");
  else addInvalid(errors, `${path}.container`, container, dnsLabelProblems(container));
}

function validateTarget(
  { type = "", value, averageValue, averageUtilization }: Part,
  path: string,
  errors: FieldErrors,
): void {
  if (type === "") errors.required(`${path}.type`, "must specify a metric target type");
  if (type !== "Utilization" && type !== "Value" && type !== "AverageValue") {
    errors.invalid(`${path}.type`, typedText(type), "must be either Utilization, Value, or AverageValue");
  }
  checkPositive(value, `${path}.value`, errors);
  checkPositive(averageValue, `${path}.averageValue`, errors);
  if (averageUtilization < 1)
    errors.invalid(`${path}.averageUtilization`, averageUtilization, "must be greater than 0");
}

/** @param quantity in its canonical form */
function checkPositive(quantity: string | undefined, path: string, errors: FieldErrors): void {
  if (quantity?.startsWith("-") || quantity === "0") errors.invalid(path, quantity, "must be positive");
}
