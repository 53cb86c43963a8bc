/**
 * PriorityClass: the priority of pods.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/scheduling/validation/validation.go`, `k8s.io/kubernetes@v1.36.0/pkg/registry/scheduling/priorityclass`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { flag, integer, text } from "../column.ts";
import { checkImmutable } from "../fields.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const priorityClassColumns: readonly Column[] = [
  nameColumn,
  integer(
    "Value",
    "value represents the integer value of this priority class. This is the actual priority that pods receive when they have the name of this class in their pod spec.",
    ({ value }) => value ?? 0,
  ),
  flag(
    "Global-Default",
    "globalDefault specifies whether this PriorityClass should be considered as the default priority for pods that do not have any priority class. Only one PriorityClass can be marked as `globalDefault`. However, if more than one PriorityClasses exists with their `globalDefault` field set to true, the smallest value of such global default PriorityClasses will be used as the default priority.",
    ({ globalDefault }) => globalDefault ?? false,
  ),
  ageColumn,
  text(
    "PreemptionPolicy",
    "preemptionPolicy is the Policy for preempting pods with lower priority. One of Never, PreemptLowerPriority. Defaults to PreemptLowerPriority if unset.",
    ({ preemptionPolicy }) => preemptionPolicy ?? "",
  ),
];

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
