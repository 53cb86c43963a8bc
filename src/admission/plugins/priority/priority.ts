/**
 * The plugin Priority gives new pods the priority of their PriorityClass, and allows one default
 * PriorityClass at most.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/priority/admission.go.
 */
import { struct } from "../../../apis/fields.ts";
import type { Catalog } from "../../../catalog/contract.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../../contract.ts";
import { rejection } from "../../rejection.ts";
import { type PriorityClass, type PriorityClasses, priorityClasses } from "./classes.ts";

const group = "scheduling.k8s.io";

/** What the plugin uses of the server. */
interface PriorityNeeds {
  readonly catalog: Pick<Catalog, "findResource" | "generation">;
  /** Whether a feature gate is on. */
  enabled(gate: string): boolean;
}

type Step = (attributes: AdmissionAttributes, classes: PriorityClasses) => void;

/** @returns the plugin Priority */
export function priority({ catalog, enabled }: PriorityNeeds): AdmissionPlugin {
  const classesOf = priorityClasses(catalog);
  const prioritizesGroups = enabled("WorkloadAwarePreemption");
  const withClasses = async (attributes: AdmissionAttributes, step: Step): Promise<void> =>
    step(attributes, await classesOf());
  return {
    name: "Priority",
    mutate(attributes) {
      if (attributes.subresource !== "") return;
      const { operation, target } = attributes;
      const { definition } = target.resource;
      if (definition.resource === "pods" && definition.group === "") {
        if (operation === "CREATE") return withClasses(attributes, setPodPriority);
        if (operation === "UPDATE") keepPodPriority(attributes);
      } else if (definition.resource === "podgroups" && definition.group === group && prioritizesGroups) {
        if (operation === "CREATE") return withClasses(attributes, setGroupPriority);
      }
    },
    validate(attributes) {
      const { definition } = attributes.target.resource;
      if (definition.resource !== "priorityclasses" || definition.group !== group || attributes.subresource !== "")
        return;
      if (attributes.object?.globalDefault === true) return withClasses(attributes, checkOnlyDefault);
    },
  };
}

/** Pods without a class get these values if no class is the default. */
const noClass: PriorityClass = { name: "", value: 0, preemptionPolicy: "PreemptLowerPriority", isDefault: false };

/** @throws ApiError 403 if the class does not exist */
function classFor(attributes: AdmissionAttributes, { byName, byDefault }: PriorityClasses): PriorityClass {
  const name: string = attributes.object?.spec?.priorityClassName ?? "";
  if (name === "") return byDefault ?? noClass;
  const found = byName.get(name);
  if (found === undefined) throw rejection(attributes, `no PriorityClass with name ${name} was found`);
  return found;
}

function setPodPriority(attributes: AdmissionAttributes, classes: PriorityClasses): void {
  if (attributes.object === undefined) return;
  const spec = struct(attributes.object, "spec");
  const { name, value, preemptionPolicy } = classFor(attributes, classes);
  if (spec.priority !== undefined && spec.priority !== value) {
    const why = `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`;
    throw rejection(attributes, why);
  }
  if (name !== "") spec.priorityClassName = name;
  spec.priority = value;
  if (preemptionPolicy === undefined) return;
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
    const why = `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`;
    throw rejection(attributes, why);
  }
  spec.preemptionPolicy = preemptionPolicy;
}

/** So that clients can replace pods without the fields that the plugin has set. */
function keepPodPriority({ object, oldObject }: AdmissionAttributes): void {
  for (const field of ["priority", "preemptionPolicy"]) {
    const old = oldObject?.spec?.[field];
    if (old !== undefined && object?.spec !== undefined) object.spec[field] ??= old;
  }
}

function setGroupPriority(attributes: AdmissionAttributes, classes: PriorityClasses): void {
  if (attributes.object === undefined) return;
  const spec = struct(attributes.object, "spec");
  const { name, value } = classFor(attributes, classes);
  if (spec.priority !== undefined && spec.priority !== value) {
    const why = `priority set in the pod group (${spec.priority}) must match the priority computed (${value}) based on the priority class set in the spec`;
    throw rejection(attributes, why);
  }
  spec.priority = value;
  if (name !== "") spec.priorityClassName = name;
}

function checkOnlyDefault(attributes: AdmissionAttributes, { byDefault }: PriorityClasses): void {
  if (byDefault === undefined) return;
  if (attributes.operation === "UPDATE" && byDefault.name === attributes.object?.metadata.name) return;
  const why = `PriorityClass ${byDefault.name} is already marked as default. Only one default can exist`;
  throw rejection(attributes, why);
}
