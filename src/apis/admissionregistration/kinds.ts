/**
 * admissionregistration.k8s.io: webhook configurations and policies. The first write of a kind
 * loads its rules.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/admissionregistration
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateMetaAgain } from "../../apimachinery/validation/metadata.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import type { StoredConversion } from "../../catalog/contract.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column, Strategy, StrategyContext } from "../../catalog/strategy-contract.ts";
import { identical } from "../../lib/json/values.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { count, integer, text } from "../column.ts";
import { items, keepMetaForStatus, type Part, setAbsent, struct } from "../fields.ts";
import { type ExpressionChecker, type LoadExpressionChecker, uncheckedExpressions } from "./expression-checker.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
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

const mutatingPolicyColumns: readonly Column[] = [
  nameColumn,
  integer("Mutations", "Mutation indicates the number of mutations rules defined in this configuration", ({ spec }) =>
    count(spec?.mutations),
  ),
  paramKindColumn,
  ageColumn,
];

const validatingPolicyColumns: readonly Column[] = [
  nameColumn,
  integer(
    "Validations",
    "Validations indicates the number of validation rules defined in this configuration",
    ({ spec }) => count(spec?.validations),
  ),
  paramKindColumn,
  ageColumn,
];

type Rules = (next: KubeObject, old: KubeObject | undefined, checker: ExpressionChecker, errors: FieldErrors) => void;

const reservedSuffix = ".static.k8s.io";
const reservedText = `names ending with "${reservedSuffix}" are reserved for static manifest-based configurations and cannot be managed via the API`;
const reservedGate = "ManifestBasedAdmissionControlConfig";

/**
 * @param load loads the checker of expressions; without it they are not checked
 * @param rules loads the validation of the kind
 */
function checked(load: LoadExpressionChecker | undefined, rules: () => Promise<Rules>): Partial<Strategy> {
  const check = async (next: KubeObject, old: KubeObject | undefined, errors: FieldErrors): Promise<void> =>
    (await rules())(next, old, (await load?.()) ?? uncheckedExpressions, errors);
  return {
    hasGeneration: true,
    repeatsMetaRules: false,
    async validate(object, errors, context) {
      await check(object, undefined, errors);
      checkReservedName(object, errors, context);
    },
    async validateUpdate(next, old, errors) {
      validateMetaAgain(next.metadata, { namespaced: false, validateName: dnsSubdomainProblems, custom: true }, errors);
      await check(next, old, errors);
    },
    warnings({ metadata: { name = "" } }, old, { gates }) {
      const isRejected = old === undefined && gates.enabled(reservedGate);
      return name.endsWith(reservedSuffix) && !isRejected ? [`metadata.name: ${reservedText}`] : [];
    },
  };
}

function checkReservedName(
  { metadata: { name = "" } }: KubeObject,
  errors: FieldErrors,
  { gates }: StrategyContext,
): void {
  if (name.endsWith(reservedSuffix) && gates.enabled(reservedGate)) errors.invalid("metadata.name", name, reservedText);
}

/**
 * Makes the strategies of the group.
 *
 * @param load loads the checker of expressions; without it they are not checked
 * @returns strategies by `group/resource`
 */
export function admissionKinds(load: LoadExpressionChecker | undefined): Readonly<Record<string, Strategy>> {
  const webhooks = async (): Promise<Rules> => (await import("./webhook-rules.ts")).validateWebhooks;
  const validatingPolicy = async (): Promise<Rules> => (await import("./policy-rules.ts")).validateValidatingPolicy;
  const mutatingPolicy = async (): Promise<Rules> => (await import("./policy-rules.ts")).validateMutatingPolicy;
  const kinds: Readonly<Record<string, Strategy>> = {
    validatingwebhookconfigurations: strategy({
      columns: webhookColumns,
      ...checked(load, webhooks),
      isolatesStatus: false,
      raisesGeneration: webhooksDiffer,
      setDefaults: (object) => items(object.webhooks).forEach(setWebhookDefaults),
    }),
    mutatingwebhookconfigurations: strategy({
      columns: webhookColumns,
      ...checked(load, webhooks),
      isolatesStatus: false,
      raisesGeneration: webhooksDiffer,
      setDefaults: setMutatingDefaults,
    }),
    validatingadmissionpolicies: strategy({
      columns: validatingPolicyColumns,
      ...checked(load, validatingPolicy),
      setDefaults: setPolicyDefaults,
      prepareForStatusUpdate: keepMetaForStatus,
      async validateStatusUpdate(next, _old, errors) {
        (await import("./policy-status.ts")).validatePolicyStatus(next, errors);
      },
    }),
    mutatingadmissionpolicies: strategy({
      columns: mutatingPolicyColumns,
      ...checked(load, mutatingPolicy),
      isolatesStatus: false,
      setDefaults: setPolicyDefaults,
    }),
    validatingadmissionpolicybindings: binding(
      async () => (await import("./binding-rules.ts")).validateValidatingBinding,
      {},
    ),
    mutatingadmissionpolicybindings: binding(async () => (await import("./binding-rules.ts")).validateMutatingBinding),
  };
  return Object.fromEntries(
    Object.entries(kinds).map(([resource, kind]) => [`admissionregistration.k8s.io/${resource}`, kind]),
  );
}

/** An absent field and an empty one count as different. */
const webhooksDiffer = (next: KubeObject, old: KubeObject): boolean =>
  !identical(next.webhooks ?? [], old.webhooks ?? []);

function binding(
  rules: () => Promise<(object: KubeObject, errors: FieldErrors) => void>,
  declarative?: Strategy["declarative"],
): Strategy {
  return strategy({
    columns: bindingColumns,
    ...checked(undefined, async () => {
      const validate = await rules();
      return (next, _old, _checker, errors) => validate(next, errors);
    }),
    isolatesStatus: false,
    declarative,
    setDefaults(object) {
      const { matchResources } = struct(object, "spec");
      if (matchResources) setMatchDefaults(matchResources);
    },
  });
}

function setMutatingDefaults(object: KubeObject): void {
  for (const webhook of items(object.webhooks)) {
    setWebhookDefaults(webhook);
    webhook.reinvocationPolicy ??= "Never";
  }
}

function setWebhookDefaults(webhook: Part): void {
  webhook.failurePolicy ??= "Fail";
  webhook.timeoutSeconds ??= 10;
  setMatchDefaults(webhook);
  setScope(webhook.rules);
  const service = webhook.clientConfig?.service;
  if (service) setAbsent(service, { port: 443 });
}

function setPolicyDefaults(object: KubeObject): void {
  const spec = struct(object, "spec");
  spec.failurePolicy ??= "Fail";
  if (spec.matchConstraints) setMatchDefaults(spec.matchConstraints);
}

function setMatchDefaults(match: Part): void {
  match.matchPolicy ??= "Equivalent";
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  setScope(match.resourceRules);
  setScope(match.excludeResourceRules);
}

function setScope(rules: unknown): void {
  for (const rule of items(rules)) rule.scope ??= "*";
}

/** Webhook configurations of v1beta1. */
export const webhooksV1beta1: StoredConversion = {
  toStorage(object) {
    for (const webhook of items(object.webhooks)) {
      setAbsent(webhook, { failurePolicy: "Ignore", matchPolicy: "Exact", sideEffects: "Unknown", timeoutSeconds: 30 });
      if (items(webhook.admissionReviewVersions).length === 0) webhook.admissionReviewVersions = ["v1beta1"];
    }
    return object;
  },
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
