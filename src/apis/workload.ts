/** Rules the workloads share: a selector that is required, fixed, and selects the template; counts of a status. */
import type { FieldErrors } from "../apimachinery/field-errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { validateAnnotations, validateLabels } from "../apimachinery/validation/metadata.ts";
import { deepEqual } from "../lib/json/values.ts";
import { dnsLabelProblems } from "../lib/names/names.ts";
import type { PodOptions } from "./core/pod/options.ts";
import { templateWarnings } from "./core/pod/warnings.ts";
import { validateTemplate } from "./core/pod/workload-template.ts";
import { checkNonNegative, type Part } from "./fields.ts";
import { byName, isEmptySelector, selects, shownSelector, validateLabelSelector } from "./label-selector.ts";

export interface WorkloadRules {
  /** The kind's word where its selector is empty, such as `deployment`. */
  readonly noun: string;
  /** What is said of a selector that cannot be used, besides what is wrong with it. */
  readonly unusableText: string;
  /** The kind's word where its template has a deadline, such as `ReplicaSet`. */
  readonly templateNoun: string;
}

/** @returns whether it can be used; upstream does not look at the template otherwise */
export function validateSelector({ spec }: KubeObject, rules: WorkloadRules, errors: FieldErrors): boolean {
  const { selector } = spec;
  if (isAbsent(selector)) {
    errors.required("spec.selector");
    return true;
  }
  const before = errors.causes.length;
  validateLabelSelector(selector, "spec.selector", errors);
  const isUsable = errors.causes.length === before;
  if (isEmptySelector(selector))
    errors.invalid("spec.selector", shownSelector(selector), `empty selector is invalid for ${rules.noun}`);
  if (!isUsable) errors.invalid("spec.selector", shownSelector(selector), rules.unusableText);
  return isUsable;
}

/** What is absent selects nothing. */
export function checkSelected({ spec }: KubeObject, errors: FieldErrors): void {
  const { selector, template } = spec;
  const labels = template?.metadata?.labels ?? null;
  if (isAbsent(selector) || !(isEmptySelector(selector) || selects(selector, labels ?? {}))) {
    errors.invalid(
      "spec.template.metadata.labels",
      labels && byName(labels),
      "`selector` does not match template `labels`",
    );
  }
}

const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

/** Of Deployments and ReplicaSets. */
export function validateReplicated(
  object: KubeObject,
  rules: WorkloadRules,
  options: PodOptions,
  errors: FieldErrors,
): void {
  if (!validateSelector(object, rules, errors)) return;
  checkSelected(object, errors);
  validateTemplate(object.spec.template ?? {}, "spec.template", errors, options);
  checkTemplateRuns(object, rules, errors);
}

/** Pods of workloads that never end are always restarted. */
export function checkTemplateRuns(
  { spec }: KubeObject,
  { templateNoun }: Pick<WorkloadRules, "templateNoun">,
  errors: FieldErrors,
): void {
  const { restartPolicy = "", activeDeadlineSeconds } = spec.template?.spec ?? {};
  const path = "spec.template.spec";
  if (restartPolicy !== "Always") errors.notSupported(`${path}.restartPolicy`, restartPolicy, ["Always"]);
  if (!isAbsent(activeDeadlineSeconds)) {
    errors.forbidden(`${path}.activeDeadlineSeconds`, `activeDeadlineSeconds in ${templateNoun} is not Supported`);
  }
}

/** Upstream looks at these twice for StatefulSets. */
export function validateTemplateMeta({ metadata }: Part, path: string, errors: FieldErrors): void {
  validateLabels(metadata?.labels, `${path}.labels`, errors);
  validateAnnotations(metadata?.annotations, `${path}.annotations`, errors);
}

export function checkSelectorUnchanged(next: KubeObject, old: KubeObject, errors: FieldErrors): void {
  const { selector } = next.spec;
  if (!deepEqual(selector, old.spec.selector))
    errors.invalid("spec.selector", selector ? shownSelector(selector) : null, "field is immutable");
}

/** @param fields in the order they are told; those that are absent count as 0 */
export function checkCounts(part: Part, path: string, fields: readonly string[], errors: FieldErrors): void {
  for (const field of fields) checkNonNegative(part[field], `${path}.${field}`, errors);
}

/** @param fields none of which may be above the field `of` */
export function checkAtMost(
  part: Part,
  path: string,
  { fields, of, name }: { fields: readonly string[]; of: string; name: string },
  errors: FieldErrors,
): void {
  for (const field of fields) {
    if ((part[field] ?? 0) > (part[of] ?? 0))
      errors.invalid(`${path}.${field}`, part[field] ?? 0, `cannot be greater than ${name}`);
  }
}

/** How often names collided; it only grows. */
export function checkCollisionCount(next: KubeObject, old: KubeObject, errors: FieldErrors): void {
  const count = next.status?.collisionCount ?? 0;
  const before = old.status?.collisionCount ?? undefined;
  if (before !== undefined && (isAbsent(next.status?.collisionCount) || count < before)) {
    errors.invalid("status.collisionCount", count, "cannot be decremented");
  }
}

/** Told on creation alone: names stay. */
export function podNameWarnings({ metadata: { name = "" } }: KubeObject, old: KubeObject | undefined): string[] {
  const problems = old === undefined ? dnsLabelProblems(name) : [];
  if (problems.length === 0) return [];
  return [
    `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${problems.join(" ")}]`,
  ];
}

/** The same, and of the template where anything changed. */
export function replicatedWarnings(object: KubeObject, old: KubeObject | undefined): string[] {
  return [...podNameWarnings(object, old), ...changedTemplateWarnings(object, old)];
}

export function changedTemplateWarnings({ metadata, spec }: KubeObject, old: KubeObject | undefined): string[] {
  return metadata.generation === old?.metadata.generation ? [] : templateWarnings(spec.template, "spec.template");
}
