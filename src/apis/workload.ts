/** Rules the workloads share: a selector that is required, fixed, and selects the template. */
import type { FieldErrors } from "../api/field-errors.ts";
import type { KubeObject } from "../api/object.ts";
import { validateTemplate } from "./core/pod-template.ts";
import { checkImmutable, checkNonNegative } from "./fields.ts";
import { isEmptySelector, selects, validateLabelSelector } from "./label-selector.ts";

export interface WorkloadRules {
  /** The kind's word in messages, such as `deployment`. */
  readonly noun: string;
  /** Its absence is not told by itself then: a selector that is absent selects nothing, the template neither. */
  readonly selectorMayBeAbsent?: boolean;
}

export function validateWorkload(object: KubeObject, { noun, selectorMayBeAbsent = false }: WorkloadRules, errors: FieldErrors): void {
  const { spec } = object;
  checkNonNegative(spec.replicas, "spec.replicas", errors);
  const { selector } = spec;
  const isAbsent = selector === undefined || selector === null;
  if (isAbsent && !selectorMayBeAbsent) errors.required("spec.selector");
  if (!isAbsent) {
    validateLabelSelector(selector, "spec.selector", errors);
    if (isEmptySelector(selector)) errors.invalid("spec.selector", selector, `empty selector is invalid for ${noun}`);
  }
  const labels = spec.template.metadata?.labels ?? null;
  if (isAbsent || (!isEmptySelector(selector) && !selects(selector, labels ?? {}))) {
    errors.invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`");
  }
  validateTemplate(spec.template, "spec.template", errors);
  const { restartPolicy } = spec.template.spec;
  if (restartPolicy !== "Always") errors.notSupported("spec.template.spec.restartPolicy", restartPolicy, ["Always"]);
}

export function checkSelectorUnchanged(next: KubeObject, old: KubeObject, errors: FieldErrors): void {
  checkImmutable(next.spec.selector, old.spec.selector, "spec.selector", errors);
}
