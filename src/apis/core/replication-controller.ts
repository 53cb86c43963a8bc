/** ReplicationController: its selector is a plain map, by default the labels of its template. */
import type { FieldErrors } from "../../api/field-errors.ts";
import type { KubeObject } from "../../api/object.ts";
import { strategy } from "../../resource/strategy.ts";
import { checkNonNegative, selectable, setAbsent, struct } from "../fields.ts";
import { formatLabelSelector, selects } from "../label-selector.ts";
import { scaleWith } from "../scale.ts";
import { setTemplateDefaults, validateTemplate } from "./pod-template.ts";

export const replicationController = strategy({
  hasGeneration: true,
  orphansByDefault: { warning: undefined },
  scale: scaleWith((spec) => formatLabelSelector({ matchLabels: spec.selector })),
  selectableFields: { "status.replicas": (object) => selectable("status.replicas")(object) || "0" },
  setDefaults(object) {
    const spec = struct(object, "spec");
    setAbsent(spec, { replicas: 1 });
    if (!spec.template) return;
    setTemplateDefaults(spec);
    const labels = spec.template.metadata?.labels;
    if (!labels) return;
    if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
    if (Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata.labels = { ...labels };
  },
  prepareForCreate(object) {
    object.status = { replicas: 0 };
  },
  validate,
  validateUpdate: (next, _old, errors) => validate(next, errors),
});

function validate(object: KubeObject, errors: FieldErrors): void {
  const { selector, template, replicas } = object.spec;
  if (Object.keys(selector ?? {}).length === 0) errors.required("spec.selector");
  checkNonNegative(replicas, "spec.replicas", errors);
  if (!template) return errors.required("spec.template");
  const labels = template.metadata?.labels ?? {};
  if (Object.keys(selector ?? {}).length > 0 && !selects({ matchLabels: selector }, labels)) {
    errors.invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`");
  }
  validateTemplate(template, "spec.template", errors);
}
