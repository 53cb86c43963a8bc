/** Builds the plugins of admission policies. */
import type { ManifestPlugin, StaticManifests } from "../admission/config/contract.ts";
import type { AdmissionPlugin } from "../admission/contract.ts";
import type { Matching } from "../admission/matching/matcher.ts";
import type { VersionedObjects } from "../admission/matching/versioned.ts";
import { mutatingAdmissionPolicy, validatingAdmissionPolicy } from "../admission/policies/plugin.ts";
import { followPolicies, type StoredPolicies, staticPolicies } from "../admission/policies/stored-policies.ts";
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import type { Authorizer } from "../authorization/contract.ts";
import type { Catalog } from "../catalog/contract.ts";
import type { PolicyMetrics } from "../metrics/policy-metrics.ts";

interface Needs {
  readonly catalog: Catalog;
  readonly gates: FeatureGates;
  readonly authorize: Authorizer;
  readonly matching: Matching;
  readonly versioned: VersionedObjects;
  readonly observer: PolicyMetrics;
  /** By plugin; undefined without static manifests. */
  readonly manifests: ReadonlyMap<ManifestPlugin, StaticManifests> | undefined;
}

/** The code that evaluates expressions is loaded with the first request that a policy matches. */
export function policyPlugins({ matching, manifests, ...needs }: Needs): AdmissionPlugin[] {
  const { catalog } = needs;
  const staticsOf = (plugin: "ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy"): StoredPolicies | undefined => {
    const files = manifests?.get(plugin);
    return files && staticPolicies(plugin, files, matching);
  };
  const evaluation = { ...needs, namespaces: matching.namespaces, now: () => performance.now() };
  const mutating = mutatingAdmissionPolicy({
    catalog,
    stored: followPolicies("mutatingadmission", { catalog, matching }),
    statics: staticsOf("MutatingAdmissionPolicy"),
    load: async () => (await import("./policy-expressions.ts")).mutatingEvaluation(evaluation),
  });
  return [
    ...(needs.gates.enabled("MutatingAdmissionPolicy") ? [mutating] : []),
    validatingAdmissionPolicy({
      catalog,
      stored: followPolicies("validatingadmission", { catalog, matching }),
      statics: staticsOf("ValidatingAdmissionPolicy"),
      load: async () => (await import("./policy-expressions.ts")).validatingEvaluation(evaluation),
    }),
  ];
}
