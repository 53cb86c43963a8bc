/** What may change of the pods of a job that is there: where they run, and what they ask for, while it is suspended. Source: upstream's batch validation. */
import type { FieldErrors } from "../../api/field-errors.ts";
import type { KubeObject } from "../../api/object.ts";
import { identical, isObject } from "../../lib/json/values.ts";
import { goForm } from "../../resource/go-form.ts";
import { items, type Part } from "../fields.ts";
import { byName } from "../label-selector.ts";
import { conditionsOf } from "./job-status.ts";

export function checkTemplateUnchanged(next: KubeObject, old: KubeObject, errors: FieldErrors): void {
  const [template, before] = [next.spec.template ?? {}, old.spec.template ?? {}];
  if (identical(template, before)) return;
  const rests = old.spec.suspend === true && conditionsOf(old).suspended && (old.status?.active ?? 0) === 0;
  if (rests) return checkSpecUnchanged(template.spec ?? {}, before.spec ?? {}, errors);
  const shown = templateInGo(template);
  if (!isSameForm(shown, templateInGo(before))) errors.invalid("spec.template", shown, "field is immutable");
}

function checkSpecUnchanged(next: Part, old: Part, errors: FieldErrors): void {
  const shown = goForm("PodSpec", next);
  const allowed = goForm("PodSpec", withResources(withPlacement(old, next), next));
  if (!isSameForm(shown, allowed)) errors.invalid("spec.template.spec", shown, "field is immutable");
}

/** Upstream's equality of what is printed in Go's form: what is absent is the same as a list or map without items, not as a struct. */
function isSameForm(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a === null || b === null) return isWithoutItems(a ?? b);
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => isSameForm(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => Object.hasOwn(a, key) && Object.hasOwn(b, key) && isSameForm(a[key], b[key]));
}

const isWithoutItems = (value: unknown): boolean => typeof value === "object" && value !== null && Object.keys(value).length === 0;

const metaFields = [
  ...["name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp"],
  ...["deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers", "managedFields"],
];

/** As Go's internal type is printed: metadata has the names of JSON, and is left out where nothing is set. */
function templateInGo({ metadata = {}, spec }: Part): Part {
  const shown: Part = {};
  for (const field of metaFields) {
    const value = metadata[field];
    if (value === undefined || value === null || value === "" || value === 0 || isWithoutItems(value)) continue;
    shown[field] = isObject(value) ? byName(value) : value;
  }
  return { ...shown, Spec: goForm("PodSpec", spec) };
}

/** The old spec with the new one's places to run. */
function withPlacement(old: Part, next: Part): Part {
  const { nodeSelector, tolerations, schedulingGates } = next;
  return { ...old, nodeSelector, tolerations, schedulingGates, affinity: withNodeAffinity(old.affinity, next.affinity) };
}

function withNodeAffinity(old: Part | undefined, next: Part | undefined): Part | undefined {
  if (next) return { ...old, nodeAffinity: next.nodeAffinity };
  const { nodeAffinity: _, ...rest } = old ?? {};
  return Object.keys(rest).length === 0 ? undefined : rest;
}

/** The old spec with what the new one's containers of the same names ask for. */
function withResources(old: Part, next: Part): Part {
  return {
    ...old,
    containers: withResourcesOf(items(old.containers), items(next.containers)),
    initContainers: withResourcesOf(items(old.initContainers), items(next.initContainers)),
  };
}

function withResourcesOf(old: readonly Part[], next: readonly Part[]): readonly Part[] {
  if (old.length !== next.length) return old;
  return old.map((container, index) => (container.name === next[index]?.name ? { ...container, resources: next[index]?.resources } : container));
}
