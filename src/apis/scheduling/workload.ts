/**
 * Workload: templates of the groups in which its pods are scheduled.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/scheduling`, `k8s.io/kubernetes@v1.36.0/pkg/registry/scheduling/workload`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import { identical } from "../../lib/json/values.ts";
import { items, type Part } from "../fields.ts";
import {
  enforcedRules,
  longName,
  segmentName,
  shortName,
  shownTemplate,
  validateDistinct,
  validateGroup,
  validateText,
} from "./pod-group-rules.ts";

const templatesMax = 8;
const templatesPath = "spec.podGroupTemplates";

/** The strategy of Workload. */
export const workload = strategy({
  columns: [nameColumn, ageColumn],
  isolatesStatus: false,
  declarative: enforcedRules,
  validate({ spec = {} }: KubeObject, errors) {
    if (spec.controllerRef !== undefined) validateController(spec.controllerRef, errors);
    validateTemplates(items(spec.podGroupTemplates), errors);
  },
  validateUpdate(next, old, errors) {
    const [spec, before] = [next.spec ?? {}, old.spec ?? {}];
    if (!identical(inGo(spec.controllerRef), inGo(before.controllerRef)))
      errors.covered("immutable").invalid("spec.controllerRef", null, "field is immutable");
    if (identical(items(spec.podGroupTemplates), items(before.podGroupTemplates))) return;
    errors.covered("immutable").invalid(templatesPath, null, "field is immutable");
    validateTemplateCount(items(spec.podGroupTemplates), errors);
  },
});

/** An absent group counts as empty. */
const inGo = (reference: Part | undefined): Part | undefined => reference && { apiGroup: "", ...reference };

function validateController({ apiGroup = "", kind = "", name = "" }: Part, errors: FieldErrors): void {
  const path = "spec.controllerRef";
  if (apiGroup !== "")
    addInvalid(errors.covered(longName.origin), `${path}.apiGroup`, apiGroup, longName.problemsOf(apiGroup));
  validateText(kind, `${path}.kind`, segmentName, errors);
  validateText(name, `${path}.name`, segmentName, errors);
}

function validateTemplates(templates: readonly Part[], errors: FieldErrors): void {
  if (!validateTemplateCount(templates, errors)) return;
  validateDistinct(templates, templatesPath, shownTemplate, errors);
  for (const [index, template] of templates.entries()) {
    const path = `${templatesPath}[${index}]`;
    validateText(template.name ?? "", `${path}.name`, shortName, errors);
    validateGroup(template, path, errors);
  }
}

function validateTemplateCount({ length }: readonly Part[], errors: FieldErrors): boolean {
  if (length > templatesMax) errors.covered("maxItems").tooMany(templatesPath, length, templatesMax);
  if (length === 0) errors.covered().required(templatesPath);
  return length > 0 && length <= templatesMax;
}
