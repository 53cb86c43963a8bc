/**
 * The metrics of validation.
 * Source: k8s.io/apiserver@v0.36.0/pkg/validation/metrics.go.
 */
import { formatLabels, type Metric } from "./exposition.ts";
import { Counters } from "./vectors.ts";

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
  const mismatches = countedBy();
  const panics = countedBy();
  let repeated = 0;
  return {
    mismatched: mismatches.count,
    panic: (identifier) => panics.count(identifier, 1),
    repeated: (count) => {
      repeated += count;
    },
    collect() {
      const mismatchHelp = "Errors reported by either declarative or hand-written validation only.";
      const panicHelp = "Declarative validations that failed with an exception.";
      return [
        total("apiserver_validation_declarative_validation_mismatch_total", "BETA", mismatchHelp, mismatches),
        // The name in the documentation of the feature gate.
        total("declarative_validation_mismatch_total", "BETA", mismatchHelp, mismatches),
        byIdentifier(
          "apiserver_validation_declarative_validation_parity_discrepancies_total",
          mismatchHelp,
          mismatches,
        ),
        total("apiserver_validation_declarative_validation_panic_total", "BETA", panicHelp, panics),
        byIdentifier("apiserver_validation_declarative_validation_panics_total", panicHelp, panics),
        {
          name: "apiserver_validation_duplicate_validation_error_total",
          type: "counter",
          stability: "INTERNAL",
          help: "Errors of updates that are equal to an earlier error of the same update.",
          samples: [{ suffix: "", labels: "", value: repeated }],
        },
      ];
    },
  };
}

interface Counted {
  total(): number;
  readonly series: Counters;
  count(identifier: string, by: number): void;
}

function countedBy(): Counted {
  const series = new Counters();
  let total = 0;
  return {
    series,
    total: () => total,
    count(identifier, by) {
      total += by;
      series.count(formatLabels(["validation_identifier"], [identifier]), by);
    },
  };
}

function total(name: string, stability: "BETA", help: string, counted: Counted): Metric {
  return { name, type: "counter", stability, help, samples: [{ suffix: "", labels: "", value: counted.total() }] };
}

function byIdentifier(name: string, help: string, { series }: Counted): Metric {
  return { name, type: "counter", stability: "ALPHA", help, samples: series.samples() };
}
