/** Policies and their bindings, as plugins evaluate them. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { ConditionObserver } from "../expressions/contract.ts";
import type { Match, Matcher } from "../matching/contract.ts";

/** `paramKind` of a policy. */
export interface ParamKind {
  readonly apiVersion?: string;
  readonly kind?: string;
}

/** A stored policy of one version. */
export interface Policy {
  readonly name: string;
  readonly spec: PolicySpec;
  readonly matcher: Matcher;
  /** Errors of the policy reject the request unless this is `Ignore`. */
  readonly failurePolicy: "Fail" | "Ignore";
  /** The compiled expressions, which the first matching request sets. */
  compiled?: unknown;
}

/** The fields of both kinds of policies that evaluation reads. */
export interface PolicySpec {
  readonly paramKind?: ParamKind;
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
  readonly validations?: readonly Validation[];
  readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[];
  readonly mutations?: readonly Mutation[];
  readonly reinvocationPolicy?: string;
}

/** An item of `validations`. */
export interface Validation {
  readonly expression?: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

/** An item of `mutations`. */
export interface Mutation {
  readonly patchType?: string;
  readonly applyConfiguration?: { readonly expression?: string };
  readonly jsonPatch?: { readonly expression?: string };
}

/** A stored binding of one version. */
export interface Binding {
  readonly name: string;
  readonly policyName: string;
  /** Undefined for all requests that the policy matches. */
  readonly matcher: Matcher | undefined;
  readonly paramRef: ParamRef | undefined;
  /** Undefined for bindings of mutating policies. */
  readonly validationActions: readonly string[] | undefined;
}

/** `paramRef` of a binding. */
export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: object;
  readonly parameterNotFoundAction?: string;
}

/** A policy with its bindings, of which there is at least one. */
export interface BoundPolicy {
  readonly policy: Policy;
  readonly bindings: readonly Binding[];
}

/** A policy whose rules match a request, or could not be evaluated. */
export interface Candidate extends BoundPolicy {
  readonly match: Match | { readonly error: string };
}

/** Objects for expressions that read parameters; null when the binding has none. */
export type Param = KubeObject | null;

/** The type of an error in the metrics of policies. */
export type PolicyErrorType = "compile_error" | "invalid_error" | "out_of_budget" | "no_error";

/** Identifies a policy and a binding in metrics. */
export interface PolicyLabels {
  readonly policy: string;
  readonly binding: string;
  readonly errorType: PolicyErrorType;
}

/**
 * Records the metrics of policies. Durations are in seconds.
 * Source: pkg/admission/plugin/policy/{validating,mutating}/metrics of k8s.io/apiserver@v0.36.0.
 */
export interface PolicyObserver extends ConditionObserver {
  validated(labels: PolicyLabels, action: "allow" | "deny" | "audit" | "warn", seconds: number): void;
  mutated(labels: PolicyLabels, seconds: number): void;
}

/** Measures and records evaluations. */
export interface Measuring {
  readonly observer: PolicyObserver;
  /** Returns a monotonic time in milliseconds. */
  now(): number;
}
