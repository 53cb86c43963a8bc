/** ReplicaSet. */
import { strategy } from "../../resource/strategy.ts";
import { setTemplateDefaults } from "../core/pod-template.ts";
import { selectable, setAbsent, struct } from "../fields.ts";
import { workloadScale } from "../scale.ts";
import { checkSelectorUnchanged, validateWorkload } from "../workload.ts";

const rules = { noun: "deployment" }; // Upstream's text says deployment here too.

export const replicaSet = strategy({
  hasGeneration: true,
  scale: workloadScale,
  selectableFields: { "status.replicas": (object) => selectable("status.replicas")(object) || "0" },
  setDefaults(object) {
    const spec = struct(object, "spec");
    setAbsent(spec, { replicas: 1 });
    setTemplateDefaults(spec);
  },
  prepareForCreate(object) {
    object.status = { replicas: 0 };
  },
  validate: (object, errors) => validateWorkload(object, rules, errors),
  validateUpdate(next, old, errors) {
    validateWorkload(next, rules, errors);
    checkSelectorUnchanged(next, old, errors);
  },
});
