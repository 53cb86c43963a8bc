/**
 * Rules that workloads share: a required, immutable selector that matches the template; counts in
 * the status.
 */
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

/** A workload of which nothing is set. */
export const blankReplicated = (): KubeObject => ({ metadata: {}, spec: { replicas: 0 } });

/** Sets the labels of a template as those of an object without labels. */
export function takeTemplateLabels({ metadata, spec }: KubeObject): void {
  const labels = spec.template?.metadata?.labels;
  if (labels && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
}

/** How one kind differs from the shared rules. */
interface WorkloadRules {
  /** The name of the kind in the error about an empty selector, such as `deployment`. */
  readonly noun: string;
  /** A further error about an invalid selector. */
  readonly unusableText: string;
  /** The name of the kind in the error about a template with a deadline, such as `ReplicaSet`. */
  readonly templateNoun: string;
}

/**
 * Reports the problems of `spec.selector`.
 * @returns whether it is valid; upstream does not validate the template otherwise
 */
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

/** Reports a template that the selector does not match. An absent selector matches nothing. */
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

/** Validates the fields that Deployments and ReplicaSets share. */
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

/** Requires restartPolicy Always, for workloads that run forever. */
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

/** Validates the metadata of a template. Upstream does so twice for StatefulSets. */
export function validateTemplateMeta({ metadata }: Part, path: string, errors: FieldErrors): void {
  validateLabels(metadata?.labels, `${path}.labels`, errors);
  validateAnnotations(metadata?.annotations, `${path}.annotations`, errors);
}

/** Reports a changed selector. */
export function checkSelectorUnchanged(next: KubeObject, old: KubeObject, errors: FieldErrors): void {
  const { selector } = next.spec;
  if (!deepEqual(selector, old.spec.selector))
    errors.invalid("spec.selector", selector ? shownSelector(selector) : null, "field is immutable");
}

/**
 * Reports negative counts.
 * @param fields in the order of their errors; absent fields count as 0
 */
export function checkCounts(part: Part, path: string, fields: readonly string[], errors: FieldErrors): void {
  for (const field of fields) checkNonNegative(part[field], `${path}.${field}`, errors);
}

/**
 * Reports counts that exceed another one.
 * @param fields none may exceed the field `of`
 */
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

/** Reports a collision count that decreases. */
export function checkCollisionCount(next: KubeObject, old: KubeObject, errors: FieldErrors): void {
  const count = next.status?.collisionCount ?? 0;
  const before = old.status?.collisionCount ?? undefined;
  if (before !== undefined && (isAbsent(next.status?.collisionCount) || count < before)) {
    errors.invalid("status.collisionCount", count, "cannot be decremented");
  }
}

/**
 * Warns about names that are not valid host names. On creation only, because names never change.
 */
export function podNameWarnings({ metadata: { name = "" } }: KubeObject, old: KubeObject | undefined): string[] {
  const problems = old === undefined ? dnsLabelProblems(name) : [];
  if (problems.length === 0) return [];
  return [
    `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${problems.join(" ")}]`,
  ];
}

/** Adds warnings about the template, when anything has changed. */
export function replicatedWarnings(object: KubeObject, old: KubeObject | undefined): string[] {
  return [...podNameWarnings(object, old), ...changedTemplateWarnings(object, old)];
}

/** Warnings about a pod template, when the object has changed. */
export function changedTemplateWarnings({ metadata, spec }: KubeObject, old: KubeObject | undefined): string[] {
  return metadata.generation === old?.metadata.generation ? [] : templateWarnings(spec.template, "spec.template");
}
