/**
 * The metrics of admission policies and match conditions. Sources: k8s.io/apiserver@v0.36.0,
 * pkg/admission/plugin/policy/{validating,mutating}/metrics and pkg/admission/metrics.
 */

import type { ConditionOwner } from "../admission/expressions/contract.ts";
import type { PolicyLabels, PolicyObserver } from "../admission/policies/contract.ts";
import type { AdmissionOperation } from "../registry/admission-attributes.ts";
import { formatLabels, type Metric, type Sample } from "./exposition.ts";
import { Counters, Histograms } from "./vectors.ts";

/** Records the evaluation of policies and match conditions. */
export interface PolicyMetrics extends PolicyObserver {
  collect(): Metric[];
}

const checkBounds = [0.0000005, 0.001, 0.01, 0.1, 1];
const conditionBounds = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];

/** Counts and durations with the same labels. */
class Checks {
  readonly total = new Counters();
  readonly durations = new Histograms(checkBounds);

  observe(labels: string, seconds: number): void {
    this.total.count(labels);
    this.durations.observe(labels, seconds);
  }
}

/** @returns empty metrics */
export function policyMetrics(): PolicyMetrics {
  const validating = new Checks();
  const mutating = new Checks();
  const conditionErrors = new Counters();
  const conditionExclusions = new Counters();
  const conditionDurations = new Histograms(conditionBounds);
  return {
    validated: (labels, action, seconds) =>
      validating.observe(formatLabels([...policyLabels, "enforcement_action"], [...valuesOf(labels), action]), seconds),
    mutated: (labels, seconds) => mutating.observe(formatLabels(policyLabels, valuesOf(labels)), seconds),
    evaluated: (owner, operation, seconds) => conditionDurations.observe(conditionLabels(owner, operation), seconds),
    failed: (owner, operation) => conditionErrors.count(conditionLabels(owner, operation)),
    excluded: (owner, operation) => conditionExclusions.count(conditionLabels(owner, operation)),
    collect: () => [
      ...checkMetrics("validating", "BETA", validating),
      ...checkMetrics("mutating", "ALPHA", mutating),
      conditionMetric("errors_total", "Match conditions that failed with an error.", conditionErrors.samples()),
      conditionMetric("seconds", "Duration of match conditions in seconds.", conditionDurations.samples()),
      exclusionMetric(conditionExclusions.samples()),
    ],
  };
}

const policyLabels = ["policy", "policy_binding", "error_type"];

function valuesOf({ policy, binding, errorType }: PolicyLabels): string[] {
  return [policy, binding, errorType];
}

function conditionLabels({ name, kind, type }: ConditionOwner, operation: AdmissionOperation): string {
  return formatLabels(["name", "kind", "type", "operation"], [name, kind, type, operation]);
}

function checkMetrics(type: string, stability: "ALPHA" | "BETA", { total, durations }: Checks): Metric[] {
  const name = `apiserver_${type}_admission_policy_check`;
  return [
    {
      name: `${name}_total`,
      type: "counter",
      stability,
      help: `Evaluations of ${type} admission policies.`,
      samples: total.samples(),
    },
    {
      name: `${name}_duration_seconds`,
      type: "histogram",
      stability,
      help: `Duration of expressions of ${type} admission policies in seconds.`,
      samples: durations.samples(),
    },
  ];
}

function conditionMetric(unit: "errors_total" | "seconds", help: string, samples: Sample[]): Metric {
  const type = unit === "seconds" ? "histogram" : "counter";
  return {
    name: `apiserver_admission_match_condition_evaluation_${unit}`,
    type,
    stability: "ALPHA",
    help,
    samples,
  };
}

function exclusionMetric(samples: Sample[]): Metric {
  const help = "Webhook calls that a match condition excludes.";
  return {
    name: "apiserver_admission_match_condition_exclusions_total",
    type: "counter",
    stability: "ALPHA",
    help,
    samples,
  };
}
