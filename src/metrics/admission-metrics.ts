/** The metrics of admission. Source: k8s.io/apiserver@v0.36.0/pkg/admission/metrics/metrics.go. */
import type { AdmissionObserver, AdmissionType, Observe } from "../admission/contract.ts";
import type { AdmissionOperation } from "../registry/admission-attributes.ts";
import { formatLabels, type Metric, type Sample } from "./exposition.ts";
import { Histogram } from "./histogram.ts";

interface AdmissionMetrics extends AdmissionObserver {
  collect(): Metric[];
}

const bounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
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

  *samples(label: (operation: string, rejected: string) => string): Iterable<Sample> {
    for (const operation of operations) {
      for (const [rejected, histograms] of [["false", this.#accepted] as const, ["true", this.#rejected] as const])
        if (histograms[operation].count > 0) yield* histograms[operation].samples(label(operation, rejected));
    }
  }

  /** The samples without buckets. */
  *summary(label: (operation: string, rejected: string) => string): Iterable<Sample> {
    for (const sample of this.samples(label)) if (sample.suffix !== "_bucket") yield sample;
  }
}

function perOperation(): Record<AdmissionOperation, Histogram> {
  return {
    CREATE: new Histogram(bounds),
    UPDATE: new Histogram(bounds),
    DELETE: new Histogram(bounds),
    CONNECT: new Histogram(bounds),
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
    collect: () => [
      metric(
        "controller",
        "Duration of each admission plugin in seconds.",
        plugins.flatMap(({ name, type, durations }) => [
          ...durations.samples((...values) =>
            formatLabels(["name", "type", "operation", "rejected"], [name, type, ...values]),
          ),
        ]),
      ),
      metric("step", "Duration of each admission step in seconds.", ofSteps(steps, "samples")),
      {
        name: "apiserver_admission_step_admission_duration_seconds_summary",
        type: "summary",
        stability: "ALPHA",
        help: "Duration of each admission step in seconds, without quantiles.",
        samples: ofSteps(steps, "summary"),
      },
    ],
  };
}

function ofSteps(steps: Record<AdmissionType, Durations>, which: "samples" | "summary"): Sample[] {
  return Object.entries(steps).flatMap(([type, durations]) => [
    ...durations[which]((...values) => formatLabels(["type", "operation", "rejected"], [type, ...values])),
  ]);
}

function metric(what: string, help: string, samples: Sample[]): Metric {
  return {
    name: `apiserver_admission_${what}_admission_duration_seconds`,
    type: "histogram",
    stability: "STABLE",
    help,
    samples,
  };
}
