/**
 * The evaluations of mutating policies for one request. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/generic/policy_dispatcher.go.
 */
import { ApiError } from "../../apimachinery/errors.ts";
import type { Resolved } from "../../catalog/contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { Match } from "../matching/contract.ts";
import { rejection } from "../rejection.ts";
import type { Binding, Candidate, Param, Policy } from "./contract.ts";
import type { MutatedObjects } from "./mutated-objects.ts";
import { ConfigurationError, findParams, paramResource } from "./parameters.ts";
import { tracePolicy, traceUnmatchedBinding } from "./trace-policies.ts";
import type { PolicyNeeds } from "./validating.ts";

/** One evaluation: a policy with a binding and a parameter. */
export interface Invocation {
  readonly policy: Policy;
  readonly binding: Binding;
  readonly match: Match;
  /** Undefined for a policy without parameters. */
  readonly paramResource: Resolved | undefined;
  readonly param: Param;
}

/** An error of a policy, which rejects the request unless the policy ignores failures. */
export interface PolicyError {
  readonly policy: Policy;
  readonly binding: Binding | undefined;
  readonly message: string;
  /** Replaces the reason `Forbidden`. */
  readonly reason?: "Invalid";
}

/** Finds the evaluations of a request, in order, before the first of them changes the object. */
export async function findInvocations(
  { catalog }: Pick<PolicyNeeds, "catalog">,
  { candidates, attributes, objects }: RequestOfPolicies,
  errors: PolicyError[],
): Promise<Invocation[]> {
  const invocations: Invocation[] = [];
  for (const { policy, bindings, match } of candidates) {
    const failed = (binding: Binding | undefined, message: string): void => {
      const what = binding === undefined ? "policy" : "binding";
      errors.push({ policy, binding, message: `failed to configure ${what}: ${message}` });
      const traced = { kind: "mutatingadmission", policy, ...(binding !== undefined && { binding }) } as const;
      tracePolicy(attributes, traced, { outcome: "failed", message, seconds: 0 });
    };
    if ("error" in match) {
      failed(undefined, match.error);
      continue;
    }
    for (const binding of bindings) {
      let blamed: Binding | undefined = binding;
      try {
        if (binding.matcher !== undefined && (await binding.matcher.match(attributes)) === undefined) {
          traceUnmatchedBinding(attributes, { kind: "mutatingadmission", policy, binding });
          continue;
        }
        blamed = undefined;
        const resource = paramResource(catalog, policy.spec.paramKind);
        await objects.at(match);
        blamed = binding;
        const params = await findParams(resource, binding, attributes.namespace);
        invocations.push(...params.map((param) => ({ policy, binding, match, paramResource: resource, param })));
      } catch (error) {
        if (!(error instanceof ApiError) && !(error instanceof ConfigurationError)) throw error;
        failed(blamed, error.message);
      }
    }
  }
  return invocations;
}

/** The policies that match a request. */
export interface RequestOfPolicies {
  readonly candidates: readonly Candidate[];
  readonly attributes: AdmissionAttributes;
  readonly objects: MutatedObjects;
}

/**
 * Rejects the request with the first error, whose message and reason it has; all are causes.
 *
 * @throws ApiError 403 unless all policies ignore failures
 */
export function rejectForErrors(attributes: AdmissionAttributes, errors: readonly PolicyError[]): void {
  const effective = errors.filter(({ policy }) => policy.failurePolicy !== "Ignore");
  const [first] = effective;
  if (first === undefined) return;
  const causes = effective.map((error) => ({ message: textOf(error) }));
  const { status } = rejection(attributes, "", causes);
  throw new ApiError({ ...status, message: textOf(first), reason: first.reason ?? "Forbidden" });
}

function textOf({ policy, binding, message }: PolicyError): string {
  if (binding === undefined) return `policy ${quoteGo(policy.name)} denied request: ${message}`;
  return `policy '${policy.name}' with binding '${binding.name}' denied request: ${message}`;
}
