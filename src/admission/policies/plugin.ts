/**
 * The plugins of policies: select the policies that match a request, and load the code that
 * evaluates them on demand. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/generic/plugin.go.
 */
import { ApiError } from "../../apimachinery/errors.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../contract.ts";
import type { BoundPolicy, Candidate } from "./contract.ts";
import type { StoredPolicies } from "./stored-policies.ts";
import { tracePolicy } from "./trace-policies.ts";

/** Evaluates the policies that match a request. @throws ApiError that rejects the request */
export type EvaluatePolicies = (
  candidates: readonly Candidate[],
  attributes: AdmissionAttributes,
) => void | Promise<void>;

interface PolicyPluginOptions {
  readonly stored: StoredPolicies;
  /** Loads the code that compiles and evaluates expressions. */
  load(): Promise<EvaluatePolicies>;
}

/** The plugin ValidatingAdmissionPolicy. */
export function validatingAdmissionPolicy(options: PolicyPluginOptions): AdmissionPlugin {
  return { name: "ValidatingAdmissionPolicy", validate: runner("validatingadmission", options) };
}

/** The plugin MutatingAdmissionPolicy. Deletions have no object to change. */
export function mutatingAdmissionPolicy(options: PolicyPluginOptions): AdmissionPlugin {
  const run = runner("mutatingadmission", options);
  return {
    name: "MutatingAdmissionPolicy",
    mutate: (attributes) => (attributes.operation === "DELETE" ? undefined : run(attributes)),
  };
}

function runner(
  kind: "validatingadmission" | "mutatingadmission",
  { stored, load }: PolicyPluginOptions,
): (attributes: AdmissionAttributes) => void | Promise<void> {
  let evaluate: EvaluatePolicies | undefined;
  const run = (
    policies: readonly BoundPolicy[],
    candidates: readonly Candidate[],
    attributes: AdmissionAttributes,
  ): void | Promise<void> => {
    if (attributes.trace !== undefined) traceSkipped(kind, policies, candidates, attributes);
    if (candidates.length === 0) return;
    if (evaluate !== undefined) return evaluate(candidates, attributes);
    return load().then((loaded) => {
      evaluate = loaded;
      return loaded(candidates, attributes);
    });
  };
  const select = (policies: readonly BoundPolicy[], attributes: AdmissionAttributes): void | Promise<void> => {
    const selected = candidatesOf(policies, attributes);
    return selected instanceof Promise
      ? selected.then((candidates) => run(policies, candidates, attributes))
      : run(policies, selected, attributes);
  };
  return (attributes) => {
    if (isExcluded(attributes)) return;
    const policies = stored.current();
    return policies instanceof Promise
      ? policies.then((loaded) => select(loaded, attributes))
      : select(policies, attributes);
  };
}

function traceSkipped(
  kind: "validatingadmission" | "mutatingadmission",
  policies: readonly BoundPolicy[],
  candidates: readonly Candidate[],
  attributes: AdmissionAttributes,
): void {
  const matching = new Set(candidates.map(({ policy }) => policy));
  const message = "the request does not match the matchConstraints of the policy";
  for (const { policy } of policies)
    if (!matching.has(policy)) tracePolicy(attributes, { kind, policy }, { outcome: "skipped", message, seconds: 0 });
}

/**
 * Reviews of authentication and authorization, whose interception could break the cluster, and the
 * policies themselves. Source: k8s.io/kubernetes@v1.36.0/pkg/kubeapiserver/admission/exclusion.
 */
const excluded: Readonly<Record<string, ReadonlySet<string>>> = {
  "authentication.k8s.io": new Set(["selfsubjectreviews", "tokenreviews"]),
  "authorization.k8s.io": new Set([
    "localsubjectaccessreviews",
    "selfsubjectaccessreviews",
    "selfsubjectrulesreviews",
    "subjectaccessreviews",
  ]),
  "admissionregistration.k8s.io": new Set([
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
  ]),
};

function isExcluded({ target }: AdmissionAttributes): boolean {
  const { group, resource } = target.resource.definition;
  return Object.hasOwn(excluded, group) && (excluded[group]?.has(resource) ?? false);
}

/** The policies whose rules match. A promise only if a namespace is not in the watch cache yet. */
function candidatesOf(
  policies: readonly BoundPolicy[],
  attributes: AdmissionAttributes,
): readonly Candidate[] | Promise<readonly Candidate[]> {
  const candidates: (Candidate | undefined | Promise<Candidate | undefined>)[] = [];
  let isPending = false;
  for (const bound of policies) {
    const candidate = candidateOf(bound, attributes);
    if (candidate === undefined) continue;
    isPending ||= candidate instanceof Promise;
    candidates.push(candidate);
  }
  const present = (found: readonly (Candidate | undefined)[]): Candidate[] =>
    found.filter((candidate) => candidate !== undefined);
  return isPending ? Promise.all(candidates).then(present) : (candidates as Candidate[]);
}

function candidateOf(
  bound: BoundPolicy,
  attributes: AdmissionAttributes,
): Candidate | undefined | Promise<Candidate | undefined> {
  const failed = (error: unknown): Candidate => {
    if (error instanceof ApiError) return { ...bound, match: { error: error.message } };
    throw error;
  };
  try {
    const match = bound.policy.matcher.match(attributes);
    if (match instanceof Promise)
      return match.then((late) => (late === undefined ? undefined : { ...bound, match: late }), failed);
    return match === undefined ? undefined : { ...bound, match };
  } catch (error) {
    return failed(error);
  }
}
