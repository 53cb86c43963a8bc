/**
 * PodTemplate: a stored template for pods.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/registry/core/podtemplate/strategy.go`.
 */
import { strategy } from "../../catalog/strategy.ts";
import { templateWarnings } from "./pod/warnings.ts";
import { setTemplateDefaults, templateOptions, validateTemplate } from "./pod/workload-template.ts";

/** Strategy of `podtemplates`. */
export const podTemplate = strategy({
  isolatesStatus: false,
  hasGeneration: true,
  setDefaults: setTemplateDefaults,
  validate: (object, errors, context) =>
    validateTemplate(object.template ?? {}, "template", errors, templateOptions(context)),
  validateUpdate: (next, old, errors, context) =>
    validateTemplate(next.template ?? {}, "template", errors, templateOptions(context, old.template)),
  warnings: (object, old) =>
    object.metadata.generation === old?.metadata.generation ? [] : templateWarnings(object.template, "template"),
});
