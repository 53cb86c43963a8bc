/** Pod controllers get warnings and audit annotations, and are never rejected. */
import { ApiError } from "../../../apimachinery/errors.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import type { PodTemplateKind } from "../../../lib/pod-security/pod-templates.ts";
import type { ParsedPolicy } from "../../../lib/pod-security/policy.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import { annotatePodSecurity } from "./annotate.ts";
import type { PodSecurity } from "./contract.ts";
import { evaluateTemplate } from "./evaluate-template.ts";
import { isExempt } from "./exemptions.ts";

/** Checks the pod template of a pod controller. */
export function checkController(
  plugin: PodSecurity,
  attributes: AdmissionAttributes,
  kind: PodTemplateKind,
): void | Promise<void> {
  if (attributes.subresource !== "" || isExempt(plugin, attributes)) return;
  const parsed = plugin.policyOf(attributes);
  if (!(parsed instanceof Promise)) return checkWith(plugin, attributes, kind, parsed);
  return parsed.then(
    (found) => checkWith(plugin, attributes, kind, found),
    (error: unknown) => reportLookup(plugin, attributes, error),
  );
}

function checkWith(
  plugin: PodSecurity,
  attributes: AdmissionAttributes,
  kind: PodTemplateKind,
  parsed: ParsedPolicy,
): void | Promise<void> {
  const { policy, problems } = parsed;
  const isIgnored = policy.warn.level === "privileged" && policy.audit.level === "privileged";
  if (problems.length === 0 && isIgnored) return;
  return evaluateTemplate(plugin, attributes, { kind, parsed, enforces: false });
}

function reportLookup({ observer }: PodSecurity, attributes: AdmissionAttributes, error: unknown): void {
  if (!(error instanceof ApiError)) throw error;
  observer.failed(true, attributes);
  const problem = `failed to lookup namespace ${quoteGo(attributes.namespace)}: ${error.message}`;
  annotatePodSecurity(attributes, "error", problem);
}
