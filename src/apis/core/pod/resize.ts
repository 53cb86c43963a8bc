/**
 * Validation of `/resize`: only cpu and memory are mutable.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { isMirrorPod } from "../../../apimachinery/pod-references.ts";
import { items, type Part } from "../../fields.ts";
import type { PodOptions } from "./options.ts";
import { qosClass } from "./qos-class.ts";
import { samePart } from "./same-part.ts";
import { validateChangedPod } from "./validate-pod.ts";
import { isSidecar } from "./visit-containers.ts";

const lists = ["containers", "initContainers"] as const;

export function validateResize(next: KubeObject, old: KubeObject, options: PodOptions, errors: FieldErrors): void {
  if (isMirrorPod(old)) return errors.forbidden("[]", "static pods cannot be resized");
  if (old.spec.os?.name === "windows") return errors.forbidden("[]", "windows pods cannot be resized");
  validateChangedPod(next, old, options, errors);
  const before = old.status?.qosClass || qosClass(old.spec, options.podResources);
  if (before !== qosClass(next.spec, options.podResources)) {
    errors.invalid("spec", next.status?.qosClass ?? "", "Pod QOS Class may not change as a result of resizing");
  }
  if (!canResize(old)) errors.forbidden("spec", "Pod running on node without support for resize");
  const rest: Part = { ...next.spec };
  if (hasAmounts(old.spec.resources) || hasAmounts(next.spec.resources))
    validatePodResize(rest, next, old, options, errors);
  if (items(old.status?.nodeAllocatableResourceClaimStatuses).length > 0) {
    errors.forbidden("spec", "pods with node allocatable resource claims cannot be resized");
  }
  if (!validateSameContainers(next.spec, old.spec, errors)) return;
  validateKeptResources(next.spec, old.spec, options, errors);
  validateContainerChanges(rest, old.spec, errors);
  validateInitChanges(rest, old.spec, options, errors);
  if (errors.empty && !samePart("PodSpec", rest, old.spec))
    errors.forbidden("spec", "only cpu and memory resources are mutable");
}

const hasAmounts = (resources: Part | undefined): boolean =>
  Object.keys(resources?.requests ?? {}).length + Object.keys(resources?.limits ?? {}).length > 0;

/** A kubelet that supports resize reports the resources of running containers. */
function canResize({ status }: KubeObject): boolean {
  const running = items(status?.containerStatuses).find(({ state }) => state?.running);
  return running === undefined || running.resources !== undefined;
}

/** @param rest receives the pod-level resources with the old cpu and memory */
function validatePodResize(
  rest: Part,
  next: KubeObject,
  old: KubeObject,
  { podResourcesResize }: PodOptions,
  errors: FieldErrors,
): void {
  if (!podResourcesResize) {
    const gate = "InPlacePodLevelResourcesVerticalScalingEnabled";
    return errors.forbidden(
      "[]",
      `resize of pods with pod-level resources is forbidden when ${gate} feature gate is disabled`,
    );
  }
  const [now, before] = [next.spec.resources, old.spec.resources];
  if (before !== undefined && now === undefined)
    return errors.forbidden("spec.resources", "pod-level resources cannot be removed");
  if (before !== undefined) {
    if (lacksEntries(now.requests, before.requests))
      errors.forbidden("spec.resources.requests", "pod-level resource requests cannot be removed");
    if (lacksEntries(now.limits, before.limits))
      errors.forbidden("spec.resources.limits", "pod-level resource limits cannot be removed");
  }
  rest.resources = now && keptResources(now, before);
  if (
    before === undefined &&
    rest.resources &&
    !hasAmounts(rest.resources) &&
    items(rest.resources.claims).length === 0
  )
    delete rest.resources;
  if (!samePart("ResourceRequirements", rest.resources, before)) {
    errors.forbidden("spec", "only cpu and memory resources are mutable at pod-level");
  }
}

const keptResources = (resources: Part, old: Part | undefined): Part => ({
  ...resources,
  requests: withOldAmounts(resources.requests, old?.requests),
  limits: withOldAmounts(resources.limits, old?.limits),
});

/** @returns the list with the old cpu and memory */
function withOldAmounts(list: Part | undefined, old: Part | undefined): Part | undefined {
  if (list === undefined && old === undefined) return undefined;
  const { cpu: _cpu, memory: _memory, ...others } = list ?? {};
  return {
    ...others,
    ...(old?.cpu !== undefined && { cpu: old.cpu }),
    ...(old?.memory !== undefined && { memory: old.memory }),
  };
}

function lacksEntries(list: Part | undefined, old: Part | undefined): boolean {
  const before = Object.keys(old ?? {});
  return before.length > Object.keys(list ?? {}).length || before.some((name) => !Object.hasOwn(list ?? {}, name));
}

function validateSameContainers(next: Part, old: Part, errors: FieldErrors): boolean {
  const count = errors.causes.length;
  for (const list of lists) {
    if (items(next[list]).length !== items(old[list]).length) {
      errors.forbidden(`spec.${list}`, `${list} may not be added or removed on resize`);
      continue;
    }
    for (const [index, { name }] of items(old[list]).entries()) {
      if (next[list][index].name !== name)
        errors.forbidden(`spec.${list}[${index}].name`, `${list} may not be renamed or reordered on resize`);
    }
  }
  return errors.causes.length === count;
}

function validateKeptResources(next: Part, old: Part, { initContainerResize }: PodOptions, errors: FieldErrors): void {
  for (const list of ["initContainers", "containers"]) {
    for (const [index, container] of items(old[list]).entries()) {
      if (list === "initContainers" && !initContainerResize && !isSidecar(container)) continue;
      const at = `spec.${list}[${index}].resources`;
      const now = next[list][index].resources;
      if (lacksEntries(now?.requests, container.resources?.requests))
        errors.forbidden(`${at}.requests`, "resource requests cannot be removed");
      if (lacksEntries(now?.limits, container.resources?.limits))
        errors.forbidden(`${at}.limits`, "resource limits cannot be removed");
    }
  }
}

/** @returns the container with the old cpu and memory and, like upstream, without claims */
function withOldResources(container: Part, old: Part): Part {
  const { requests, limits } = keptResources(container.resources ?? {}, old.resources);
  return { ...container, resources: { ...(requests && { requests }), ...(limits && { limits }) } };
}

function validateContainerChanges(rest: Part, old: Part, errors: FieldErrors): void {
  rest.containers = items(rest.containers).map((container, index) => {
    const kept = withOldResources(container, old.containers[index]);
    if (!samePart("Container", kept, old.containers[index]))
      errors.forbidden("spec", "only cpu and memory resources are mutable");
    return kept;
  });
}

function validateInitChanges(rest: Part, old: Part, { initContainerResize }: PodOptions, errors: FieldErrors): void {
  if (rest.initContainers === undefined) return;
  rest.initContainers = items(rest.initContainers).map((container, index) => {
    const before = old.initContainers[index];
    const isChanged = !samePart("Container", container, before);
    if (!isSidecar(container) && !initContainerResize) {
      if (isChanged) errors.forbidden("spec", "resources for non-sidecar init containers are immutable");
      return container;
    }
    const kept = withOldResources(container, before);
    const at = `spec.initContainers[${index}]`;
    if (!samePart("Container", kept, before))
      errors.forbidden(at, "only cpu and memory resources for init or sidecar containers are mutable");
    if (isChanged && !isSidecar(container)) {
      for (const { restartPolicy } of items(container.resizePolicy)) {
        if (restartPolicy !== "RestartContainer") continue;
        errors.forbidden(at, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized");
      }
    }
    return kept;
  });
}
