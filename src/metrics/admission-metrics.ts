/** The metrics of admission. Source: k8s.io/apiserver@v0.36.0/pkg/admission/metrics/metrics.go. */
import type { AdmissionObserver, AdmissionType, Observe } from "../admission/contract.ts";
import type { AdmissionOperation } from "../registry/admission-attributes.ts";
import type { Metric } from "./exposition.ts";
import { Histogram } from "./histogram.ts";
import type { MetricRows } from "./metric-row.ts";
import { distributed } from "./vectors.ts";

const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5];

export const admissionRows = {
  plugins: {
    name: "apiserver_admission_controller_admission_duration_seconds",
    type: "histogram",
    stability: "STABLE",
    help: "Duration of each admission plugin in seconds.",
    labels: ["name", "type", "operation", "rejected"],
    buckets,
  },
  steps: {
    name: "apiserver_admission_step_admission_duration_seconds",
    type: "histogram",
    stability: "STABLE",
    help: "Duration of each admission step in seconds.",
    labels: ["type", "operation", "rejected"],
    buckets,
  },
  stepSummary: {
    name: "apiserver_admission_step_admission_duration_seconds_summary",
    type: "summary",
    stability: "ALPHA",
    help: "Duration of each admission step in seconds, without quantiles.",
    labels: ["type", "operation", "rejected"],
  },
} as const satisfies MetricRows;

interface AdmissionMetrics extends AdmissionObserver {
  collect(): Metric[];
}

const operations: readonly AdmissionOperation[] = ["CREATE", "UPDATE", "DELETE", "CONNECT"];

/** The durations of one plugin or of one step. */
class Durations {
  readonly #accepted: Record<AdmissionOperation, Histogram>;
  readonly #rejected: Record<AdmissionOperation, Histogram>;
  readonly observe: Observe;

  constructor() {
    this.#accepted = perOperation();
    this.#rejected = perOperation();
    this.observe = (operation, rejected, seconds) =>
      (rejected ? this.#rejected : this.#accepted)[operation].observe(seconds);
  }

  /** Those with values. */
  *all(): Iterable<readonly [operation: string, rejected: string, histogram: Histogram]> {
    for (const operation of operations) {
      for (const [rejected, histograms] of [["false", this.#accepted] as const, ["true", this.#rejected] as const])
        if (histograms[operation].count > 0) yield [operation, rejected, histograms[operation]];
    }
  }
}

function perOperation(): Record<AdmissionOperation, Histogram> {
  return {
    CREATE: new Histogram(buckets),
    UPDATE: new Histogram(buckets),
    DELETE: new Histogram(buckets),
    CONNECT: new Histogram(buckets),
  };
}

/** @returns an observer of admission, with its metrics */
export function admissionMetrics(): AdmissionMetrics {
  const plugins: { readonly name: string; readonly type: AdmissionType; readonly durations: Durations }[] = [];
  const steps: Record<AdmissionType, Durations> = { admit: new Durations(), validate: new Durations() };
  return {
    plugin(name, type) {
      const durations = new Durations();
      plugins.push({ name, type, durations });
      return durations.observe;
    },
    step: (type) => steps[type].observe,
    collect() {
      const ofSteps = distributed(
        admissionRows.steps,
        Object.entries(steps).flatMap(([type, durations]) =>
          Array.from(durations.all(), ([operation, rejected, one]) => [[type, operation, rejected], one] as const),
        ),
      );
      return [
        distributed(
          admissionRows.plugins,
          plugins.flatMap(({ name, type, durations }) =>
            Array.from(
              durations.all(),
              ([operation, rejected, one]) => [[name, type, operation, rejected], one] as const,
            ),
          ),
        ),
        ofSteps,
        { ...admissionRows.stepSummary, samples: ofSteps.samples.filter(({ suffix }) => suffix !== "_bucket") },
      ];
    },
  };
}
