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
export async function checkController(
  plugin: PodSecurity,
  attributes: AdmissionAttributes,
  kind: PodTemplateKind,
): Promise<void> {
  if (attributes.subresource !== "" || isExempt(plugin, attributes)) return;
  let parsed: ParsedPolicy;
  try {
    parsed = await plugin.policyOf(attributes);
  } catch (error) {
    return reportLookup(plugin, attributes, error);
  }
  await checkWith(plugin, attributes, kind, parsed);
}

async function checkWith(
  plugin: PodSecurity,
  attributes: AdmissionAttributes,
  kind: PodTemplateKind,
  parsed: ParsedPolicy,
): Promise<void> {
  const { policy, problems } = parsed;
  const isIgnored = policy.warn.level === "privileged" && policy.audit.level === "privileged";
  if (problems.length === 0 && isIgnored) return;
  await evaluateTemplate(plugin, attributes, { kind, parsed, enforces: false });
}

function reportLookup({ observer }: PodSecurity, attributes: AdmissionAttributes, error: unknown): void {
  if (!(error instanceof ApiError)) throw error;
  observer.failed(true, attributes);
  const problem = `failed to lookup namespace ${quoteGo(attributes.namespace)}: ${error.message}`;
  annotatePodSecurity(attributes, "error", problem);
}
