/**
 * Validation of topology spread constraints.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { Part } from "../../fields.ts";
import { validateLabelSelector } from "../../label-selector.ts";
import { validateLabelKeys, validateSpreadKeys } from "./label-keys.ts";

interface SpreadRules {
  readonly anySpreadSelector: boolean;
  readonly mergesSpreadKeys: boolean;
}

const actions = ["DoNotSchedule", "ScheduleAnyway"];
const inclusions = ["Honor", "Ignore"];

export function validateSpreadConstraints(
  constraints: readonly Part[],
  path: string,
  rules: SpreadRules,
  errors: FieldErrors,
): void {
  const lastIndexes = new Map(constraints.map((constraint, index) => [pairOf(constraint), index]));
  for (const [index, constraint] of constraints.entries()) {
    const at = `${path}[${index}]`;
    const { maxSkew = 0, topologyKey = "", whenUnsatisfiable = "" } = constraint;
    if (maxSkew <= 0) errors.invalid(`${at}.maxSkew`, maxSkew, "must be greater than zero");
    if (topologyKey === "") errors.required(`${at}.topologyKey`, "can not be empty");
    if (!actions.includes(whenUnsatisfiable))
      errors.notSupported(`${at}.whenUnsatisfiable`, whenUnsatisfiable, actions);
    const pair = pairOf(constraint);
    if (lastIndexes.get(pair) !== index) errors.duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, pair);
    validateMinDomains(constraint, at, errors);
    for (const field of ["nodeAffinityPolicy", "nodeTaintsPolicy"]) {
      const policy = constraint[field];
      if (policy !== undefined && !inclusions.includes(policy))
        errors.notSupported(`${at}.${field}`, policy, inclusions);
    }
    if (rules.mergesSpreadKeys) validateLabelKeys(constraint, at, errors);
    else validateSpreadKeys(constraint, at, errors);
    if (!rules.anySpreadSelector && constraint.labelSelector)
      validateLabelSelector(constraint.labelSelector, `${at}.labelSelector`, errors);
  }
}

const pairOf = ({ topologyKey = "", whenUnsatisfiable = "" }: Part): string => `{${topologyKey}, ${whenUnsatisfiable}}`;

function validateMinDomains({ minDomains, whenUnsatisfiable = "" }: Part, path: string, errors: FieldErrors): void {
  if (minDomains === undefined) return;
  const at = `${path}.minDomains`;
  if (minDomains <= 0) errors.invalid(at, minDomains, "must be greater than zero");
  if (whenUnsatisfiable !== "DoNotSchedule") {
    errors.invalid(
      at,
      minDomains,
      `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`,
    );
  }
}
