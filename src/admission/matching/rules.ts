/**
 * Matches requests with rules. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/webhook/predicates/rules/rules.go.
 */
import type { GroupVersionResource } from "../../apimachinery/object.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { Rule } from "./contract.ts";

/** A rule with the parts of its resources. */
export interface CompiledRule {
  readonly rule: Rule;
  readonly resources: readonly { readonly resource: string; readonly subresource: string }[];
}

/** Splits the resources of a rule, such as `pods/status`. */
export function compileRule(rule: Rule): CompiledRule {
  const resources = (rule.resources ?? []).map((text) => {
    const slash = text.indexOf("/");
    return slash < 0
      ? { resource: text, subresource: "" }
      : { resource: text.slice(0, slash), subresource: text.slice(slash + 1) };
  });
  return { rule, resources };
}

/** Returns whether the rule matches the request as one of this resource, names aside. */
export function matchesRule(
  { rule, resources }: CompiledRule,
  { operation, namespace, subresource }: AdmissionAttributes,
  requested: GroupVersionResource,
): boolean {
  return (
    includes(rule.operations, operation) &&
    includes(rule.apiGroups, requested.group) &&
    includes(rule.apiVersions, requested.version) &&
    matchesResource(resources, requested.resource, subresource) &&
    matchesScope(rule.scope, namespace, requested)
  );
}

function matchesResource(resources: CompiledRule["resources"], resource: string, subresource: string): boolean {
  for (const one of resources)
    if (
      (one.resource === "*" || one.resource === resource) &&
      (one.subresource === "*" || one.subresource === subresource)
    )
      return true;
  return false;
}

/** An empty list of names matches every object. */
export function matchesName({ resourceNames = [] }: Rule, name: string): boolean {
  return resourceNames.length === 0 || resourceNames.includes(name);
}

function includes(list: readonly string[] | undefined, item: string): boolean {
  return list !== undefined && (list.includes(item) || list.includes("*"));
}

/** Namespaces are cluster-scoped, though requests for them name a namespace: their own. */
function matchesScope(scope: string | undefined, namespace: string, requested: GroupVersionResource): boolean {
  if (scope === undefined || scope === "*") return true;
  const { group, version, resource } = requested;
  const isNamespaced = namespace !== "" && !(group === "" && version === "v1" && resource === "namespaces");
  return scope === "Namespaced" ? isNamespaced : scope === "Cluster" && !isNamespaced;
}
