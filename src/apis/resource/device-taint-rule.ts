/**
 * DeviceTaintRule: adds a taint to all devices that it selects.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/resource/validation/validation.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/resource/devicetaintrule/strategy.go
 */
import { formatTime } from "../../apimachinery/clock.ts";
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { validateConditions } from "../../apimachinery/validation/conditions.ts";
import { age, ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { text } from "../column.ts";
import { items, keepMetaForStatus, type Part, struct } from "../fields.ts";
import { validateDriverName, validateLabelName, validatePoolName } from "./device-names.ts";
import { setTaintDefaults, validateTaint } from "./taints.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const taintRuleColumns: readonly Column[] = [
  nameColumn,
  text("Key", "The taint key to be applied to a device. Must be a label name.", ({ spec }) => spec?.taint?.key ?? ""),
  text(
    "Value",
    "The taint value corresponding to the taint key. Must be a label value.",
    ({ spec }) => spec?.taint?.value ?? "",
  ),
  text(
    "Effect",
    "The effect of the taint on claims that do not tolerate the taint and through such claims on the pods using them.\n\nValid effects are None, NoSchedule and NoExecute. PreferNoSchedule as used for nodes is not valid here. More effects may get added in the future. Consumers must treat unknown effects like None.",
    ({ spec }) => spec?.taint?.effect ?? "",
  ),
  text(
    "TimeAdded",
    "TimeAdded represents the time at which the taint was added or (only in a DeviceTaintRule) the effect was modified. Added automatically during create or update if not set.\n\nIn addition, in a DeviceTaintRule a value provided during an update gets replaced with the current time if the provided value is the same as the old one and the new effect is different. Changing the key and/or value while keeping the effect unchanged is possible and does not update the time stamp because the eviction which uses it is either already started (NoExecute) or not started yet (NoEffect, NoSchedule).",
    ({ spec }) => (spec?.taint?.timeAdded === undefined ? "" : age(spec.taint.timeAdded)),
  ),
  ageColumn,
];

const conditionsMax = 8;

export const deviceTaintRule = strategy({
  columns: taintRuleColumns,
  hasGeneration: true,
  setDefaults: (object, _gates, now) => setTaintDefaults(struct(struct(object, "spec"), "taint"), now),
  prepareForUpdate(next, old, { now }) {
    const [taint, before] = [struct(struct(next, "spec"), "taint"), old.spec?.taint ?? {}];
    // A changed effect updates its time, unless the client sets another time.
    if (taint.effect !== before.effect && taint.timeAdded === before.timeAdded) taint.timeAdded = formatTime(now);
  },
  prepareForStatusUpdate: keepMetaForStatus,
  validate: ({ spec = {} }, errors) => validateSpec(spec, undefined, errors),
  validateUpdate: ({ spec = {} }, old, errors) => validateSpec(spec, old.spec ?? {}, errors),
  validateStatusUpdate({ status }, _old, errors) {
    const conditions = items(status?.conditions);
    validateConditions(conditions, "status.conditions", errors);
    if (conditions.length > conditionsMax) errors.tooMany("status.conditions", conditions.length, conditionsMax);
  },
});

function validateSpec({ deviceSelector = {}, taint = {} }: Part, old: Part | undefined, errors: FieldErrors): void {
  const { driver, pool, device } = deviceSelector;
  if (driver !== undefined) validateDriverName(driver, "spec.deviceSelector.driver", errors);
  if (pool !== undefined) validatePoolName(pool, "spec.deviceSelector.pool", errors);
  if (device !== undefined) validateLabelName(device, "spec.deviceSelector.device", errors);
  validateTaint(taint, old && (old.taint ?? {}), "spec.taint", errors);
}
