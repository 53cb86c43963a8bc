/**
 * DeviceTaintRule: adds a taint to all devices that it selects.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/resource/validation/validation.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/resource/devicetaintrule/strategy.go
 */
import { formatTime } from "../../apimachinery/clock.ts";
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { validateConditions } from "../../apimachinery/validation/conditions.ts";
import { strategy } from "../../catalog/strategy.ts";
import { items, keepMetaForStatus, type Part, struct } from "../fields.ts";
import { taintRuleColumns } from "./columns.ts";
import { validateDriverName, validateLabelName, validatePoolName } from "./device-names.ts";
import { setTaintDefaults, validateTaint } from "./taints.ts";

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
