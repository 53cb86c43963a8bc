/**
 * Validation of pod updates: few fields of the spec are mutable.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { goForm, goForms } from "../../../catalog/go-form.ts";
import { deepEqual } from "../../../lib/json/values.ts";
import { items, type Part } from "../../fields.ts";
import { checkImagePadding } from "./container.ts";
import type { PodOptions } from "./options.ts";
import { samePart } from "./same-part.ts";
import { specDiff } from "./spec-diff.ts";
import { validateAddedTolerations } from "./tolerations.ts";
import { validateChangedPod } from "./validate-pod.ts";

const int32Max = 2 ** 31 - 1;

export function validatePodUpdate(next: KubeObject, old: KubeObject, options: PodOptions, errors: FieldErrors): void {
  validateChangedPod(next, old, options, errors);
  for (const list of ["containers", "initContainers"]) {
    if (items(next.spec[list]).length !== items(old.spec[list]).length) {
      return errors.forbidden(`spec.${list}`, "pod updates may not add or remove containers");
    }
    for (const [index, container] of items(next.spec[list]).entries()) {
      const at = `spec.${list}[${index}]`;
      if (!container.image) errors.required(`${at}.image`);
      checkImagePadding(container, at, errors);
    }
  }
  if (!validateDeadline(next.spec.activeDeadlineSeconds, old.spec.activeDeadlineSeconds, errors)) return;
  validateAddedTolerations(next.spec.tolerations, old.spec.tolerations, "spec.tolerations", options, errors);
  validateRemovedGates(next.spec.schedulingGates, old.spec.schedulingGates, "spec.schedulingGates", errors);
  if (!samePart("PodSpec", next.spec, old.spec)) validateImmutableFields(next.spec, old.spec, errors);
}

/** The deadline can be set and reduced. @returns whether validation continues */
function validateDeadline(next: number | undefined, old: number | undefined, errors: FieldErrors): boolean {
  const path = "spec.activeDeadlineSeconds";
  if (next === undefined) {
    if (old !== undefined) errors.invalid(path, null, "must not update from a positive integer to nil value");
    return true;
  }
  if (next < 0 || next > int32Max) errors.invalid(path, next, `must be between 0 and ${int32Max}, inclusive`);
  else if (old !== undefined && old < next) errors.invalid(path, next, "must be less than or equal to previous value");
  else return true;
  return false;
}

function validateRemovedGates(next: unknown, old: unknown, path: string, errors: FieldErrors): void {
  const existing = new Set(items(old).map(({ name = "" }) => name));
  const lastIndexes = new Map(items(next).map(({ name = "" }, index) => [name, index]));
  for (const [name, index] of lastIndexes) {
    if (!existing.has(name))
      errors.forbidden(`${path}[${index}].name`, `only deletion is allowed, but found new scheduling gate '${name}'`);
  }
}

const changeable = [
  "`spec.containers[*].image`",
  "`spec.initContainers[*].image`",
  "`spec.activeDeadlineSeconds`",
  "`spec.tolerations` (only additions to existing tolerations)",
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
].join(",");

function validateImmutableFields(next: Part, old: Part, errors: FieldErrors): void {
  const rest = withOldMutableFields(next, old);
  if (items(old.schedulingGates).length > 0) restorePlacement(rest, old, errors);
  if (samePart("PodSpec", rest, old)) return;
  errors.forbidden(
    "spec",
    `pod updates may not change fields other than ${changeable}\n${specDiff("PodSpec", old, rest)}`,
  );
}

/** @returns the new spec with the old values of mutable fields */
function withOldMutableFields(next: Part, old: Part): Part {
  const becomesOne = Number(old.terminationGracePeriodSeconds) < 0 && next.terminationGracePeriodSeconds === 1;
  const withImages = (list: string): Part[] | undefined =>
    next[list] &&
    items(next[list]).map((container, index) => ({ ...container, image: items(old[list])[index]?.image }));
  return {
    ...next,
    containers: withImages("containers"),
    initContainers: withImages("initContainers"),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    schedulingGates: old.schedulingGates,
    tolerations: old.tolerations,
    terminationGracePeriodSeconds: becomesOne ? old.terminationGracePeriodSeconds : next.terminationGracePeriodSeconds,
  };
}

/** While a pod has scheduling gates, its node selector and node affinity can be narrowed. */
function restorePlacement(rest: Part, old: Part, errors: FieldErrors): void {
  if (!deepEqual(rest.nodeSelector, old.nodeSelector)) {
    validateAddedLabels(rest.nodeSelector, old.nodeSelector ?? {}, "spec.nodeSelector", errors);
    rest.nodeSelector = old.nodeSelector;
  }
  const [now, before] = [rest.affinity?.nodeAffinity, old.affinity?.nodeAffinity];
  if (sameAffinity(now, before)) return;
  validateNarrowedAffinity(now, before, "spec.affinity.nodeAffinity", errors);
  const isOnlyNodes = rest.affinity?.podAffinity === undefined && rest.affinity?.podAntiAffinity === undefined;
  if (rest.affinity === undefined || !(isOnlyNodes && old.affinity === undefined))
    rest.affinity = { ...rest.affinity, nodeAffinity: before };
  else delete rest.affinity;
}

const sameAffinity = (a: Part | undefined, b: Part | undefined): boolean =>
  (a === undefined) === (b === undefined) && deepEqual(a, b);

function validateAddedLabels(next: Part | undefined, old: Part, path: string, errors: FieldErrors): void {
  const isKept = ([key, value]: [string, string]): boolean =>
    next !== undefined && Object.hasOwn(next, key) && next[key] === value;
  if (Object.entries<string>(old).every(isKept)) return;
  const shown =
    next === undefined ? null : Object.fromEntries(Object.entries(next).sort(([a], [b]) => (a < b ? -1 : 1)));
  errors.invalid(path, shown, "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
}

const required = "requiredDuringSchedulingIgnoredDuringExecution";

function validateNarrowedAffinity(
  next: Part | undefined,
  old: Part | undefined,
  path: string,
  errors: FieldErrors,
): void {
  if (old?.[required] === undefined) return;
  const before = items(old[required].nodeSelectorTerms);
  const now = items(next?.[required]?.nodeSelectorTerms);
  const at = `${path}.${required}.nodeSelectorTerms`;
  if (before.length > 0 && before.length !== now.length) {
    const shown = goForms("NodeSelectorTerm", next?.[required]?.nodeSelectorTerms);
    return errors.invalid(at, shown, "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
  }
  for (const [index, term] of before.entries()) {
    const candidate = now[index] ?? {};
    if (!narrows(candidate, term)) {
      errors.invalid(
        `${at}[${index}]`,
        goForm("NodeSelectorTerm", candidate),
        "only additions are allowed (no mutations or deletions)",
      );
    }
  }
}

/** An empty term matches no node, so it must stay empty. */
function narrows(next: Part, old: Part): boolean {
  const lists = ["matchExpressions", "matchFields"];
  const isEmpty = (term: Part): boolean => lists.every((list) => items(term[list]).length === 0);
  if (isEmpty(old)) return isEmpty(next);
  return lists.every((list) => {
    const before = items(old[list]);
    return items(next[list]).length >= before.length && deepEqual(items(next[list]).slice(0, before.length), before);
  });
}
