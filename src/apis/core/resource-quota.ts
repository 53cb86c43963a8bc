/** ResourceQuota: what it counts, and of which objects. Source: kubernetes pkg/apis/core/validation, pkg/registry/core/resourcequota. */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { strategy } from "../../catalog/strategy.ts";
import { compareQuantities, parseQuantity } from "../../lib/quantity/quantity.ts";
import { items, type Part, struct } from "../fields.ts";
import { isHugePages } from "./pod/quantity-names.ts";
import { byName, validateResourceName, validateResourceQuantity } from "./pod/resources.ts";
import { roundResources } from "./resource-list.ts";

export const resourceQuota = strategy({
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

const computing = ["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
const counted = [
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
  ...computing,
  ...counted,
  "ephemeral-storage",
  "requests.storage",
  "requests.ephemeral-storage",
  "limits.ephemeral-storage",
];

const isStandardOfQuotas = (name: string): boolean =>
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
    if (!name.includes("/") && !isStandardOfQuotas(name))
      errors.invalid(at, name, "must be a standard resource for quota");
    validateResourceQuantity(name, quantity, at, errors);
  }
}

const ofPods = ["pods", ...computing];
const ofClaims = ["persistentvolumeclaims", "requests.storage"];

/** What may be counted within each scope. */
const countedIn = new Map<string, readonly string[]>([
  ["Terminating", ofPods],
  ["NotTerminating", ofPods],
  ["NotBestEffort", ofPods],
  ["PriorityClass", ofPods],
  ["CrossNamespacePodAffinity", ofPods],
  ["BestEffort", ["pods"]],
  ["VolumeAttributesClass", ofClaims],
]);

/** Resources that a quota counts and that its scope has none of, in order. */
function strangersTo(scope: string, hard: Part | undefined): string[] {
  const known = countedIn.get(scope);
  if (known === undefined) return [];
  return byName(hard)
    .map(([name]) => name)
    .filter((name) => isStandardOfQuotas(name) && !known.includes(name));
}

const contrary = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
];

function validateScopes({ scopes = [], hard }: Part, errors: FieldErrors): void {
  const refuse = (why: string): void => errors.invalid("spec.scopes", scopes, why);
  for (const scope of scopes) {
    if (!countedIn.has(scope)) refuse("unsupported scope");
    for (const _name of strangersTo(scope, hard)) refuse("unsupported scope applied to resource");
  }
  for (const pair of contrary) if (pair.every((scope) => scopes.includes(scope))) refuse("conflicting scopes");
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
    if (!countedIn.has(scopeName)) errors.invalid(`${path}.scopeName`, scopeName, "unsupported scope");
    for (const _name of strangersTo(scopeName, hard))
      errors.invalid(path, shownSelector(scopeSelector), "unsupported scope applied to resource");
    if (scopesWithoutValues.includes(scopeName) && operator !== "Exists")
      errors.invalid(`${path}.operator`, operator, onlyExists);
    if (operator === "In" || operator === "NotIn") {
      const why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      if (!values?.length) errors.required(`${path}.values`, why);
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      const why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      if (values?.length) errors.invalid(`${path}.values`, values, why);
    } else errors.invalid(`${path}.operator`, operator, "not a valid selector operator");
  }
  const named = requirements.map(({ scopeName }) => scopeName);
  for (const pair of contrary) {
    if (pair.every((scope) => named.includes(scope))) errors.invalid(path, scopes ?? null, "conflicting scopes");
  }
}

/** As upstream prints it. */
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
