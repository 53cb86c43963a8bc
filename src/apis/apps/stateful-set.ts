/** StatefulSet: all of its spec but a few fields is fixed. */

import { deepEqual } from "../../lib/json/values.ts";
import { strategy } from "../../resource/strategy.ts";
import { setClaimDefaults } from "../core/persistent-volume.ts";
import { setTemplateDefaults } from "../core/pod-template.ts";
import { items, type Part, setAbsent, struct } from "../fields.ts";
import { workloadScale } from "../scale.ts";
import { validateWorkload } from "../workload.ts";

const changeable = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];
const fixedText =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

export const statefulSet = strategy({
  hasGeneration: true,
  scale: workloadScale,
  setDefaults(object) {
    const spec = struct(object, "spec");
    setAbsent(spec, { replicas: 1, revisionHistoryLimit: 10, podManagementPolicy: "OrderedReady" });
    setTemplateDefaults(spec);
    const update = struct(spec, "updateStrategy");
    setAbsent(update, { type: "RollingUpdate" });
    if (update.type === "RollingUpdate") setAbsent(struct(update, "rollingUpdate"), { partition: 0, maxUnavailable: 1 });
    setAbsent(struct(spec, "persistentVolumeClaimRetentionPolicy"), { whenDeleted: "Retain", whenScaled: "Retain" });
    for (const claim of items(spec.volumeClaimTemplates)) {
      setAbsent(claim, { kind: "PersistentVolumeClaim", apiVersion: "v1" });
      setClaimDefaults(claim);
    }
  },
  prepareForCreate(object) {
    object.status = { replicas: 0, availableReplicas: 0 };
  },
  validate: (object, errors) => validateWorkload(object, { noun: "statefulset" }, errors),
  validateUpdate(next, old, errors) {
    validateWorkload(next, { noun: "statefulset" }, errors);
    if (!deepEqual(fixedPart(next.spec), fixedPart(old.spec))) errors.forbidden("spec", fixedText);
  },
});

const fixedPart = (spec: Part): Part => Object.fromEntries(Object.entries(spec).filter(([field]) => !changeable.includes(field)));
