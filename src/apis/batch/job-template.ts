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
  const { placement, resources } = mutableParts(old, gates);
  const allowed = placement ? withPlacement(before, template) : before;
  if (resources) return checkSpecUnchanged(template.spec ?? {}, allowed.spec ?? {}, errors);
  const shown = templateInGo(template);
  if (!equalGoForms(shown, templateInGo(allowed))) errors.invalid("spec.template", shown, "field is immutable");
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

/** Only resources may differ. */
function checkSpecUnchanged(next: Part, old: Part, errors: FieldErrors): void {
  const shown = goForm("PodSpec", next);
  const allowed = goForm("PodSpec", withResources(old, next));
  if (!equalGoForms(shown, allowed)) errors.invalid("spec.template.spec", shown, "field is immutable");
}

const templateInGo = ({ metadata, spec }: Part): Part => ({ ...metadataInGo(metadata), Spec: goForm("PodSpec", spec) });

/** The old template with the new labels, annotations and scheduling directives. */
function withPlacement(old: Part, next: Part): Part {
  const { nodeSelector, tolerations, schedulingGates, affinity } = next.spec ?? {};
  const { labels, annotations } = next.metadata ?? {};
  return {
    metadata: { ...old.metadata, labels, annotations },
    spec: {
      ...old.spec,
      nodeSelector,
      tolerations,
      schedulingGates,
      affinity: withNodeAffinity(old.spec?.affinity, affinity),
    },
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
