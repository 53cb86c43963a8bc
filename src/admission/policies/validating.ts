/**
 * Evaluates the ValidatingAdmissionPolicies that match a request. Loaded with the first of them.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/validating/dispatcher.go.
 */
import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Authorizer } from "../../authorization/contract.ts";
import type { Catalog, Resolved } from "../../catalog/contract.ts";
import { encodeAny } from "../../lib/json/encode-any.ts";
import { Pauses } from "../../lib/pauses.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import { annotateAudit } from "../annotate.ts";
import { AuthorizationChecks } from "../expressions/authorization-checks.ts";
import { recordConditions } from "../expressions/match-conditions.ts";
import type { RequestObjects } from "../expressions/request-bindings.ts";
import type { Match } from "../matching/contract.ts";
import type { Namespaces } from "../matching/namespaces.ts";
import type { VersionedObjects } from "../matching/versioned.ts";
import { rejection } from "../rejection.ts";
import { AuditAnnotations } from "./audit-annotations.ts";
import { compiledValidations } from "./compile-validations.ts";
import type { Binding, Candidate, Measuring, Param, Policy } from "./contract.ts";
import { type Decision, evaluateValidations, type ValidationResult } from "./evaluate-validations.ts";
import { ConfigurationError, findParams, paramResource } from "./parameters.ts";
import type { EvaluatePolicies } from "./plugin.ts";
import { errorType, findNamespace, noObjects, ObjectsByKind } from "./request-objects.ts";
import { RequestVariables } from "./request-variables.ts";
import { traceOfResult, tracePolicy, traceUnmatchedBinding } from "./trace-policies.ts";

/** What the evaluation of policies needs of the server. */
export interface PolicyNeeds extends Measuring {
  readonly catalog: Catalog;
  readonly authorize: Authorizer;
  readonly namespaces: Namespaces;
  readonly versioned: VersionedObjects;
}

/** A rejection: which policy, which binding, and why. */
interface Denial extends Pick<Decision, "message" | "reason"> {
  readonly policy: Policy;
  readonly binding: Binding | undefined;
}

/** One request. */
interface Run {
  readonly attributes: AdmissionAttributes;
  readonly objects: ObjectsByKind;
  readonly checks: AuthorizationChecks;
  readonly denials: Denial[];
  readonly pauses: Pauses;
}

/**
 * Creates the function that the plugin calls. All policies are evaluated; the first denial is the
 * answer.
 */
export function validatingEvaluation(needs: PolicyNeeds): EvaluatePolicies {
  return (candidates, attributes) => evaluateAll(needs, candidates, attributes);
}

async function evaluateAll(
  needs: PolicyNeeds,
  candidates: readonly Candidate[],
  attributes: AdmissionAttributes,
): Promise<void> {
  const checks = new AuthorizationChecks(needs.authorize, attributes);
  const objects = new ObjectsByKind(needs.versioned, attributes);
  const run: Run = { attributes, objects, checks, denials: [], pauses: new Pauses(needs.now) };
  for (const candidate of candidates) await evaluatePolicy(needs, run, candidate);
  const [first] = run.denials;
  if (first !== undefined) throw denialError(attributes, first);
}

async function evaluatePolicy(needs: PolicyNeeds, run: Run, { policy, bindings, match }: Candidate): Promise<void> {
  if ("error" in match) return configurationError(run, policy, undefined, match.error);
  const annotations = new AuditAnnotations();
  try {
    const resource = paramResource(needs.catalog, policy.spec.paramKind);
    for (const binding of bindings) {
      const prepared = await prepare(run, policy, binding, { match, resource });
      if (prepared === undefined) continue;
      const namespace = await findNamespace(needs.namespaces, run.attributes);
      for (const param of prepared.params) {
        const result = await evaluate(needs, run, { ...prepared, policy, match, namespace, param });
        if (run.attributes.trace !== undefined) {
          const params = resource && param ? { resource, param } : undefined;
          const step = traceOfResult(result, binding.validationActions);
          tracePolicy(run.attributes, { kind, policy, binding, params }, step);
        }
        collect(needs, run, { policy, binding, result }, annotations);
      }
    }
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    configurationError(run, policy, undefined, error.message);
  }
  annotations.publish(policy.name, run.attributes);
}

const kind = "validatingadmission";

interface Prepared {
  readonly params: readonly Param[];
  /** Undefined without parameters, which are not evaluated. */
  readonly objects: RequestObjects | undefined;
}

interface PrepareInput {
  readonly match: Match;
  readonly resource: Resolved | undefined;
}

/** @returns undefined if the binding does not match, or has an error, which is recorded */
async function prepare(
  run: Run,
  policy: Policy,
  binding: Binding,
  { match, resource }: PrepareInput,
): Promise<Prepared | undefined> {
  const { attributes, objects } = run;
  try {
    if (binding.matcher !== undefined && (await binding.matcher.match(attributes)) === undefined) {
      traceUnmatchedBinding(attributes, { kind, policy, binding });
      return undefined;
    }
    const params = await findParams(resource, binding, attributes.namespace);
    return { params, objects: params.length === 0 ? undefined : await objects.at(match) };
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof ConfigurationError)) throw error;
    configurationError(run, policy, binding, error.message);
    return undefined;
  }
}

interface Input extends Prepared {
  readonly policy: Policy;
  readonly match: Match;
  readonly namespace: (() => KubeObject) | undefined;
  readonly param: Param;
}

function evaluate(
  { now }: PolicyNeeds,
  { attributes, checks, pauses }: Run,
  { policy, match, namespace, param, objects = noObjects }: Input,
): Promise<ValidationResult> {
  const compiled = compiledValidations(policy);
  const bindings = new RequestVariables({ attributes, match, objects, params: param, namespace, checks });
  const options = { failurePolicy: policy.failurePolicy, now, pauses };
  return checks.evaluate(() => evaluateValidations(compiled, bindings, options));
}

/** The result of one evaluation, with the objects that messages name. */
interface Evaluated {
  readonly policy: Policy;
  readonly binding: Binding;
  readonly result: ValidationResult;
}

function recordResult(
  { observer }: PolicyNeeds,
  { operation }: AdmissionAttributes,
  { policy, result }: Evaluated,
): void {
  if (result.conditions === undefined) return;
  const owner = { name: policy.name, kind: "policy", type: "validate" } as const;
  recordConditions(observer, { owner, operation, ...result.conditions });
}

/** Records conditions, applies the actions of the binding to the decisions, and collects annotations. */
function collect(needs: PolicyNeeds, run: Run, evaluated: Evaluated, annotations: AuditAnnotations): void {
  const { policy, binding, result } = evaluated;
  recordResult(needs, run.attributes, evaluated);
  for (let index = 0; index < result.decisions.length; index++) {
    const decision = result.decisions[index] as Decision;
    if (decision.evaluation !== "admit") applyDecision(needs, run, evaluated, { index, decision });
  }
  for (const { key, action, text, seconds } of result.annotations) {
    if (action === "publish") annotations.add(key, text);
    if (action !== "error") continue;
    run.denials.push({ policy, binding, message: text, reason: "" });
    const labels = { policy: policy.name, binding: binding.name, errorType: errorType("error", text) };
    needs.observer.validated(labels, "deny", seconds);
  }
}

function applyDecision(
  { observer }: PolicyNeeds,
  { attributes, denials }: Run,
  { policy, binding }: Evaluated,
  { index, decision }: { readonly index: number; readonly decision: Decision },
): void {
  const { action, evaluation, message, reason, seconds } = decision;
  const labels = { policy: policy.name, binding: binding.name, errorType: errorType(evaluation, message) };
  if (action === "admit") {
    observer.validated(labels, "allow", seconds);
    return;
  }
  for (const validationAction of binding.validationActions ?? []) {
    if (validationAction === "Deny") {
      denials.push({ policy, binding, message, reason });
      observer.validated(labels, "deny", seconds);
    } else if (validationAction === "Audit") {
      annotateAudit(attributes, failureKey, failureValue(binding, index, message));
      observer.validated(labels, "audit", seconds);
    } else if (validationAction === "Warn") {
      attributes.warnings.push(
        `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`,
      );
      observer.validated(labels, "warn", seconds);
    }
  }
}

const failureKey = "validation.policy.admission.k8s.io/validation_failure";

function failureValue(binding: Binding, expressionIndex: number, message: string): string {
  const { name, policyName, validationActions = null } = binding;
  return encodeAny([{ message, policy: policyName, binding: name, expressionIndex, validationActions }]);
}

/** Errors of the configuration reject the request, unless the policy ignores failures. */
function configurationError(
  { denials, attributes }: Pick<Run, "denials" | "attributes">,
  policy: Policy,
  binding: Binding | undefined,
  problem: string,
): void {
  const traced = { kind, policy, ...(binding !== undefined && { binding }) } as const;
  tracePolicy(attributes, traced, { outcome: "failed", message: problem, seconds: 0 });
  if (policy.failurePolicy === "Ignore") return;
  const message = `failed to configure ${binding === undefined ? "policy" : "binding"}: ${problem}`;
  denials.push({ policy, binding, message, reason: "" });
}

const codes: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };

function denialError(attributes: AdmissionAttributes, { policy, binding, message, reason }: Denial): ApiError {
  const bound = binding === undefined ? "" : ` with binding '${binding.name}'`;
  const text = `ValidatingAdmissionPolicy '${policy.name}'${bound} denied request: ${message}`;
  const error = rejection(attributes, text, [{ message: text }]);
  const status = reason === "" ? "Invalid" : reason;
  return new ApiError({ ...error.status, reason: status, code: codes[status] ?? 422 });
}
