/**
 * The plugins of policies: select the policies that match a request, and load the code that
 * evaluates them on demand. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/generic/plugin.go.
 */
import { ApiError } from "../../apimachinery/errors.ts";
import type { Catalog } from "../../catalog/contract.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../contract.ts";
import type { Match } from "../matching/contract.ts";
import type { BoundPolicy, Candidate } from "./contract.ts";
import { possiblePolicies } from "./possible-policies.ts";
import type { StoredPolicies } from "./stored-policies.ts";
import { tracePolicy } from "./trace-policies.ts";

/** Evaluates the policies that match a request. @throws ApiError that rejects the request */
export type EvaluatePolicies = (
  candidates: readonly Candidate[],
  attributes: AdmissionAttributes,
) => void | Promise<void>;

interface PolicyPluginOptions {
  readonly stored: StoredPolicies;
  /** Policies of static manifests, which are evaluated first, and also for policies. */
  readonly statics?: Pick<StoredPolicies, "current"> | undefined;
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
): (attributes: AdmissionAttributes) => void | Promise<void> {
  let evaluate: EvaluatePolicies | undefined;
  const all = statics === undefined ? stored : combined(statics, stored);
  const findPossible = possiblePolicies(catalog);
  const loadAndRun = async (candidates: readonly Candidate[], attributes: AdmissionAttributes): Promise<void> => {
    evaluate = await load();
    await evaluate(candidates, attributes);
  };
  const run = (
    policies: readonly BoundPolicy[],
    candidates: readonly Candidate[],
    attributes: AdmissionAttributes,
  ): void | Promise<void> => {
    if (attributes.trace !== undefined) traceSkipped(kind, policies, candidates, attributes);
    if (candidates.length === 0) return;
    return evaluate === undefined ? loadAndRun(candidates, attributes) : evaluate(candidates, attributes);
  };
  const runSelected = async (
    policies: readonly BoundPolicy[],
    selecting: Promise<readonly Candidate[]>,
    attributes: AdmissionAttributes,
  ): Promise<void> => run(policies, await selecting, attributes);
  const select = (policies: readonly BoundPolicy[], attributes: AdmissionAttributes): void | Promise<void> => {
    const possible = attributes.trace === undefined ? findPossible(policies, attributes) : policies;
    const selected = candidatesOf(possible, attributes);
    return selected instanceof Promise
      ? runSelected(policies, selected, attributes)
      : run(policies, selected, attributes);
  };
  const selectLater = async (
    loading: Promise<readonly BoundPolicy[]>,
    attributes: AdmissionAttributes,
  ): Promise<void> => select(await loading, attributes);
  return (attributes) => {
    const source = sourceFor(attributes, all, statics);
    if (source === undefined) return;
    const policies = source.current();
    if (policies instanceof Promise) return selectLater(policies, attributes);
    return policies.length === 0 ? undefined : select(policies, attributes);
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

/** The list changes only if one of the sources does. */
function combined(statics: StoredPolicies, stored: StoredPolicies): StoredPolicies {
  let [seenStatic, seenStored]: (readonly BoundPolicy[])[] = [];
  let list: readonly BoundPolicy[] = [];
  const combine = (ofFiles: readonly BoundPolicy[], ofClients: readonly BoundPolicy[]): readonly BoundPolicy[] => {
    if (seenStatic !== ofFiles || seenStored !== ofClients) list = [...ofFiles, ...ofClients];
    [seenStatic, seenStored] = [ofFiles, ofClients];
    return list;
  };
  return {
    current() {
      const [ofFiles, ofClients] = [statics.current(), stored.current()];
      if (ofFiles instanceof Promise || ofClients instanceof Promise)
        return Promise.all([ofFiles, ofClients]).then(([files, clients]) => combine(files, clients));
      return combine(ofFiles, ofClients);
    },
  };
}

/** The policies whose rules match. A promise only if a namespace is not in the watch cache yet. */
function candidatesOf(
  policies: readonly BoundPolicy[],
  attributes: AdmissionAttributes,
): readonly Candidate[] | Promise<readonly Candidate[]> {
  const candidates: (Candidate | Promise<Candidate | undefined>)[] = [];
  let isPending = false;
  for (const bound of policies) {
    const candidate = candidateOf(bound, attributes);
    if (candidate === undefined) continue;
    isPending ||= candidate instanceof Promise;
    candidates.push(candidate);
  }
  return isPending ? presentOf(candidates) : (candidates as Candidate[]);
}

async function presentOf(
  candidates: readonly (Candidate | Promise<Candidate | undefined>)[],
): Promise<readonly Candidate[]> {
  const found = await Promise.all(candidates);
  return found.filter((candidate) => candidate !== undefined);
}

function candidateOf(
  bound: BoundPolicy,
  attributes: AdmissionAttributes,
): Candidate | undefined | Promise<Candidate | undefined> {
  let match: Match | undefined | Promise<Match | undefined>;
  try {
    match = bound.policy.matcher.match(attributes);
  } catch (error) {
    return unmatchable(bound, error);
  }
  if (match instanceof Promise) return candidateLater(bound, match);
  return match === undefined ? undefined : { policy: bound.policy, bindings: bound.bindings, match };
}

async function candidateLater(
  bound: BoundPolicy,
  matching: Promise<Match | undefined>,
): Promise<Candidate | undefined> {
  try {
    const match = await matching;
    return match === undefined ? undefined : { ...bound, match };
  } catch (error) {
    return unmatchable(bound, error);
  }
}

function unmatchable(bound: BoundPolicy, error: unknown): Candidate {
  if (error instanceof ApiError) return { ...bound, match: { error: error.message } };
  throw error;
}
