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

export const webhookColumns: readonly Column[] = [
  nameColumn,
  integer("Webhooks", "Webhooks indicates the number of webhooks registered in this configuration", ({ webhooks }) =>
    count(webhooks),
  ),
  ageColumn,
];

export const bindingColumns: readonly Column[] = [
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

export const mutatingPolicyColumns: readonly Column[] = [
  nameColumn,
  integer("Mutations", "Mutation indicates the number of mutations rules defined in this configuration", ({ spec }) =>
    count(spec?.mutations),
  ),
  paramKindColumn,
  ageColumn,
];

export const validatingPolicyColumns: readonly Column[] = [
  nameColumn,
  integer(
    "Validations",
    "Validations indicates the number of validation rules defined in this configuration",
    ({ spec }) => count(spec?.validations),
  ),
  paramKindColumn,
  ageColumn,
];

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
