/** What policies and webhooks report about their match conditions. */
import type { AdmissionOperation } from "../../registry/admission-attributes.ts";

/** The policy or webhook that has match conditions, as metrics name it. */
export interface ConditionOwner {
  readonly name: string;
  readonly kind: "policy" | "webhook";
  readonly type: "validate" | "admit" | "validating";
}

/**
 * Records the metrics of match conditions.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/metrics/metrics.go.
 */
export interface ConditionObserver {
  /** Records the duration of an evaluation of all conditions of an owner in seconds. */
  evaluated(owner: ConditionOwner, operation: AdmissionOperation, seconds: number): void;
  /** Counts a condition that failed with an error. */
  failed(owner: ConditionOwner, operation: AdmissionOperation): void;
  /** Counts a webhook call that a condition excludes. */
  excluded(owner: ConditionOwner, operation: AdmissionOperation): void;
}
