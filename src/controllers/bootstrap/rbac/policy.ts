/**
 * Builds the RBAC objects of the bootstrap policy. Source: Kubernetes docs, "Using RBAC
 * Authorization", heading "Default roles and role bindings";
 * k8s.io/kubernetes@v1.36.0/plugin/pkg/auth/authorizer/rbac/bootstrappolicy/.
 */
import type { FeatureGates } from "../../../apimachinery/feature-gates.ts";
import type { PolicyRule } from "../../../authorization/contract.ts";
import type { BootObject } from "../ensure-object.ts";
import { clusterBindings } from "./cluster-bindings.ts";
import { componentRoles } from "./component-roles.ts";
import type { BindingData, RoleData, RuleData } from "./contract.ts";
import { controllerRoles } from "./controller-roles.ts";
import { namespaceBindings } from "./namespace-bindings.ts";
import { namespaceRoles } from "./namespace-roles.ts";
import { userFacingRoles } from "./user-facing-roles.ts";

const group = "rbac.authorization.k8s.io";
/** The annotation that allows or forbids the server to update the object at its start. */
export const autoupdate = "rbac.authorization.kubernetes.io/autoupdate";

/** @returns roles, then bindings, without those whose feature gates are off */
export function bootstrapPolicy(gates: FeatureGates): BootObject[] {
  const rolesOfControllers = controllerRoles.map((role) => ({ ...role, name: `system:controller:${role.name}` }));
  const controllerBindings = controllerRoles.map(({ name, ...role }) => ({
    name: `system:controller:${name}`,
    role: `system:controller:${name}`,
    subjects: [`ServiceAccount kube-system/${name}`],
    ...(role.gates !== undefined && { gates: role.gates }),
  }));
  const roles = [...userFacingRoles, ...componentRoles, ...rolesOfControllers, ...namespaceRoles];
  const bindings = [...clusterBindings, ...controllerBindings, ...namespaceBindings];
  return [
    ...enabledOnly(roles, gates).map((role) => roleObject(role, gates)),
    ...enabledOnly(bindings, gates).map(bindingObject),
  ];
}

/**
 * @returns the rules of the ClusterRole `system:node`, which the Node authorizer applies to every
 *   node
 */
export function nodeRules(gates: FeatureGates): PolicyRule[] {
  return componentRoles.filter(({ name }) => name === "system:node").flatMap(({ rules }) => rulesOf(rules, gates));
}

function enabledOnly<T extends { readonly gates?: string }>(data: readonly T[], { enabled }: FeatureGates): T[] {
  return data.filter(({ gates = "" }) => words(gates).every(enabled));
}

function rulesOf(rules: readonly RuleData[], gates: FeatureGates): PolicyRule[] {
  return enabledOnly(rules, gates).map((rule) => ruleOf(rule, gates));
}

function roleObject(
  { name, namespace = "", aggregatesTo = "", collects, rules }: RoleData,
  gates: FeatureGates,
): BootObject {
  const labels = Object.fromEntries(words(aggregatesTo).map((to) => [aggregationLabel(to), "true"]));
  return {
    ...placeOf(namespace, "roles"),
    object: {
      kind: namespace === "" ? "ClusterRole" : "Role",
      metadata: metadata(name, labels),
      ...(collects !== undefined && {
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregationLabel(collects)]: "true" } }] },
      }),
      rules: collects === undefined ? rulesOf(rules, gates) : null,
    },
  };
}

function bindingObject({ name, namespace = "", role, subjects }: BindingData): BootObject {
  return {
    ...placeOf(namespace, "rolebindings"),
    object: {
      kind: namespace === "" ? "ClusterRoleBinding" : "RoleBinding",
      metadata: metadata(name, {}),
      roleRef: { apiGroup: group, kind: namespace === "" ? "ClusterRole" : "Role", name: role },
      ...(subjects.length > 0 && { subjects: subjects.map(subjectOf) }),
    },
  };
}

function placeOf(namespace: string, resource: string): Omit<BootObject, "object"> {
  return { group, version: "v1", resource: namespace === "" ? `cluster${resource}` : resource, namespace };
}

function metadata(name: string, labels: Readonly<Record<string, string>>): BootObject["object"]["metadata"] {
  return {
    name,
    labels: { "kubernetes.io/bootstrapping": "rbac-defaults", ...labels },
    annotations: { [autoupdate]: "true" },
  };
}

function aggregationLabel(to: string): string {
  return `rbac.authorization.k8s.io/aggregate-to-${to}`;
}

function ruleOf(rule: RuleData, gates: FeatureGates): PolicyRule {
  const verbs = words(rule.verbs);
  if ("urls" in rule) return { nonResourceURLs: gatedWords(rule.urls, gates), verbs };
  const apiGroups = words(rule.groups).map((name) => (name === "core" ? "" : name));
  return {
    apiGroups,
    resources: words(rule.resources),
    verbs,
    ...(rule.names !== undefined && { resourceNames: words(rule.names) }),
  };
}

function subjectOf(text: string): Record<string, string> {
  const [kind = "", subject = ""] = text.split(" ");
  if (kind !== "ServiceAccount") return { apiGroup: group, kind, name: subject };
  const [namespace = "", name = ""] = subject.split("/");
  return { kind, name, namespace };
}

function gatedWords(text: string, { enabled }: FeatureGates): string[] {
  return words(text).flatMap((word) => {
    const [value = "", gate] = word.split("@");
    return gate === undefined || enabled(gate) ? [value] : [];
  });
}

function words(text: string): string[] {
  return text === "" ? [] : text.split(" ");
}
