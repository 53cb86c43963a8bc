/**
 * PodTemplate: a stored template for pods.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/registry/core/podtemplate/strategy.go`.
 */
import { strategy } from "../../catalog/strategy.ts";
import { containerCells, metaCells } from "../column.ts";
import { podTemplateColumns } from "./pod/columns.ts";
import { templateWarnings } from "./pod/warnings.ts";
import { setTemplateDefaults, templateOptions, validateTemplate } from "./pod/workload-template.ts";

/** Strategy of `podtemplates`. */
export const podTemplate = strategy({
  columns: podTemplateColumns,
  cellPaths: [...metaCells, ...containerCells("template"), "template.metadata.labels"],
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
