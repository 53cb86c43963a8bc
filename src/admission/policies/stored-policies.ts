/**
 * The policies that clients have created, with their bindings. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/generic/policy_source.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Catalog } from "../../catalog/contract.ts";
import type { StaticManifests } from "../config/contract.ts";
import { type Configurations, combined, followConfigurations, inMemory } from "../configurations.ts";
import type { MatchCriteria } from "../matching/contract.ts";
import type { Matching } from "../matching/matcher.ts";
import type { Binding, BoundPolicy, Policy } from "./contract.ts";

/** The policies with bindings, by name. */
export type StoredPolicies = Configurations<BoundPolicy>;

interface Needs {
  readonly catalog: Pick<Catalog, "findResource" | "generation">;
  readonly matching: Pick<Matching, "compile">;
}

/** @param kind the resource of the policies is this and `policies`, such as `validatingadmissionpolicies` */
export function followPolicies(
  kind: "validatingadmission" | "mutatingadmission",
  { catalog, matching }: Needs,
): StoredPolicies {
  const policies = followConfigurations(catalog, `${kind}policies`, (object) => policyOf(object, matching));
  const bindings = followConfigurations(catalog, `${kind}policybindings`, (object) => bindingOf(object, matching));
  return combined(policies, bindings, bind);
}

/** Follows the policies of static manifests, which are replaced as a whole. */
export function staticPolicies(
  kind: "ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy",
  manifests: Pick<StaticManifests, "current">,
  matching: Needs["matching"],
): StoredPolicies {
  const policies = inMemory(() => manifests.current(kind));
  const bindings = inMemory(() => manifests.current(`${kind}Binding`));
  return combined(policies, bindings, (ofPolicies, ofBindings) =>
    bind(
      ofPolicies.map((object) => policyOf(object, matching)),
      ofBindings.map((object) => bindingOf(object, matching)),
    ),
  );
}

/** Policies without bindings, and bindings without policies, have no effect. */
function bind(policies: readonly Policy[], bindings: readonly Binding[]): readonly BoundPolicy[] {
  const byPolicy = Map.groupBy(bindings, ({ policyName }) => policyName);
  return policies.flatMap((policy) => {
    const own = byPolicy.get(policy.name);
    return own === undefined ? [] : [{ policy, bindings: own }];
  });
}

/** @param object a ValidatingAdmissionPolicy or MutatingAdmissionPolicy with defaults */
function policyOf({ metadata, spec = {} }: KubeObject, { compile }: Needs["matching"]): Policy {
  return {
    name: metadata.name as string,
    spec,
    matcher: compile(criteriaOf(spec.matchConstraints ?? {})),
    failurePolicy: spec.failurePolicy === "Ignore" ? "Ignore" : "Fail",
  };
}

/** @param object a binding with defaults */
function bindingOf({ metadata, spec = {} }: KubeObject, { compile }: Needs["matching"]): Binding {
  return {
    name: metadata.name as string,
    policyName: spec.policyName,
    matcher: spec.matchResources && compile(criteriaOf(spec.matchResources)),
    paramRef: spec.paramRef,
    validationActions: spec.validationActions,
  };
}

/** Unlike webhooks, policies and bindings without rules match all requests. */
function criteriaOf(resources: Partial<MatchCriteria>): MatchCriteria {
  const { resourceRules = [], excludeResourceRules = [], matchPolicy = "Equivalent" } = resources;
  const { namespaceSelector = {}, objectSelector = {} } = resources;
  return { resourceRules, excludeResourceRules, isOpen: true, matchPolicy, namespaceSelector, objectSelector };
}
