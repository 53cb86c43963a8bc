/**
 * `/ephemeralcontainers` and `/resize`: each changes one part of a pod and ignores other changes.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/registry/core/pod/strategy.go`.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { SubresourceRules } from "../../../catalog/strategy-contract.ts";
import { addIntegers, cloneJson } from "../../../lib/json/values.ts";
import { items, type Part } from "../../fields.ts";
import { validateEphemeralUpdate } from "./ephemeral-update.ts";
import { podOptions } from "./options.ts";
import { validateResize } from "./resize.ts";
import { samePart } from "./same-part.ts";

export const ephemeralContainers: SubresourceRules = {
  prepare(next, old) {
    const added = next.spec?.ephemeralContainers;
    restoreOld(next, old);
    if (added === undefined) delete next.spec.ephemeralContainers;
    else next.spec.ephemeralContainers = added;
    incrementGeneration(next, old);
  },
  validate(next, old, errors, context) {
    validateEphemeralUpdate(next, old, podOptions(context, old), errors);
  },
};

const lists = ["containers", "initContainers"] as const;

export const resize: SubresourceRules = {
  prepare(next, old, { gates }) {
    // Otherwise validation reports the added or removed containers.
    if (lists.every((list) => items(next.spec?.[list]).length === items(old.spec?.[list]).length)) {
      const { resources } = next.spec;
      const resized = lists.map((list) => resizedContainers(items(next.spec[list]), items(old.spec[list])));
      restoreOld(next, old);
      for (const [index, list] of lists.entries()) if (next.spec[list] !== undefined) next.spec[list] = resized[index];
      if (gates.enabled("InPlacePodLevelResourcesVerticalScaling")) setOrDelete(next.spec, "resources", resources);
    }
    incrementGeneration(next, old);
  },
  validate(next, old, errors, context) {
    validateResize(next, old, podOptions(context, old), errors);
  },
};

/** @returns the old containers with the new resources, or `next` if the names differ */
function resizedContainers(next: Part[], old: readonly Part[]): Part[] {
  if (next.some(({ name }, index) => name !== old[index]?.name)) return next;
  return next.map(({ resources, resizePolicy }, index) => {
    const container = cloneJson(old[index] as Part);
    setOrDelete(container, "resources", resources);
    setOrDelete(container, "resizePolicy", resizePolicy);
    return container;
  });
}

function setOrDelete(target: Part, field: string, value: unknown): void {
  if (value === undefined) delete target[field];
  else target[field] = value;
}

/** Restores everything that the subresource does not change. */
function restoreOld(next: KubeObject, old: KubeObject): void {
  for (const field of ["labels", "annotations", "ownerReferences", "finalizers", "selfLink"] as const)
    setOrDelete(next.metadata, field, old.metadata[field]);
  next.spec = cloneJson(old.spec ?? {});
  next.status = old.status;
}

function incrementGeneration(next: KubeObject, old: KubeObject): void {
  if (!samePart("PodSpec", next.spec, old.spec))
    next.metadata.generation = addIntegers(old.metadata.generation ?? 0, 1);
}
