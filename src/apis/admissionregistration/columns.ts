/**
 * Table columns of webhook configurations and admission policies.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { count, integer, text } from "../column.ts";
import { items, type Part } from "../fields.ts";

const webhookColumns: readonly Column[] = [
  nameColumn,
  integer("Webhooks", "Webhooks indicates the number of webhooks registered in this configuration", ({ webhooks }) =>
    count(webhooks),
  ),
  ageColumn,
];

const bindingColumns: readonly Column[] = [
  nameColumn,
  text(
    "PolicyName",
    "PolicyName indicates the policy definition which the policy binding binded to",
    ({ spec }) => spec?.policyName ?? "",
  ),
  text("ParamRef", "ParamRef indicates the param resource which sets the configuration param", paramRef),
  ageColumn,
];

const paramKindColumn = text(
  "ParamKind",
  "ParamKind specifies the kind of resources used to parameterize this policy",
  ({ spec }) =>
    spec?.paramKind === undefined ? "<unset>" : `${spec.paramKind.apiVersion ?? ""}/${spec.paramKind.kind ?? ""}`,
);

/** By `group/resource`. */
export const admissionregistrationColumns: Readonly<Record<string, readonly Column[]>> = {
  "admissionregistration.k8s.io/mutatingadmissionpolicies": [
    nameColumn,
    integer("Mutations", "Mutation indicates the number of mutations rules defined in this configuration", ({ spec }) =>
      count(spec?.mutations),
    ),
    paramKindColumn,
    ageColumn,
  ],
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings": bindingColumns,
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": webhookColumns,
  "admissionregistration.k8s.io/validatingadmissionpolicies": [
    nameColumn,
    integer(
      "Validations",
      "Validations indicates the number of validation rules defined in this configuration",
      ({ spec }) => count(spec?.validations),
    ),
    paramKindColumn,
    ageColumn,
  ],
  "admissionregistration.k8s.io/validatingadmissionpolicybindings": bindingColumns,
  "admissionregistration.k8s.io/validatingwebhookconfigurations": webhookColumns,
};

/**
 * `namespace/name`, with `*` for an unset namespace because the parameter's scope is unknown here;
 * a selector has the form that Go prints.
 */
function paramRef({ spec }: KubeObject): string {
  const { namespace, name, selector } = spec?.paramRef ?? {};
  if (name) return `${namespace || "*"}/${name}`;
  return selector === undefined ? "<unset>" : goSelector(selector);
}

function goSelector({ matchLabels = {}, matchExpressions }: Part): string {
  const labels = Object.entries(matchLabels).sort(([a], [b]) => (a < b ? -1 : 1));
  const pairs = labels.map(([key, value]) => `${key}: ${value},`).join("");
  const expressions = items(matchExpressions).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${pairs}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}
