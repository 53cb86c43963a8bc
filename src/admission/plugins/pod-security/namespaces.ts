/**
 * Namespaces must have valid labels. When a stricter standard is to be enforced, the violations of
 * existing pods become warnings. Source: `ValidateNamespace` in
 * k8s.io/pod-security-admission@v0.36.0/admission/admission.go.
 */
import type { Clock } from "../../../apimachinery/clock.ts";
import { invalid } from "../../../apimachinery/errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Catalog } from "../../../catalog/contract.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { compareLevels, formatLevelVersion, sameLevelVersion } from "../../../lib/pod-security/levels.ts";
import {
  isPrivileged,
  type LabelProblem,
  levelLabel,
  type Mode,
  type ParsedPolicy,
  type Policy,
  parsePolicy,
  sameEffect,
  versionLabel,
} from "../../../lib/pod-security/policy.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { PodSecurity } from "./contract.ts";
import { labelErrors } from "./label-errors.ts";

interface Needs {
  readonly catalog: Pick<Catalog, "findResource">;
  readonly clock: Clock;
}

/** @throws ApiError 422 for invalid labels that the request sets */
export async function checkNamespace(
  plugin: PodSecurity,
  attributes: AdmissionAttributes,
  needs: Needs,
): Promise<void> {
  const { subresource, object, oldObject } = attributes;
  if (subresource !== "" || object === undefined) return;
  const next = policyOf(plugin, object);
  const old = oldObject && policyOf(plugin, oldObject);
  if (next.problems.length > 0 && !sameProblems(next.problems, old?.problems ?? []))
    throw invalid("", "Namespace", attributes.name, labelErrors(next.problems).causes);
  if (old !== undefined && !isStricter(next.policy, old.policy)) return;
  if (plugin.configuration.exemptions.namespaces.has(attributes.namespace))
    return warnExempt(plugin, attributes, object, next.policy);
  if (old === undefined) return;
  await warnAboutPods(plugin, attributes, next.policy, needs);
}

function policyOf({ configuration }: PodSecurity, { metadata }: KubeObject): ParsedPolicy {
  return parsePolicy((label) => metadata.labels?.[label], configuration.defaults);
}

function sameProblems(next: readonly LabelProblem[], old: readonly LabelProblem[]): boolean {
  return (
    next.length === old.length &&
    next.every(({ label, value }, at) => label === old[at]?.label && value === old[at]?.value)
  );
}

/** Whether existing pods could violate the new policy and not the old one. */
function isStricter({ enforce: next }: Policy, { enforce: old }: Policy): boolean {
  if (sameLevelVersion(next, old) || next.level === "privileged") return false;
  return next.version.text !== old.version.text || compareLevels(next.level, old.level) > 0;
}

async function warnAboutPods(
  { configuration, minorMax }: PodSecurity,
  { object, lifetime, warnings }: AdmissionAttributes,
  { enforce }: Policy,
  { catalog, clock }: Needs,
): Promise<void> {
  const { existingPodWarnings } = await import("./existing-pods.ts");
  const found = await existingPodWarnings({
    store: catalog.findResource("", "pods")?.store,
    namespace: object?.metadata.name ?? "",
    enforce,
    exemptRuntimeClasses: configuration.exemptions.runtimeClasses,
    minorMax,
    clock,
    endsAt: lifetime?.endsAt,
  });
  warnings.push(...found);
}

function warnExempt(
  { configuration }: PodSecurity,
  { name, warnings }: AdmissionAttributes,
  { metadata: { labels = {} } }: KubeObject,
  policy: Policy,
): void {
  if (isPrivileged(policy) || sameEffect(policy, configuration.defaults)) return;
  const isSet = (mode: Mode): boolean => levelLabel(mode) in labels || versionLabel(mode) in labels;
  const shown = (["enforce", "audit", "warn"] as const)
    .filter((mode) => policy[mode].level !== "privileged" && isSet(mode))
    .map((mode) => `${mode}=${formatLevelVersion(policy[mode])}`);
  warnings.push(
    `namespace ${quoteGo(name)} is exempt from Pod Security, and the policy (${shown.join(", ")}) will be ignored`,
  );
}
