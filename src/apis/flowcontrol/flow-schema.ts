/**
 * FlowSchema.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/flowcontrol/validation/validation.go`, `k8s.io/kubernetes@v1.36.0/pkg/registry/flowcontrol/flowschema/strategy.go`.
 */

import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { goForm } from "../../catalog/go-form.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../lib/names/names.ts";
import { text } from "../column.ts";
import { checkWildcard, items, type Part, struct } from "../fields.ts";
import { isFixedValue, mandatorySchemas } from "./mandatory.ts";
import { validateConditionTypes } from "./status.ts";
import { flowControlStrategy } from "./strategy.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const flowSchemaColumns: readonly Column[] = [
  nameColumn,
  text(
    "PriorityLevel",
    "`name` is the name of the priority level configuration being referenced Required.",
    ({ spec }) => spec?.priorityLevelConfiguration?.name ?? "",
  ),
  text(
    "MatchingPrecedence",
    "`matchingPrecedence` is used to choose among the FlowSchemas that match a given request. The chosen FlowSchema is among those with the numerically lowest (which we take to be logically highest) MatchingPrecedence.  Each MatchingPrecedence value must be ranged in [1,10000]. Note that if the precedence is not specified, it will be set to 1000 as default.",
    ({ spec }) => spec?.matchingPrecedence ?? 0,
  ),
  text(
    "DistinguisherMethod",
    "`distinguisherMethod` defines how to compute the flow distinguisher for requests that match this schema. `nil` specifies that the distinguisher is disabled and thus will always be the empty string.",
    ({ spec }) => spec?.distinguisherMethod?.type ?? "<none>",
  ),
  ageColumn,
  text(
    "MissingPL",
    "references a broken or non-existent PriorityLevelConfiguration",
    ({ status }) => items(status?.conditions).find(({ type }) => type === "Dangling")?.status ?? "?",
  ),
];

const precedenceMax = 10_000;
const methods = ["ByNamespace", "ByUser"];
const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];

/** The strategy of FlowSchema. */
export const flowSchema = flowControlStrategy({
  columns: flowSchemaColumns,
  setDefaults(object) {
    const spec = struct(object, "spec");
    if (!spec.matchingPrecedence) spec.matchingPrecedence = 1000;
    for (const rule of items(spec.rules)) for (const resource of items(rule.resourceRules)) resource.namespaces ??= [];
  },
  validate,
});

function validate(object: KubeObject, errors: FieldErrors): void {
  const { metadata, spec = {} } = object;
  const { name = "" } = metadata;
  validatePrecedence(spec.matchingPrecedence, name, "spec.matchingPrecedence", errors);
  const { distinguisherMethod: method, priorityLevelConfiguration: level } = spec;
  if (method && !methods.includes(method.type))
    errors.notSupported("spec.distinguisherMethod.type", { Type: method.type ?? "" }, methods);
  const levelName = level?.name ?? "";
  const levelPath = "spec.priorityLevelConfiguration.name";
  if (levelName === "") errors.required(levelPath, "must reference a priority level");
  else addInvalid(errors, levelPath, levelName, dnsSubdomainProblems(levelName));
  for (const [index, rule] of items(spec.rules).entries()) validateRule(rule, `spec.rules[${index}]`, errors);
  if (!isFixedValue(spec, mandatorySchemas, name))
    errors.invalid("spec", goForm("FlowSchemaSpec", spec), `spec of '${name}' must equal the fixed value`);
  validateConditionTypes(object, errors);
}

function validatePrecedence(precedence: number, name: string, path: string, errors: FieldErrors): void {
  if (precedence <= 0) errors.invalid(path, precedence, "must be a positive value");
  if (precedence > precedenceMax) errors.invalid(path, precedence, `must not be greater than ${precedenceMax}`);
  if (precedence === 1 && name !== "exempt")
    errors.invalid(path, precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
}

function validateRule({ subjects, resourceRules, nonResourceRules }: Part, path: string, errors: FieldErrors): void {
  if (items(subjects).length === 0) errors.required(`${path}.subjects`, "subjects must contain at least one value");
  for (const [index, subject] of items(subjects).entries())
    validateSubject(subject, `${path}.subjects[${index}]`, errors);
  if (items(resourceRules).length + items(nonResourceRules).length === 0) {
    errors.required(path, "at least one of resourceRules and nonResourceRules has to be non-empty");
  }
  for (const [index, rule] of items(resourceRules).entries())
    validateResourceRule(rule, `${path}.resourceRules[${index}]`, errors);
  for (const [index, rule] of items(nonResourceRules).entries())
    validatePathRule(rule, `${path}.nonResourceRules[${index}]`, errors);
}

const subjectFields: Readonly<Record<string, string>> = {
  ServiceAccount: "serviceAccount",
  User: "user",
  Group: "group",
};

function validateSubject(subject: Part, path: string, errors: FieldErrors): void {
  const { kind = "" } = subject;
  if (!Object.hasOwn(subjectFields, kind))
    return errors.notSupported(`${path}.kind`, kind, ["Group", "ServiceAccount", "User"]);
  const own = subjectFields[kind] as string;
  if (!subject[own]) errors.required(`${path}.${own}`, `${own} is required when subject kind is '${kind}'`);
  else if (own === "serviceAccount") validateAccount(subject[own], `${path}.${own}`, errors);
  else if ((subject[own].name ?? "") === "") errors.required(`${path}.${own}.name`);
  for (const [other, field] of Object.entries(subjectFields)) {
    if (other !== kind && subject[field])
      errors.forbidden(`${path}.${field}`, `${field} is forbidden when subject kind is not '${other}'`);
  }
}

function validateAccount({ name = "", namespace = "" }: Part, path: string, errors: FieldErrors): void {
  if (name === "") errors.required(`${path}.name`);
  else if (name !== "*") addInvalid(errors, `${path}.name`, name, dnsSubdomainProblems(name));
  if (namespace === "") errors.required(`${path}.namespace`, "must specify namespace for service account");
  else addInvalid(errors, `${path}.namespace`, namespace, dnsLabelProblems(namespace));
}

type Texts = readonly string[];

function validateVerbs(list: Texts, path: string, errors: FieldErrors): void {
  if (list.length === 0) errors.required(path, "verbs must contain at least one value");
  else if (list.includes("*")) checkWildcard(list, path, "verbs", errors);
  else if (!list.every((verb) => verbs.includes(verb))) errors.notSupported(path, list, verbs);
}

function validateResourceRule(rule: Part, path: string, errors: FieldErrors): void {
  const { verbs = [], apiGroups = [], resources = [], namespaces = [], clusterScope = false } = rule;
  validateVerbs(verbs, `${path}.verbs`, errors);
  if (apiGroups.length === 0) errors.required(`${path}.apiGroups`, "resource rules must supply at least one api group");
  checkWildcard(apiGroups, `${path}.apiGroups`, "api groups", errors);
  if (resources.length === 0) errors.required(`${path}.resources`, "resource rules must supply at least one resource");
  checkWildcard(resources, `${path}.resources`, "resources", errors);
  if (namespaces.length === 0 && !clusterScope) {
    errors.required(
      `${path}.namespaces`,
      "resource rules that are not cluster scoped must supply at least one namespace",
    );
  } else if (namespaces.includes("*")) checkWildcard(namespaces, `${path}.namespaces`, "namespaces", errors);
  else {
    for (const [index, name] of (namespaces as Texts).entries()) {
      const problems = dnsLabelProblems(name).map(
        (problem) => `each member of this list must be '*' or a DNS-1123 label; ${problem}`,
      );
      addInvalid(errors, `${path}.namespaces[${index}]`, name, problems);
    }
  }
}

function validatePathRule({ verbs = [], nonResourceURLs: paths = [] }: Part, path: string, errors: FieldErrors): void {
  validateVerbs(verbs, `${path}.verbs`, errors);
  const place = `${path}.nonResourceURLs`;
  if (paths.length === 0) errors.required(place, "nonResourceURLs must contain at least one value");
  else if (paths.includes("*")) checkWildcard(paths, place, "non-resource URLs", errors);
  else
    for (const [index, one] of (paths as Texts).entries())
      addInvalid(errors, `${place}[${index}]`, one, pathProblems(one));
}

function pathProblems(path: string): string[] {
  if (path === "/") return [];
  if (path === "") return ["must not be empty"];
  if (!path.startsWith("/")) return ["must start with slash"];
  if (path.includes(" ")) return ["must not contain white-space"];
  if (path.includes("//")) return ["must not contain double slash"];
  const stars = path.split("*").length - 1;
  return stars > 1 || (stars === 1 && !path.endsWith("/*")) ? ["wildcard can only do suffix matching"] : [];
}
