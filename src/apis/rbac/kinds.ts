/** Roles and bindings. Their names are any valid path segments, such as `system:node`. */
import { type FieldErrors, plainText } from "../../apimachinery/field-errors.ts";
import { type KubeObject, parseGroupVersion } from "../../apimachinery/object.ts";
import { addInvalid, validateMetaAgain, validateMetaChangesAgain } from "../../apimachinery/validation/metadata.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import type { StoredConversion } from "../../catalog/contract.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column, Strategy } from "../../catalog/strategy-contract.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { dnsSubdomainProblems, pathSegmentNameProblems } from "../../lib/names/names.ts";
import { text, wide } from "../column.ts";
import { items, type Part, setAbsent, struct } from "../fields.ts";
import { validateLabelSelector } from "../label-selector.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const clusterRoleBindingColumns: readonly Column[] = bindingColumns(
  "clusterRoleBinding",
  "RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.",
);

const roleBindingColumns: readonly Column[] = bindingColumns(
  "roleBinding",
  "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.",
);

const group = "rbac.authorization.k8s.io";

/** The strategy of Roles. */
export const role = roleStrategy(true);
/** The strategy of ClusterRoles. */
export const clusterRole = roleStrategy(false);
/** The strategy of RoleBindings. */
export const roleBinding = bindingStrategy(true);
/** The strategy of ClusterRoleBindings. */
export const clusterRoleBinding = bindingStrategy(false);

/** A prefix of names is a name, too. */
function validateName(name: string): string[] {
  return pathSegmentNameProblems(name);
}

function roleStrategy(namespaced: boolean): Strategy {
  const validate = (object: KubeObject, errors: FieldErrors): void => {
    for (const [index, rule] of items(object.rules).entries())
      validateRule(rule, namespaced, `rules[${index}]`, errors);
    if (object.aggregationRule !== undefined) validateAggregation(object.aggregationRule, errors);
  };
  return strategy({
    validateName,
    isolatesStatus: false,
    repeatsMetaRules: false,
    declarative: {},
    validate,
    validateUpdate(next, old, errors) {
      validateMetaAgain(next.metadata, { namespaced, validateName }, errors);
      validate(next, errors);
      validateMetaChangesAgain(next.metadata, old.metadata, errors);
    },
  });
}

function validateRule(
  { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: Part,
  namespaced: boolean,
  path: string,
  errors: FieldErrors,
): void {
  if (verbs.length === 0) errors.covered().required(`${path}.verbs`, "verbs must contain at least one value");
  if (nonResourceURLs.length > 0) {
    if (namespaced)
      errors.invalid(`${path}.nonResourceURLs`, nonResourceURLs, "namespaced rules cannot apply to non-resource URLs");
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      errors.invalid(
        `${path}.nonResourceURLs`,
        nonResourceURLs,
        "rules cannot apply to both regular resources and non-resource URLs",
      );
    }
    return;
  }
  if (apiGroups.length === 0) errors.required(`${path}.apiGroups`, "resource rules must supply at least one api group");
  if (resources.length === 0) errors.required(`${path}.resources`, "resource rules must supply at least one resource");
}

function validateAggregation({ clusterRoleSelectors }: Part, errors: FieldErrors): void {
  const path = "aggregationRule.clusterRoleSelectors";
  const selectors = items(clusterRoleSelectors);
  if (selectors.length === 0)
    errors.required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil");
  for (const [index, selector] of selectors.entries()) {
    const before = errors.causes.length;
    validateLabelSelector(selector, `${path}[${index}]`, errors);
    if (errors.causes.length > before) errors.invalid(`${path}[${index}]`, null, "invalid label selector.");
  }
}

function bindingStrategy(namespaced: boolean): Strategy {
  const validate = (object: KubeObject, errors: FieldErrors): void => {
    validateRoleRef(object.roleRef ?? {}, namespaced ? ["Role", "ClusterRole"] : ["ClusterRole"], errors);
    for (const [index, subject] of items(object.subjects).entries())
      validateSubject(subject, namespaced, `subjects[${index}]`, errors);
  };
  return strategy({
    columns: namespaced ? roleBindingColumns : clusterRoleBindingColumns,
    validateName,
    isolatesStatus: false,
    repeatsMetaRules: false,
    declarative: namespaced ? {} : undefined, // Upstream does not validate ClusterRoleBindings by declarative rules.
    setDefaults(object) {
      setAbsent(struct(object, "roleRef"), { apiGroup: group });
      for (const subject of items(object.subjects)) {
        if (subject.kind === "User" || subject.kind === "Group") setAbsent(subject, { apiGroup: group });
      }
    },
    validate,
    validateUpdate(next, old, errors) {
      validateMetaAgain(next.metadata, { namespaced, validateName }, errors);
      validate(next, errors);
      validateMetaChangesAgain(next.metadata, old.metadata, errors);
      if (!deepEqual(next.roleRef, old.roleRef))
        errors.invalid("roleRef", goFields(next.roleRef), "cannot change roleRef");
    },
  });
}

/** The form of upstream's internal type, for error messages. */
function goFields({ apiGroup = "", kind = "", name = "" }: Part): Part {
  return { APIGroup: apiGroup, Kind: kind, Name: name };
}

function validateRoleRef(
  { apiGroup = "", kind = "", name = "" }: Part,
  kinds: readonly string[],
  errors: FieldErrors,
): void {
  if (apiGroup !== group) errors.notSupported("roleRef.apiGroup", plainText(apiGroup), [group]);
  if (!kinds.includes(kind)) errors.notSupported("roleRef.kind", plainText(kind), kinds);
  if (name === "") errors.covered().required("roleRef.name");
  else addInvalid(errors, "roleRef.name", name, pathSegmentNameProblems(name));
}

function validateSubject(
  { kind = "", name = "", namespace = "", apiGroup = "" }: Part,
  namespaced: boolean,
  path: string,
  errors: FieldErrors,
): void {
  if (name === "") errors.covered().required(`${path}.name`);
  if (kind === "User" || kind === "Group") {
    if (apiGroup !== group) errors.notSupported(`${path}.apiGroup`, plainText(apiGroup), [group]);
  } else if (kind === "ServiceAccount") {
    if (name !== "") addInvalid(errors, `${path}.name`, name, dnsSubdomainProblems(name));
    if (apiGroup !== "") errors.notSupported(`${path}.apiGroup`, plainText(apiGroup), [""]);
    if (!namespaced && namespace === "") errors.required(`${path}.namespace`);
  } else errors.notSupported(`${path}.kind`, plainText(kind), ["ServiceAccount", "User", "Group"]);
}

/** Bindings of v1alpha1. */
export const bindingV1alpha1: StoredConversion = {
  toStorage(object) {
    object.subjects = items(object.subjects).map(convertSubject);
    return object;
  },
};

function convertSubject({ apiVersion = "", kind = "", ...subject }: Part): Part {
  if (kind === "User" && subject.name === "*")
    return { ...subject, kind: "Group", apiGroup: group, name: "system:authenticated" };
  if (kind === "User" || kind === "Group") return { ...subject, kind, apiGroup: group };
  const apiGroup = kind === "ServiceAccount" ? "" : (parseGroupVersion(apiVersion)?.group ?? "");
  return { ...subject, kind, apiGroup };
}

function bindingColumns(kind: string, roleText: string): readonly Column[] {
  return [
    nameColumn,
    text("Role", roleText, ({ roleRef }) => `${roleRef?.kind ?? ""}/${roleRef?.name ?? ""}`),
    ageColumn,
    wide(text("Users", `Users in the ${kind}`, (binding) => subjects(binding, "User"))),
    wide(text("Groups", `Groups in the ${kind}`, (binding) => subjects(binding, "Group"))),
    wide(text("ServiceAccounts", `ServiceAccounts in the ${kind}`, (binding) => subjects(binding, "ServiceAccount"))),
  ];
}

function subjects(binding: KubeObject, kindOfSubject: string): string {
  return items(binding.subjects)
    .filter(({ kind }) => kind === kindOfSubject)
    .map(({ namespace = "", name }) => (kindOfSubject === "ServiceAccount" ? `${namespace}/${name}` : name))
    .join(", ");
}
