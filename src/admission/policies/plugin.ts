/**
 * The plugins of policies: select the policies that match a request, and load the code that
 * evaluates them on demand. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/generic/plugin.go.
 */
import { ApiError } from "../../apimachinery/errors.ts";
import type { Catalog } from "../../catalog/contract.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import { combined } from "../configurations.ts";
import type { AdmissionPlugin } from "../contract.ts";
import { findPossible } from "../matching/possible.ts";
import type { BoundPolicy, Candidate } from "./contract.ts";
import type { StoredPolicies } from "./stored-policies.ts";
import { tracePolicy } from "./trace-policies.ts";

/** Evaluates the policies that match a request. @throws ApiError that rejects the request */
export type EvaluatePolicies = (candidates: readonly Candidate[], attributes: AdmissionAttributes) => Promise<void>;

interface PolicyPluginOptions {
  readonly stored: StoredPolicies;
  /** Policies of static manifests, which are evaluated first, and also for policies. */
  readonly statics?: StoredPolicies | undefined;
  readonly catalog: Pick<Catalog, "generation">;
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
  { stored, statics, load, catalog }: PolicyPluginOptions,
): NonNullable<AdmissionPlugin["validate"]> {
  let evaluate: EvaluatePolicies | undefined;
  const all =
    statics === undefined ? stored : combined(statics, stored, (ofFiles, ofClients) => [...ofFiles, ...ofClients]);
  const possibleOf = findPossible<BoundPolicy>(catalog, ({ policy }) => policy.matcher);
  const run = async (source: StoredPolicies, attributes: AdmissionAttributes): Promise<void> => {
    if (!source.isLoaded()) await source.load();
    const policies = source.current();
    const isTraced = attributes.trace !== undefined;
    const candidates = await candidatesOf(isTraced ? policies : possibleOf(policies, attributes), attributes);
    if (isTraced) traceSkipped(kind, policies, candidates, attributes);
    if (candidates.length === 0) return;
    evaluate ??= await load();
    await evaluate(candidates, attributes);
  };
  return (attributes) => {
    const source = sourceFor(attributes, all, statics);
    if (source === undefined) return;
    if (!source.isLoaded() || attributes.trace !== undefined) return run(source, attributes);
    const policies = source.current();
    if (policies.length > 0 && possibleOf(policies, attributes).length > 0) return run(source, attributes);
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
 * Reviews of authentication and authorization, whose interception could break the cluster. Source:
 * k8s.io/kubernetes@v1.36.0/pkg/kubeapiserver/admission/exclusion.
 */
const reviews: Readonly<Record<string, ReadonlySet<string>>> = {
  "authentication.k8s.io": new Set(["selfsubjectreviews", "tokenreviews"]),
  "authorization.k8s.io": new Set([
    "localsubjectaccessreviews",
    "selfsubjectaccessreviews",
    "selfsubjectrulesreviews",
    "subjectaccessreviews",
  ]),
};

/** Stored policies do not apply to policies, so that a wrong one can be removed. */
const policyKinds = new Set([
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
]);

function sourceFor(
  { target }: AdmissionAttributes,
  all: StoredPolicies,
  statics: StoredPolicies | undefined,
): StoredPolicies | undefined {
  const { group, resource } = target.resource.definition;
  if (Object.hasOwn(reviews, group) && reviews[group]?.has(resource)) return undefined;
  return group === "admissionregistration.k8s.io" && policyKinds.has(resource) ? statics : all;
}

/** The policies whose rules and selectors match. */
async function candidatesOf(
  policies: readonly BoundPolicy[],
  attributes: AdmissionAttributes,
): Promise<readonly Candidate[]> {
  const candidates = await Promise.all(policies.map((bound) => candidateOf(bound, attributes)));
  return candidates.filter((candidate) => candidate !== undefined);
}

async function candidateOf(
  { policy, bindings }: BoundPolicy,
  attributes: AdmissionAttributes,
): Promise<Candidate | undefined> {
  try {
    const match = await policy.matcher.match(attributes);
    return match && { policy, bindings, match };
  } catch (error) {
    if (error instanceof ApiError) return { policy, bindings, match: { error: error.message } };
    throw error;
  }
}
