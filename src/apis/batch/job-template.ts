/**
 * Validates updates of a Job's pod template: while the job is suspended, scheduling directives and
 * container resources may change; in earlier releases only the directives, before the job has started.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/batch/validation/validation.go
 */
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { equalGoForms } from "../../catalog/go-equality.ts";
import { goForm } from "../../catalog/go-form.ts";
import { identical } from "../../lib/json/values.ts";
import { items, type Part } from "../fields.ts";
import { metadataInGo } from "../go-metadata.ts";
import { conditionsOf } from "./job-status.ts";

export function checkTemplateUnchanged(
  next: KubeObject,
  old: KubeObject,
  gates: FeatureGates,
  errors: FieldErrors,
): void {
  const [template, before] = [next.spec.template ?? {}, old.spec.template ?? {}];
  if (identical(template, before)) return;
  const mutable = mutableParts(old, gates);
  if (mutable.placement || mutable.resources)
    return checkSpecUnchanged(template.spec ?? {}, before.spec ?? {}, mutable, errors);
  const shown = templateInGo(template);
  if (!equalGoForms(shown, templateInGo(before))) errors.invalid("spec.template", shown, "field is immutable");
}

/** What may change. */
interface Mutable {
  readonly placement: boolean;
  readonly resources: boolean;
}

function mutableParts(old: KubeObject, { enabled }: FeatureGates): Mutable {
  const isSuspended = old.spec.suspend === true;
  const isStopped = isSuspended && conditionsOf(old).suspended && (old.status?.active ?? 0) === 0;
  return {
    placement: enabled("MutableSchedulingDirectivesForSuspendedJobs")
      ? isStopped
      : isSuspended && !old.status?.startTime,
    resources: enabled("MutablePodResourcesForSuspendedJobs") && isStopped,
  };
}

function checkSpecUnchanged(next: Part, old: Part, mutable: Mutable, errors: FieldErrors): void {
  const shown = goForm("PodSpec", next);
  const placed = mutable.placement ? withPlacement(old, next) : old;
  const allowed = goForm("PodSpec", mutable.resources ? withResources(placed, next) : placed);
  if (!equalGoForms(shown, allowed)) errors.invalid("spec.template.spec", shown, "field is immutable");
}

const templateInGo = ({ metadata, spec }: Part): Part => ({ ...metadataInGo(metadata), Spec: goForm("PodSpec", spec) });

/** The old spec with the new scheduling directives. */
function withPlacement(old: Part, next: Part): Part {
  const { nodeSelector, tolerations, schedulingGates } = next;
  return {
    ...old,
    nodeSelector,
    tolerations,
    schedulingGates,
    affinity: withNodeAffinity(old.affinity, next.affinity),
  };
}

function withNodeAffinity(old: Part | undefined, next: Part | undefined): Part | undefined {
  if (next) return { ...old, nodeAffinity: next.nodeAffinity };
  const { nodeAffinity: _, ...rest } = old ?? {};
  return Object.keys(rest).length === 0 ? undefined : rest;
}

/** The old spec with the resources of the new containers that have the same names. */
function withResources(old: Part, next: Part): Part {
  return {
    ...old,
    containers: withResourcesOf(items(old.containers), items(next.containers)),
    initContainers: withResourcesOf(items(old.initContainers), items(next.initContainers)),
  };
}

function withResourcesOf(old: readonly Part[], next: readonly Part[]): readonly Part[] {
  if (old.length !== next.length) return old;
  return old.map((container, index) =>
    container.name === next[index]?.name ? { ...container, resources: next[index]?.resources } : container,
  );
}
