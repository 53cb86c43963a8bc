/**
 * PriorityClass: the priority of pods.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/scheduling/validation/validation.go`, `k8s.io/kubernetes@v1.36.0/pkg/registry/scheduling/priorityclass`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { strategy } from "../../catalog/strategy.ts";
import { checkImmutable } from "../fields.ts";
import { priorityClassColumns } from "./columns.ts";

const userValueMax = 1_000_000_000;
const systemPrefix = "system-";
const systemValues: ReadonlyMap<string, number> = new Map([
  ["system-node-critical", 2_000_001_000],
  ["system-cluster-critical", 2_000_000_000],
]);

/** The strategy of PriorityClass. */
export const priorityClass = strategy({
  columns: priorityClassColumns,
  isolatesStatus: false,
  setDefaults(object) {
    object.preemptionPolicy ??= "PreemptLowerPriority";
  },
  prepareForCreate(object) {
    object.metadata.generation = 1; // It never changes.
  },
  validate(object, errors) {
    validateValue(object, errors);
    const { preemptionPolicy: policy } = object;
    const policies = ["PreemptLowerPriority", "Never"];
    if (policy === "") errors.required("preemptionPolicy");
    else if (policy !== undefined && !policies.includes(policy))
      errors.notSupported("preemptionPolicy", policy, policies);
  },
  validateUpdate(next, old, errors) {
    if ((next.value ?? 0) !== (old.value ?? 0)) errors.forbidden("value", "may not be changed in an update.");
    checkImmutable(next.preemptionPolicy, old.preemptionPolicy, "preemptionPolicy", errors);
  },
});

function validateValue({ metadata, value = 0, globalDefault = false }: KubeObject, errors: FieldErrors): void {
  const { name = "" } = metadata;
  if (name.startsWith(systemPrefix)) {
    const problem = systemClassProblem(name, value, globalDefault);
    if (problem === undefined) return;
    errors.forbidden(
      "metadata.name",
      `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${problem}`,
    );
  } else if (value > userValueMax)
    errors.forbidden("value", `maximum allowed value of a user defined priority is ${userValueMax}`);
}

function systemClassProblem(name: string, value: number, globalDefault: boolean): string | undefined {
  const known = systemValues.get(name);
  if (known === undefined) return `${name} is not a known system priority class`;
  if (value !== known) return `value of ${name} PriorityClass must be ${known}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}
