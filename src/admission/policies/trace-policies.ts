/** Reports what policies do to a request, for an explanation. */
import type { Resolved } from "../../catalog/contract.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { TracedObject, TraceStep } from "../../request/admission-trace.ts";
import type { ConditionsResult } from "../expressions/match-conditions.ts";
import type { Binding, Param, Policy } from "./contract.ts";
import type { ValidationResult } from "./evaluate-validations.ts";

/** A policy, and what it was evaluated with. */
export interface TracedPolicy {
  readonly kind: "validatingadmission" | "mutatingadmission";
  readonly policy: Policy;
  readonly binding?: Binding;
  /** Undefined without parameters. */
  readonly params?: { readonly resource: Resolved; readonly param: NonNullable<Param> } | undefined;
}

/** Reports a step of a policy. */
export function tracePolicy(
  { trace }: Pick<AdmissionAttributes, "trace">,
  traced: TracedPolicy,
  step: Pick<TraceStep, "outcome" | "message" | "patch" | "seconds">,
): void {
  const isMutating = traced.kind === "mutatingadmission";
  trace?.add({
    plugin: isMutating ? "MutatingAdmissionPolicy" : "ValidatingAdmissionPolicy",
    phase: isMutating ? "mutating" : "validating",
    part: traced.policy.name,
    objects: objectsOf(traced),
    ...step,
  });
}

/** Reports a binding whose matchResources exclude the request. */
export function traceUnmatchedBinding(attributes: Pick<AdmissionAttributes, "trace">, traced: TracedPolicy): void {
  const message = "the request does not match the matchResources of the binding";
  tracePolicy(attributes, traced, { outcome: "skipped", message, seconds: 0 });
}

function objectsOf({ kind, policy, binding, params }: TracedPolicy): TracedObject[] {
  const configuration = { group: "admissionregistration.k8s.io", version: "v1", namespace: "" };
  const objects: TracedObject[] = [{ ...configuration, resource: `${kind}policies`, name: policy.name }];
  if (binding !== undefined) objects.push({ ...configuration, resource: `${kind}policybindings`, name: binding.name });
  if (params === undefined) return objects;
  const { group, resource } = params.resource.resource.definition;
  const { namespace = "", name = "" } = params.param.metadata;
  return [...objects, { group, version: params.resource.version.version, resource, namespace, name }];
}

/**
 * The outcome of an evaluation: the first denial, or why the conditions exclude the request.
 *
 * @param actions of the binding; without `Deny`, a failed validation does not reject the request
 */
export function traceOfResult(
  { decisions, conditions }: ValidationResult,
  actions: readonly string[] = [],
): Pick<TraceStep, "outcome" | "message" | "seconds"> {
  const seconds = decisions.reduce((sum, decision) => sum + decision.seconds, conditions?.seconds ?? 0);
  const denied = decisions.find(({ action }) => action === "deny");
  if (denied !== undefined && actions.includes("Deny"))
    return { outcome: denied.evaluation === "error" ? "failed" : "rejected", message: denied.message, seconds };
  if (denied !== undefined) return { outcome: "allowed", message: `${actions.join(", ")}: ${denied.message}`, seconds };
  if (conditions === undefined || conditions.result.matches) return { outcome: "allowed", seconds };
  return { ...traceOfConditions(conditions.result), seconds };
}

/** The outcome of match conditions that exclude the request, or failed. */
export function traceOfConditions(
  result: ConditionsResult & { readonly matches: false },
): Pick<TraceStep, "outcome" | "message"> {
  if (result.error !== undefined) return { outcome: "failed", message: result.error };
  const { condition } = result;
  const message = condition === undefined ? "a match condition failed" : `the match condition ${condition} is false`;
  return { outcome: "skipped", message };
}
