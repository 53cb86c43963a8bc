/**
 * PodDisruptionBudget.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/policy/validation/validation.go`, `k8s.io/kubernetes@v1.36.0/pkg/registry/policy/poddisruptionbudget/strategy.go`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateConditions } from "../../apimachinery/validation/conditions.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import type { StoredConversion } from "../../catalog/contract.ts";
import { strategy } from "../../catalog/strategy.ts";
import { pathSegmentNameProblems } from "../../lib/names/names.ts";
import { checkAtMostAll, checkIntOrPercent } from "../apps/rolling-update.ts";
import { integer, text } from "../column.ts";
import { items, type Part } from "../fields.ts";
import { isSoundSelector, type SelectorRules, shownSelector, validateLabelSelector } from "../label-selector.ts";
import { checkCounts } from "../workload.ts";

const evictionPolicies = ["AlwaysAllow", "IfHealthyBudget"];

/** The strategy of PodDisruptionBudget. */
export const podDisruptionBudget = strategy({
  columns: [
    nameColumn,
    text("Min Available", "The minimum number of pods that must be available.", ({ spec }) =>
      String(spec?.minAvailable ?? "N/A"),
    ),
    text("Max Unavailable", "The maximum number of pods that may be unavailable.", ({ spec }) =>
      String(spec?.maxUnavailable ?? "N/A"),
    ),
    integer(
      "Allowed Disruptions",
      "Calculated number of pods that may be disrupted at this time.",
      ({ status }) => status?.disruptionsAllowed ?? 0,
    ),
    ageColumn,
  ],
  validateName: pathSegmentNameProblems,
  checksMetaLast: true,
  hasGeneration: true,
  repeatsMetaRules: false,
  prepareForCreate(object) {
    object.status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
  validate: (object, errors) => validate(object, {}, errors),
  validateUpdate: (next, old, errors) =>
    validate(next, { anyValues: !isSoundSelector(old.spec?.selector ?? {}) }, errors),
  validateStatusUpdate({ status = {} }, _old, errors) {
    validateConditions(items(status.conditions), "status.conditions", errors);
    checkCounts(status, "status", ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"], errors);
  },
});

function validate({ spec = {} }: KubeObject, rules: SelectorRules, errors: FieldErrors): void {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
  if (has(minAvailable) && has(maxUnavailable))
    errors.invalid("spec", specInGo(spec), "minAvailable and maxUnavailable cannot be both set");
  checkAmount(minAvailable, "spec.minAvailable", errors);
  checkAmount(maxUnavailable, "spec.maxUnavailable", errors);
  if (selector) validateLabelSelector(selector, "spec.selector", errors, rules);
  if (has(policy) && !evictionPolicies.includes(policy))
    errors.notSupported("spec.unhealthyPodEvictionPolicy", policy, evictionPolicies);
}

const has = (value: unknown): boolean => value !== undefined && value !== null;

function checkAmount(amount: unknown, path: string, errors: FieldErrors): void {
  if (!has(amount)) return;
  checkIntOrPercent(amount, path, errors);
  checkAtMostAll(amount, path, errors);
}

function specInGo({ minAvailable, selector, maxUnavailable, unhealthyPodEvictionPolicy = null }: Part): Part {
  return {
    MinAvailable: minAvailable,
    Selector: selector ? shownSelector(selector) : null,
    MaxUnavailable: maxUnavailable,
    UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy,
  };
}

const matchNoPodKey = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";

/** Budgets of v1beta1. */
export const disruptionBudgetV1beta1: StoredConversion = {
  toStorage(object) {
    const { selector } = object.spec ?? {};
    if (selector) object.spec.selector = convertSelector(selector);
    return object;
  },
};

/** The empty selector selects no pods at policy/v1beta1, and all at policy/v1. */
function convertSelector({ matchExpressions, ...selector }: Part): Part {
  const expressions = items(matchExpressions);
  if (expressions.length === 0 && Object.keys(selector.matchLabels ?? {}).length === 0)
    return { matchExpressions: [{ key: matchNoPodKey, operator: "Exists" }] };
  const kept = expressions.filter(({ key }) => key !== matchNoPodKey);
  return { ...selector, ...(kept.length > 0 && { matchExpressions: kept }) };
}
