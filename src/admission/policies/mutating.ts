/**
 * Evaluates the MutatingAdmissionPolicies that match a request. Loaded with the first of them.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/mutating/dispatcher.go.
 */
import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { runtimeBudget } from "../../cel-environment/limits.ts";
import { OutOfBudget, type PolicyBindings } from "../../cel-environment/policy-evaluator.ts";
import type { CelValue } from "../../lib/cel/index.ts";
import { diffJson } from "../../lib/json/diff.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { Pauses } from "../../lib/pauses.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { TraceStep } from "../../request/admission-trace.ts";
import { AuthorizationChecks } from "../expressions/authorization-checks.ts";
import { type ConditionsResult, evaluateConditions, recordConditions } from "../expressions/match-conditions.ts";
import { requestBindings } from "../expressions/request-bindings.ts";
import { requestedResource } from "../matching/kinds.ts";
import { applyConfiguration, applyPatch, MutationError } from "./apply-mutation.ts";
import { type CompiledMutation, compiledMutations } from "./compile-mutations.ts";
import { findInvocations, type Invocation, type PolicyError, rejectForErrors } from "./invocations.ts";
import { type MutatedObject, MutatedObjects } from "./mutated-objects.ts";
import type { EvaluatePolicies } from "./plugin.ts";
import { type PolicyReinvocation, policyReinvocation } from "./reinvocation.ts";
import { errorType, findNamespace } from "./request-objects.ts";
import { type TracedPolicy, traceOfConditions, tracePolicy } from "./trace-policies.ts";
import type { PolicyNeeds } from "./validating.ts";

/** One run of the plugin. */
interface Run {
  readonly attributes: AdmissionAttributes;
  readonly namespace: (() => KubeObject) | undefined;
  readonly objects: MutatedObjects;
  readonly checks: AuthorizationChecks;
  readonly reinvocation: PolicyReinvocation;
  readonly pauses: Pauses;
  readonly errors: PolicyError[];
  /** The object that the last evaluation read, which becomes that of the request. */
  last: MutatedObject | undefined;
}

/** Creates the function that the plugin calls. */
export function mutatingEvaluation(needs: PolicyNeeds): EvaluatePolicies {
  return async (candidates, attributes) => {
    const objects = new MutatedObjects(needs.versioned, attributes);
    const errors: PolicyError[] = [];
    const invocations = await findInvocations(needs, { candidates, attributes, objects }, errors);
    if (invocations.length > 0) await runAll(needs, { attributes, objects, errors }, invocations);
    rejectForErrors(attributes, errors);
  };
}

async function runAll(
  needs: PolicyNeeds,
  request: Pick<Run, "attributes" | "objects" | "errors">,
  invocations: readonly Invocation[],
): Promise<void> {
  const { attributes } = request;
  const reinvocation = policyReinvocation(attributes);
  reinvocation.start(attributes.object);
  try {
    const checks = new AuthorizationChecks(needs.authorize, attributes);
    const namespace = await findNamespace(needs.namespaces, attributes);
    const run: Run = { ...request, namespace, checks, reinvocation, pauses: new Pauses(needs.now), last: undefined };
    for (const invocation of invocations) await invoke(needs, run, invocation);
    if (run.last?.mutated !== undefined) {
      reinvocation.changed();
      await run.objects.store(run.last);
    }
  } finally {
    reinvocation.finish(attributes.object);
  }
}

async function invoke(needs: PolicyNeeds, run: Run, invocation: Invocation): Promise<void> {
  const { policy, binding, match, param } = invocation;
  const mutated = await run.objects.at(match);
  const start = needs.now();
  const trace = (step: Omit<TraceStep, "plugin" | "phase" | "seconds">): void =>
    tracePolicy(run.attributes, tracedInvocation(invocation), { ...step, seconds: (needs.now() - start) / 1000 });
  const conditions = await evaluateMatchConditions(needs, run, invocation, mutated);
  if (!conditions.matches) {
    trace(traceOfConditions(conditions));
    if (conditions.error !== undefined)
      run.errors.push({ policy, binding, message: conditions.error, reason: "Invalid" });
    return;
  }
  const { namespace = "", name = "" } = param?.metadata ?? {};
  const key = JSON.stringify([policy.name, binding.name, namespace, name]);
  if (!run.reinvocation.isDue(key)) return;
  const before = mutated.object;
  for (const mutation of compiledMutations(policy).mutations) {
    run.last = mutated;
    if (mutated.object !== null) await mutate(needs, run, { invocation, mutated, mutation });
  }
  const isChanged = !deepEqual(before, mutated.object);
  if (isChanged) run.reinvocation.changed();
  const failed = run.errors.find((error) => error.binding === binding);
  if (failed !== undefined) trace({ outcome: "failed", message: failed.message });
  else if (run.attributes.trace !== undefined)
    trace({ outcome: isChanged ? "changed" : "unchanged", patch: diffJson(before, mutated.object) });
  if (policy.spec.reinvocationPolicy === "IfNeeded") run.reinvocation.evaluated(key);
}

function tracedInvocation({ policy, binding, paramResource: resource, param }: Invocation): TracedPolicy {
  const params = resource && param ? { resource, param } : undefined;
  return { kind: "mutatingadmission", policy, binding, params };
}

async function evaluateMatchConditions(
  { now, observer }: PolicyNeeds,
  { attributes, checks, pauses }: Run,
  { policy, match, param }: Invocation,
  objects: MutatedObject,
): Promise<ConditionsResult> {
  const { conditions } = compiledMutations(policy);
  if (conditions === undefined) return { matches: true };
  const asRequested = { kind: match.kind, resource: requestedResource(attributes) };
  const bindings = requestBindings({ attributes, match: asRequested, objects, params: param, checks });
  const start = now();
  const counts = { errors: 0 };
  const result = await checks.evaluate(() => evaluateConditions(conditions, bindings, pauses, counts));
  const owner = { name: policy.name, kind: "policy", type: "validate" } as const;
  const seconds = (now() - start) / 1000;
  recordConditions(observer, { owner, operation: attributes.operation, result, errors: counts.errors, seconds });
  return result;
}

interface Step {
  readonly invocation: Invocation;
  readonly mutated: MutatedObject;
  readonly mutation: CompiledMutation;
}

/** Applies one mutation. An error of it does not end the policy. @throws ApiError 500 */
async function mutate({ now, observer }: PolicyNeeds, run: Run, step: Step): Promise<void> {
  const { policy, binding } = step.invocation;
  const start = now();
  const record = (message: string | undefined): void => {
    const type = message === undefined ? "no_error" : errorType("error", message);
    observer.mutated({ policy: policy.name, binding: binding.name, errorType: type }, (now() - start) / 1000);
  };
  try {
    await applyMutation(run, step);
    record(undefined);
  } catch (error) {
    if (error instanceof ApiError) record(error.message);
    if (!(error instanceof MutationError)) throw error;
    record(error.message);
    run.errors.push({ policy, binding, message: error.message, reason: "Invalid" });
  }
}

async function applyMutation(
  { attributes, namespace, objects, checks, pauses }: Run,
  { invocation, mutated, mutation }: Step,
): Promise<void> {
  const { policy, match, param } = invocation;
  const bindings = requestBindings({ attributes, match, objects: mutated, params: param, namespace, checks });
  const value = await checks.evaluate(() => resultOf(policy, mutation, bindings, pauses));
  const schema = objects.schemaOf(match);
  const apply = mutation.type === "JSONPatch" ? applyPatch : applyConfiguration;
  const patched = apply(value, mutated.object as unknown as KubeObject, schema);
  checkConvertible(attributes, match);
  await objects.replace(mutated, patched);
}

/** Upstream cannot convert the Scale of a custom resource back. @throws MutationError */
function checkConvertible({ target }: AdmissionAttributes, { kind: { group, version } }: Invocation["match"]): void {
  const { definition } = target.resource;
  if (definition.custom && definition.group !== group)
    throw new MutationError(`request to convert CR to an invalid group/version: ${group}/${version}`);
}

/** @throws MutationError */
async function resultOf(
  policy: Invocation["policy"],
  { expression }: CompiledMutation,
  bindings: PolicyBindings,
  pauses: Pauses,
): Promise<CelValue> {
  if (pauses.isDue()) await pauses.pause();
  if (expression.error !== undefined) throw new MutationError(expression.error);
  try {
    const { value, error } = compiledMutations(policy).compiler.evaluator(bindings, runtimeBudget).evaluate(expression);
    if (value === undefined) throw new MutationError(error ?? "");
    return value;
  } catch (error) {
    if (error instanceof OutOfBudget) throw new MutationError(error.message);
    throw error;
  }
}
