/**
 * The metrics of admission policies and match conditions. Sources: k8s.io/apiserver@v0.36.0,
 * pkg/admission/plugin/policy/{validating,mutating}/metrics and pkg/admission/metrics.
 */
import type { ConditionOwner } from "../admission/expressions/contract.ts";
import type { PolicyObserver } from "../admission/policies/contract.ts";
import type { AdmissionOperation } from "../registry/admission-attributes.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { Counters, Histograms } from "./vectors.ts";

const checkBuckets = [0.0000005, 0.001, 0.01, 0.1, 1];

export const policyRows = {
  validated: {
    name: "apiserver_validating_admission_policy_check_total",
    type: "counter",
    stability: "BETA",
    help: "Evaluations of validating admission policies.",
    labels: ["policy", "policy_binding", "error_type", "enforcement_action"],
  },
  validationDurations: {
    name: "apiserver_validating_admission_policy_check_duration_seconds",
    type: "histogram",
    stability: "BETA",
    help: "Duration of expressions of validating admission policies in seconds.",
    labels: ["policy", "policy_binding", "error_type", "enforcement_action"],
    buckets: checkBuckets,
  },
  mutated: {
    name: "apiserver_mutating_admission_policy_check_total",
    type: "counter",
    stability: "ALPHA",
    help: "Evaluations of mutating admission policies.",
    labels: ["policy", "policy_binding", "error_type"],
  },
  mutationDurations: {
    name: "apiserver_mutating_admission_policy_check_duration_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of expressions of mutating admission policies in seconds.",
    labels: ["policy", "policy_binding", "error_type"],
    buckets: checkBuckets,
  },
  conditionErrors: {
    name: "apiserver_admission_match_condition_evaluation_errors_total",
    type: "counter",
    stability: "ALPHA",
    help: "Match conditions that failed with an error.",
    labels: ["name", "kind", "type", "operation"],
  },
  conditionDurations: {
    name: "apiserver_admission_match_condition_evaluation_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of match conditions in seconds.",
    labels: ["name", "kind", "type", "operation"],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
  },
  conditionExclusions: {
    name: "apiserver_admission_match_condition_exclusions_total",
    type: "counter",
    stability: "ALPHA",
    help: "Webhook calls that a match condition excludes.",
    labels: ["name", "kind", "type", "operation"],
  },
} as const satisfies MetricRows;

/** Records the evaluation of policies and match conditions. */
export interface PolicyMetrics extends PolicyObserver {
  collect(): Metric[];
}

/** @returns empty metrics */
export function policyMetrics(): PolicyMetrics {
  const validated = new Counters(policyRows.validated);
  const validationDurations = new Histograms(policyRows.validationDurations);
  const mutated = new Counters(policyRows.mutated);
  const mutationDurations = new Histograms(policyRows.mutationDurations);
  const conditionErrors = new Counters(policyRows.conditionErrors);
  const conditionDurations = new Histograms(policyRows.conditionDurations);
  const conditionExclusions = new Counters(policyRows.conditionExclusions);
  return {
    validated({ policy, binding, errorType }, action, seconds) {
      validated.count([policy, binding, errorType, action]);
      validationDurations.observe([policy, binding, errorType, action], seconds);
    },
    mutated({ policy, binding, errorType }, seconds) {
      mutated.count([policy, binding, errorType]);
      mutationDurations.observe([policy, binding, errorType], seconds);
    },
    evaluated: (owner, operation, seconds) => conditionDurations.observe(conditionLabels(owner, operation), seconds),
    failed: (owner, operation) => conditionErrors.count(conditionLabels(owner, operation)),
    excluded: (owner, operation) => conditionExclusions.count(conditionLabels(owner, operation)),
    collect: () =>
      [
        validated,
        validationDurations,
        mutated,
        mutationDurations,
        conditionErrors,
        conditionDurations,
        conditionExclusions,
      ].map((one) => one.metric()),
  };
}

function conditionLabels({ name, kind, type }: ConditionOwner, operation: AdmissionOperation) {
  return [name, kind, type, operation] as const;
}
