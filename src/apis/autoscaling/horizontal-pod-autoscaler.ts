/** HorizontalPodAutoscaler, stored as autoscaling/v2. */
import type { FieldErrors } from "../../api/field-errors.ts";
import type { KubeObject } from "../../api/object.ts";
import { strategy } from "../../resource/strategy.ts";
import { items, type Part, setAbsent, struct } from "../fields.ts";

/** What is aimed at when nobody says. */
const defaultCpuUtilization = 80;

export const horizontalPodAutoscaler = strategy({
  setDefaults(object) {
    const spec = struct(object, "spec");
    setAbsent(spec, { minReplicas: 1 });
    if (items(spec.metrics).length === 0) spec.metrics = [cpuMetric(defaultCpuUtilization)];
    if (spec.behavior) setBehaviorDefaults(spec.behavior);
  },
  prepareForCreate(object) {
    delete object.status;
  },
  validate,
  validateUpdate: (next, _old, errors) => validate(next, errors),
});

export function cpuMetric(averageUtilization: number): Part {
  return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } };
}

function setBehaviorDefaults(behavior: Part): void {
  const upPolicies = [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ];
  setAbsent(struct(behavior, "scaleUp"), { stabilizationWindowSeconds: 0, selectPolicy: "Max", policies: upPolicies });
  setAbsent(struct(behavior, "scaleDown"), { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] });
}

function validate({ spec }: KubeObject, errors: FieldErrors): void {
  if (spec.minReplicas < 1) errors.invalid("spec.minReplicas", spec.minReplicas, "must be greater than or equal to 1");
  const { maxReplicas = 0 } = spec;
  if (maxReplicas < 1) errors.invalid("spec.maxReplicas", maxReplicas, "must be greater than 0");
  if (maxReplicas < spec.minReplicas) errors.invalid("spec.maxReplicas", maxReplicas, "must be greater than or equal to `minReplicas`");
  for (const field of ["kind", "name"]) {
    if ((spec.scaleTargetRef?.[field] ?? "") === "") errors.required(`spec.scaleTargetRef.${field}`);
  }
}
