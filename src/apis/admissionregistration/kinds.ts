/**
 * admissionregistration.k8s.io: webhook configurations and policies. The first write of a kind
 * loads its rules.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/admissionregistration
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateMetaAgain } from "../../apimachinery/validation/metadata.ts";
import type { StoredConversion } from "../../catalog/contract.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Strategy, StrategyContext } from "../../catalog/strategy-contract.ts";
import { identical } from "../../lib/json/values.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { items, keepMetaForStatus, type Part, setAbsent, struct } from "../fields.ts";
import { bindingColumns, mutatingPolicyColumns, validatingPolicyColumns, webhookColumns } from "./columns.ts";
import { type ExpressionChecker, type LoadExpressionChecker, uncheckedExpressions } from "./expression-checker.ts";

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
