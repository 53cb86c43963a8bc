/**
 * Validates webhook configurations. An update may keep some violations that the stored
 * configuration has.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/admissionregistration/validation/validation.go
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { identical } from "../../lib/json/values.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { checkReviewVersions, checkWebhookService, checkWebhookUrl } from "../apiextensions/conversion-rules.ts";
import { hasKnownVersion, reviewVersions } from "../apiextensions/requirements.ts";
import { items, type Part } from "../fields.ts";
import { isSoundSelector, validateLabelSelector } from "../label-selector.ts";
import type { ExpressionChecker } from "./expression-checker.ts";
import { validateMatchConditions } from "./match-conditions.ts";
import { matchPolicies, validateRule } from "./resource-rules.ts";

export const failurePolicies = ["Fail", "Ignore"];
export const reinvocationPolicies = ["IfNeeded", "Never"];
const sideEffects = ["None", "NoneOnDryRun", "Some", "Unknown"];
const noSideEffects = ["None", "NoneOnDryRun"];
const timeoutSecondsMax = 30;

interface Requirements {
  readonly sideEffects: readonly string[];
  readonly knownReviewVersion: boolean;
  readonly uniqueNames: boolean;
  readonly anySelectorValues: boolean;
  readonly matchConditions: boolean;
  readonly stored: ReadonlySet<string>;
}

const requirementsOfCreate: Requirements = {
  sideEffects: noSideEffects,
  knownReviewVersion: true,
  uniqueNames: true,
  anySelectorValues: false,
  matchConditions: true,
  stored: new Set(),
};

export function validateWebhooks(
  next: KubeObject,
  old: KubeObject | undefined,
  checker: ExpressionChecker,
  errors: FieldErrors,
): void {
  const required = old === undefined ? requirementsOfCreate : requirementsOf(items(next.webhooks), items(old.webhooks));
  const names = new Set<string>();
  for (const [index, webhook] of items(next.webhooks).entries()) {
    const path = `webhooks[${index}]`;
    validateWebhook(webhook, required, checker, path, errors);
    const { admissionReviewVersions: versions = [] } = webhook;
    const versionsPath = `${path}.admissionReviewVersions`;
    if (versions.length === 0) errors.required(versionsPath, `must specify one of ${reviewVersions.join(", ")}`);
    else checkReviewVersions(versions, versionsPath, required.knownReviewVersion, errors);
    const { name = "" } = webhook;
    if (required.uniqueNames && name !== "" && names.has(name)) errors.duplicate(`${path}.name`, name);
    names.add(name);
  }
}

/** The requirements that the stored webhooks fulfill. */
function requirementsOf(next: readonly Part[], old: readonly Part[]): Requirements {
  const conditions = (webhooks: readonly Part[]): unknown[] =>
    webhooks.map(({ matchConditions = [] }) => matchConditions);
  const selectors = old.flatMap(({ namespaceSelector = {}, objectSelector = {} }) => [
    namespaceSelector,
    objectSelector,
  ]);
  return {
    sideEffects: old.every((webhook) => noSideEffects.includes(webhook.sideEffects)) ? noSideEffects : sideEffects,
    knownReviewVersion: old.every(
      ({ admissionReviewVersions: versions = [] }) => versions.length === 0 || hasKnownVersion(versions),
    ),
    uniqueNames: new Set(old.map(({ name }) => name)).size === old.length,
    anySelectorValues: !selectors.every(isSoundSelector),
    matchConditions: !identical(conditions(next), conditions(old)),
    stored: new Set(
      old.flatMap(({ matchConditions }) => items(matchConditions).map(({ expression = "" }) => expression)),
    ),
  };
}

function validateWebhook(
  webhook: Part,
  required: Requirements,
  checker: ExpressionChecker,
  path: string,
  errors: FieldErrors,
): void {
  validateFullName(webhook.name ?? "", `${path}.name`, errors);
  for (const [index, rule] of items(webhook.rules).entries()) validateRule(rule, `${path}.rules[${index}]`, errors);
  checkOneOf(webhook, "failurePolicy", failurePolicies, path, errors);
  checkOneOf(webhook, "matchPolicy", matchPolicies, path, errors);
  if (webhook.sideEffects === undefined)
    errors.required(`${path}.sideEffects`, `must specify one of ${required.sideEffects.join(", ")}`);
  checkOneOf(webhook, "sideEffects", required.sideEffects, path, errors);
  const { timeoutSeconds: seconds } = webhook;
  if (seconds < 1 || seconds > timeoutSecondsMax)
    errors.invalid(`${path}.timeoutSeconds`, seconds, "the timeout value must be between 1 and 30 seconds");
  for (const field of ["namespaceSelector", "objectSelector"]) {
    if (webhook[field])
      validateLabelSelector(webhook[field], `${path}.${field}`, errors, { anyValues: required.anySelectorValues });
  }
  checkOneOf(webhook, "reinvocationPolicy", reinvocationPolicies, path, errors);
  validateClientConfig(webhook.clientConfig ?? {}, `${path}.clientConfig`, errors);
  if (!required.matchConditions) return;
  const context = { checker, hasParams: false, stored: required.stored };
  validateMatchConditions(items(webhook.matchConditions), context, `${path}.matchConditions`, errors);
}

function validateFullName(name: string, path: string, errors: FieldErrors): void {
  const problems = dnsSubdomainProblems(name);
  if (name === "") errors.required(path);
  else if (problems.length > 0) errors.invalid(path, name, problems.join(","));
  else if (name.split(".").length < 3)
    errors.invalid(path, name, "should be a domain with at least three segments separated by dots");
}

function checkOneOf(part: Part, field: string, known: readonly string[], path: string, errors: FieldErrors): void {
  if (part[field] !== undefined && !known.includes(part[field]))
    errors.notSupported(`${path}.${field}`, part[field], known);
}

function validateClientConfig({ url, service }: Part, path: string, errors: FieldErrors): void {
  if ((url === undefined) === !service) errors.required(path, "exactly one of url or service is required");
  else if (url !== undefined) checkWebhookUrl(url, `${path}.url`, errors);
  else checkWebhookService(service, `${path}.service`, errors);
}
