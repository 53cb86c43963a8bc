/**
 * The metrics of validation.
 * Source: k8s.io/apiserver@v0.36.0/pkg/validation/metrics.go.
 */
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { Counters, single } from "./vectors.ts";

const mismatchHelp = "Errors reported by either declarative or hand-written validation only.";
const panicHelp = "Declarative validations that failed with an exception.";

export const validationRows = {
  mismatches: {
    name: "apiserver_validation_declarative_validation_mismatch_total",
    type: "counter",
    stability: "BETA",
    help: mismatchHelp,
  },
  /** The name in the documentation of the feature gate. */
  documentedMismatches: {
    name: "declarative_validation_mismatch_total",
    type: "counter",
    stability: "BETA",
    help: mismatchHelp,
  },
  mismatchesByIdentifier: {
    name: "apiserver_validation_declarative_validation_parity_discrepancies_total",
    type: "counter",
    stability: "ALPHA",
    help: mismatchHelp,
    labels: ["validation_identifier"],
  },
  panics: {
    name: "apiserver_validation_declarative_validation_panic_total",
    type: "counter",
    stability: "BETA",
    help: panicHelp,
  },
  panicsByIdentifier: {
    name: "apiserver_validation_declarative_validation_panics_total",
    type: "counter",
    stability: "ALPHA",
    help: panicHelp,
    labels: ["validation_identifier"],
  },
  repeated: {
    name: "apiserver_validation_duplicate_validation_error_total",
    type: "counter",
    stability: "INTERNAL",
    help: "Errors of updates that are equal to an earlier error of the same update.",
  },
} as const satisfies MetricRows;

/** Records repeated errors, and differences between declarative and hand-written validation. */
export interface ValidationMetrics {
  /** @param identifier kind, subresource and operation, whose number is bounded */
  mismatched(identifier: string, count: number): void;
  panic(identifier: string): void;
  /** @param count errors of an update that are equal to an earlier one */
  repeated(count: number): void;
  collect(): Metric[];
}

/** @returns empty metrics */
export function validationMetrics(): ValidationMetrics {
  const mismatches = new Counters(validationRows.mismatchesByIdentifier);
  const panics = new Counters(validationRows.panicsByIdentifier);
  const totals = { mismatches: 0, panics: 0, repeated: 0 };
  return {
    mismatched(identifier, count) {
      totals.mismatches += count;
      mismatches.count([identifier], count);
    },
    panic(identifier) {
      totals.panics++;
      panics.count([identifier]);
    },
    repeated(count) {
      totals.repeated += count;
    },
    collect: () => [
      single(validationRows.mismatches, totals.mismatches),
      single(validationRows.documentedMismatches, totals.mismatches),
      mismatches.metric(),
      single(validationRows.panics, totals.panics),
      panics.metric(),
      single(validationRows.repeated, totals.repeated),
    ],
  };
}
