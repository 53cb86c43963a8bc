/** The metrics of admission. Source: k8s.io/apiserver@v0.36.0/pkg/admission/metrics/metrics.go. */
import type { AdmissionObserver, AdmissionType, Observe, PluginsObserver } from "../admission/contract.ts";
import type { AdmissionOperation } from "../registry/admission-attributes.ts";
import type { Metric } from "./exposition.ts";
import { Histogram } from "./histogram.ts";
import type { LabelValues, MetricRows } from "./metric-row.ts";
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

/** The durations of one step, or of one plugin where they are not zero. */
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

  accepted(operation: AdmissionOperation): Histogram {
    return this.#accepted[operation];
  }

  /** Those with values. @param zeros accepted calls without a duration, for each operation */
  *all(zeros?: Zeros): Iterable<readonly [operation: string, rejected: string, histogram: Histogram]> {
    for (const operation of operations) {
      const accepted = withZeros(this.#accepted[operation], zeros?.(operation) ?? 0);
      const both = [["false", accepted] as const, ["true", this.#rejected[operation]] as const];
      for (const [rejected, histogram] of both) if (histogram.count > 0) yield [operation, rejected, histogram];
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

type Zeros = (operation: AdmissionOperation) => number;

function withZeros(values: Histogram, zeros: number): Histogram {
  if (zeros === 0) return values;
  const all = new Histogram(buckets);
  all.add(values);
  all.observe(0, zeros);
  return all;
}

/** The plugins of one step. Most accept at once, which costs one count for all of a run. */
class Plugins implements PluginsObserver {
  readonly #names: readonly string[];
  readonly #type: AdmissionType;
  readonly #durations: readonly Durations[];
  /** By operation: how many more runs have passed a plugin than the one before it. */
  readonly #passed: Record<AdmissionOperation, Float64Array>;

  constructor(names: readonly string[], type: AdmissionType) {
    this.#names = names;
    this.#type = type;
    this.#durations = names.map(() => new Durations());
    const counts = (): Float64Array => new Float64Array(names.length + 1);
    this.#passed = { CREATE: counts(), UPDATE: counts(), DELETE: counts(), CONNECT: counts() };
  }

  accepted(operation: AdmissionOperation, from: number, to: number): void {
    const passed = this.#passed[operation];
    passed[from] = (passed[from] as number) + 1;
    passed[to] = (passed[to] as number) - 1;
  }

  timed(plugin: number, operation: AdmissionOperation, seconds: number): void {
    this.#durations[plugin]?.observe(operation, false, seconds);
  }

  rejected(plugin: number, operation: AdmissionOperation, seconds: number): void {
    this.#durations[plugin]?.observe(operation, true, seconds);
  }

  *series(): Iterable<readonly [LabelValues<typeof admissionRows.plugins>, Histogram]> {
    for (const [index, durations] of this.#durations.entries()) {
      const zeros: Zeros = (operation) =>
        this.#passed[operation].subarray(0, index + 1).reduce((all, one) => all + one, 0) -
        durations.accepted(operation).count;
      for (const [operation, rejected, histogram] of durations.all(zeros))
        yield [[this.#names[index] as string, this.#type, operation, rejected], histogram];
    }
  }
}

/** @returns an observer of admission, with its metrics */
export function admissionMetrics(): AdmissionMetrics {
  const plugins: Plugins[] = [];
  const steps: Record<AdmissionType, Durations> = { admit: new Durations(), validate: new Durations() };
  return {
    plugins(names, type) {
      const added = new Plugins(names, type);
      plugins.push(added);
      return added;
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
          plugins.flatMap((one) => [...one.series()]),
        ),
        ofSteps,
        { ...admissionRows.stepSummary, samples: ofSteps.samples.filter(({ suffix }) => suffix !== "_bucket") },
      ];
    },
  };
}
