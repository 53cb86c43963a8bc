/**
 * Validates the rules that select the requests of webhooks and policies.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/admissionregistration/validation/validation.go
 */

import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { pathSegmentNameProblems } from "../../lib/names/names.ts";
import { checkWildcard, items, type Part } from "../fields.ts";
import { validateLabelSelector } from "../label-selector.ts";

const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const scopes = ["*", "Cluster", "Namespaced"];
export const matchPolicies = ["Equivalent", "Exact"];

type Texts = readonly string[];

/** Validates one rule with its operations. */
export function validateRule(rule: Part, path: string, errors: FieldErrors): void {
  const { scope } = rule;
  const list = (field: string): Texts => rule[field] ?? [];
  if (list("operations").length === 0) errors.required(`${path}.operations`);
  checkWildcard(list("operations"), `${path}.operations`, "operations", errors);
  for (const [index, operation] of list("operations").entries()) {
    if (!operations.includes(operation)) errors.notSupported(`${path}.operations[${index}]`, operation, operations);
  }
  if (list("apiGroups").length === 0) errors.required(`${path}.apiGroups`);
  checkWildcard(list("apiGroups"), `${path}.apiGroups`, "API groups", errors);
  if (list("apiVersions").length === 0) errors.required(`${path}.apiVersions`);
  checkWildcard(list("apiVersions"), `${path}.apiVersions`, "API versions", errors);
  for (const [index, version] of list("apiVersions").entries())
    if (version === "") errors.required(`${path}.apiVersions[${index}]`);
  validateResources(list("resources"), `${path}.resources`, errors);
  if (scope !== undefined && !scopes.includes(scope)) errors.notSupported(`${path}.scope`, scope, scopes);
}

function validateResources(resources: Texts, path: string, errors: FieldErrors): void {
  if (resources.length === 0) errors.required(path);
  const [withAllSubresources, ofAllResources] = [new Set<string>(), new Set<string>()];
  let endsPlain = false; // As in upstream, only the last resource without a subresource counts.
  for (const [index, text] of resources.entries()) {
    const place = `${path}[${index}]`;
    const slash = text.indexOf("/");
    if (text === "") errors.required(place);
    else if (slash < 0) endsPlain = text !== "*";
    else {
      const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
      if (withAllSubresources.has(resource))
        errors.invalid(place, text, `if '${resource}/*' is present, must not specify ${text}`);
      if (ofAllResources.has(subresource))
        errors.invalid(place, text, `if '*/${subresource}' is present, must not specify ${text}`);
      if (subresource === "*") withAllSubresources.add(resource);
      if (resource === "*") ofAllResources.add(subresource);
    }
  }
  if (resources.length > 1 && resources.includes("*/*"))
    errors.invalid(path, resources, "if '*/*' is present, must not specify other resources");
  if (resources.includes("*") && endsPlain) {
    errors.invalid(path, resources, "if '*' is present, must not specify other resources without subresources");
  }
}

/** Validates the match resources of a policy or its binding. */
export function validateMatchResources(match: Part, path: string, errors: FieldErrors): void {
  const { matchPolicy, namespaceSelector, objectSelector } = match;
  if (!matchPolicies.includes(matchPolicy)) errors.notSupported(`${path}.matchPolicy`, matchPolicy, matchPolicies);
  validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`, errors);
  validateLabelSelector(objectSelector, `${path}.objectSelector`, errors);
  for (const field of ["resourceRules", "excludeResourceRules"]) {
    for (const [index, rule] of items(match[field]).entries())
      validateNamedRule(rule, `${path}.${field}[${index}]`, errors);
  }
}

function validateNamedRule(rule: Part, path: string, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, name] of ((rule.resourceNames ?? []) as Texts).entries()) {
    const place = `${path}.resourceNames[${index}]`;
    addInvalid(errors, place, name, pathSegmentNameProblems(name));
    if (seen.has(name)) errors.duplicate(place, name);
    seen.add(name);
  }
  validateRule(rule, path, errors);
}

/**
 * Rejects rules with operations whose objects a mutating policy cannot change.
 *
 * @param path of the rules; upstream's messages name no index
 */
export function checkMutable(match: Part | undefined, path: string, errors: FieldErrors): void {
  const mutable = operations.filter((operation) => operation !== "DELETE");
  for (const rule of items(match?.resourceRules)) {
    for (const operation of (rule.operations ?? []) as Texts) {
      if (!mutable.includes(operation)) errors.notSupported(`${path}.resourceRules.operations`, operation, mutable);
    }
  }
}
