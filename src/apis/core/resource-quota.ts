/**
 * ResourceQuota: limits of a namespace, for all objects or those in its scopes.
 * Sources:
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`,
 * `k8s.io/kubernetes@v1.36.0/pkg/registry/core/resourcequota/strategy.go`.
 */
import { type FieldErrors, typedText } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { compareQuantities, parseQuantity } from "../../lib/quantity/quantity.ts";
import { text } from "../column.ts";
import { items, type Part, struct } from "../fields.ts";
import { isHugePages } from "./pod/resource-names.ts";
import { byName, validateResourceName, validateResourceQuantity } from "./pod/resources.ts";
import { roundResources } from "./resource-list.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const resourceQuotaColumns: readonly Column[] = [
  nameColumn,
  text("Request", "Request represents a minimum amount of cpu/memory that a container may consume.", (quota) =>
    quotaUse(quota, { limits: false }),
  ),
  text(
    "Limit",
    "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.",
    (quota) => quotaUse(quota, { limits: true }),
  ),
  ageColumn,
];

/** Strategy of `resourcequotas`. */
export const resourceQuota = strategy({
  columns: resourceQuotaColumns,
  setDefaults(object) {
    roundResources(object.spec?.hard);
    roundResources(object.status?.hard);
    roundResources(object.status?.used);
  },
  prepareForCreate(object) {
    object.status = {};
    struct(object, "spec");
  },
  validate: (object, errors) => validateSpec(object.spec ?? {}, errors),
  validateUpdate(next, old, errors) {
    const spec = next.spec ?? {};
    validateSpec(spec, errors);
    const now: readonly string[] = spec.scopes ?? [];
    const before: readonly string[] = old.spec?.scopes ?? [];
    if (now.some((scope) => !before.includes(scope)) || before.some((scope) => !now.includes(scope)))
      errors.invalid("spec.scopes", spec.scopes ?? null, "field is immutable");
  },
  validateStatusUpdate(next, _old, errors) {
    for (const field of ["hard", "used"]) validateAmounts(next.status?.[field], `status.${field}`, errors);
  },
  warnings: (object, old) => (old === undefined ? warningsOf(object) : []),
});

const computeResources = ["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
const countedObjects = [
  ...[
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "persistentvolumeclaims",
    "configmaps",
  ],
  ...["services.nodeports", "services.loadbalancers"],
];
const standard = [
  ...computeResources,
  ...countedObjects,
  "ephemeral-storage",
  "requests.storage",
  "requests.ephemeral-storage",
  "limits.ephemeral-storage",
];

const isStandardQuotaResource = (name: string): boolean =>
  standard.includes(name) ||
  isHugePages(name) ||
  (name.startsWith("requests.") && isHugePages(name.slice("requests.".length)));

function validateSpec(spec: Part, errors: FieldErrors): void {
  validateAmounts(spec.hard, "spec.hard", errors);
  validateScopes(spec, errors);
  if (spec.scopeSelector) validateSelector(spec, errors);
}

function validateAmounts(list: Part | undefined, path: string, errors: FieldErrors): void {
  for (const [name, quantity] of byName(list)) {
    const at = `${path}[${name}]`;
    validateResourceName(name, at, errors);
    if (!name.includes("/") && !isStandardQuotaResource(name))
      errors.invalid(at, typedText(name), "must be a standard resource for quota");
    validateResourceQuantity(name, quantity, at, errors);
  }
}

const podResources = ["pods", ...computeResources];
const claimResources = ["persistentvolumeclaims", "requests.storage"];

/** Resources that a quota with the scope can limit. */
const resourcesByScope = new Map<string, readonly string[]>([
  ["Terminating", podResources],
  ["NotTerminating", podResources],
  ["NotBestEffort", podResources],
  ["PriorityClass", podResources],
  ["CrossNamespacePodAffinity", podResources],
  ["BestEffort", ["pods"]],
  ["VolumeAttributesClass", claimResources],
]);

/** @returns standard resources in `hard` that the scope does not support, sorted */
function unsupportedResources(scope: string, hard: Part | undefined): string[] {
  const supported = resourcesByScope.get(scope);
  if (supported === undefined) return [];
  return byName(hard)
    .map(([name]) => name)
    .filter((name) => isStandardQuotaResource(name) && !supported.includes(name));
}

const conflictingScopes = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
];

function validateScopes({ scopes = [], hard }: Part, errors: FieldErrors): void {
  const addError = (why: string): void => errors.invalid("spec.scopes", scopes, why);
  for (const scope of scopes) {
    if (!resourcesByScope.has(scope)) addError("unsupported scope");
    for (const _name of unsupportedResources(scope, hard)) addError("unsupported scope applied to resource");
  }
  for (const pair of conflictingScopes)
    if (pair.every((scope) => scopes.includes(scope))) addError("conflicting scopes");
}

const onlyExists =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
const scopesWithoutValues = [
  "BestEffort",
  "NotBestEffort",
  "Terminating",
  "NotTerminating",
  "CrossNamespacePodAffinity",
];

function validateSelector({ scopes, hard, scopeSelector }: Part, errors: FieldErrors): void {
  const path = "spec.scopeSelector.matchExpressions";
  const requirements = items(scopeSelector.matchExpressions);
  for (const { scopeName = "", operator = "", values } of requirements) {
    if (!resourcesByScope.has(scopeName))
      errors.invalid(`${path}.scopeName`, typedText(scopeName), "unsupported scope");
    for (const _name of unsupportedResources(scopeName, hard))
      errors.invalid(path, shownSelector(scopeSelector), "unsupported scope applied to resource");
    if (scopesWithoutValues.includes(scopeName) && operator !== "Exists")
      errors.invalid(`${path}.operator`, typedText(operator), onlyExists);
    if (operator === "In" || operator === "NotIn") {
      const why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      if (!values?.length) errors.required(`${path}.values`, why);
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      const why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      if (values?.length) errors.invalid(`${path}.values`, values, why);
    } else errors.invalid(`${path}.operator`, typedText(operator), "not a valid selector operator");
  }
  const named = requirements.map(({ scopeName }) => scopeName);
  for (const pair of conflictingScopes) {
    if (pair.every((scope) => named.includes(scope))) errors.invalid(path, scopes ?? null, "conflicting scopes");
  }
}

/** The selector as upstream prints it. */
function shownSelector({ matchExpressions }: Part): Part {
  const requirements = items(matchExpressions).map(({ scopeName = "", operator = "", values = null }) => {
    return { ScopeName: scopeName, Operator: operator, Values: values };
  });
  return { MatchExpressions: matchExpressions ? requirements : null };
}

function warningsOf({ spec }: KubeObject): string[] {
  const hard: Part = spec?.hard ?? {};
  const warnings: string[] = [];
  for (const name of ["cpu", "memory", "storage", "ephemeral-storage"]) {
    const hasBareName = name === "cpu" || name === "memory";
    const request = !Object.hasOwn(hard, `requests.${name}`) && hasBareName ? name : `requests.${name}`;
    const limit = `limits.${name}`;
    if (!Object.hasOwn(hard, request) || !Object.hasOwn(hard, limit)) continue;
    if (compareQuantities(parseQuantity(hard[request]), parseQuantity(hard[limit])) <= 0) continue;
    warnings.push(`ResourceQuota ${request} (${hard[request]}) should be less than ${limit} (${hard[limit]})`);
  }
  return warnings;
}

/** Such as `pods: 1/3, services: 0/2`. @param limits the `limits.*` resources or the others */
function quotaUse({ status }: KubeObject, { limits }: { limits: boolean }): string {
  const { hard = {}, used = {} } = status ?? {};
  return Object.keys(hard)
    .filter((resource) => resource.startsWith("limits.") === limits)
    .sort()
    .map((resource) => `${resource}: ${Object.hasOwn(used, resource) ? used[resource] : "0"}/${hard[resource]}`)
    .join(", ");
}
