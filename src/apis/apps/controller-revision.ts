/** ControllerRevision: data that never changes. Source: upstream's apps validation. */

import { strategy } from "../../catalog/strategy.ts";
import { identical, isObject } from "../../lib/json/values.ts";
import { checkNonNegative } from "../fields.ts";

export const controllerRevision = strategy({
  isolatesStatus: false,
  validate(object, errors) {
    const { data = null, revision } = object;
    checkNonNegative(revision, "revision", errors);
    if (data === null) errors.required("data", "data is mandatory");
    else if (!isObject(data)) errors.required("data", "data must be a valid JSON object");
  },
  validateUpdate(next, old, errors) {
    checkNonNegative(next.revision, "revision", errors);
    if (!identical(next.data ?? null, old.data ?? null))
      errors.invalid("data", next.data ?? null, "field is immutable");
  },
});
