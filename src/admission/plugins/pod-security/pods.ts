/** Pods are rejected if they violate the enforced standard. */
import { ApiError, internalError } from "../../../apimachinery/errors.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import type { PodTemplateKind } from "../../../lib/pod-security/pod-templates.ts";
import { isPrivileged, type ParsedPolicy } from "../../../lib/pod-security/policy.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import { annotatePodSecurity } from "./annotate.ts";
import type { PodSecurity } from "./contract.ts";
import { evaluateTemplate } from "./evaluate-template.ts";
import { isExempt } from "./exemptions.ts";

/** They do not change the spec of a pod. */
const ignoredSubresources: ReadonlySet<string> = new Set([
  "exec",
  "attach",
  "binding",
  "eviction",
  "log",
  "portforward",
  "proxy",
  "status",
]);

/** @throws ApiError 403 for violations, 500 if the namespace cannot be read */
export async function checkPod(
  plugin: PodSecurity,
  attributes: AdmissionAttributes,
  kind: PodTemplateKind,
): Promise<void> {
  if (ignoredSubresources.has(attributes.subresource) || isExempt(plugin, attributes)) return;
  let parsed: ParsedPolicy;
  try {
    parsed = await plugin.policyOf(attributes);
  } catch (error) {
    failLookup(plugin, attributes, error);
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
  if (problems.length === 0 && isPrivileged(policy)) {
    plugin.observer.evaluated("allow", policy.enforce, "enforce", attributes);
    annotatePodSecurity(attributes, "enforce-policy", "privileged:latest");
    return;
  }
  if (!isSignificantUpdate(attributes)) return;
  await evaluateTemplate(plugin, attributes, { kind, parsed, enforces: true });
}

function failLookup({ observer }: PodSecurity, attributes: AdmissionAttributes, error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  observer.failed(true, attributes);
  const failure = internalError(`failed to lookup namespace ${quoteGo(attributes.namespace)}`);
  annotatePodSecurity(attributes, "error", `${failure.message}: ${error.message}`);
  throw failure;
}

interface Container {
  readonly name: string;
  readonly image?: string;
}

/**
 * Returns whether a pod is new, or an update adds containers or changes images. Other fields that
 * checks read cannot be updated.
 */
function isSignificantUpdate({ operation, object, oldObject }: AdmissionAttributes): boolean {
  if (operation !== "UPDATE") return true;
  const [next, old] = [object?.spec, oldObject?.spec];
  return (
    differ(next?.containers, old?.containers) ||
    differ(next?.initContainers, old?.initContainers) ||
    addsOrChanges(next?.ephemeralContainers, old?.ephemeralContainers)
  );
}

function differ(next: readonly Container[] = [], old: readonly Container[] = []): boolean {
  return next.length !== old.length || next.some(({ image }, at) => image !== old[at]?.image);
}

function addsOrChanges(next: readonly Container[] = [], old: readonly Container[] = []): boolean {
  const images = new Map(old.map(({ name, image }) => [name, image]));
  return next.some(({ name, image }) => !images.has(name) || images.get(name) !== image);
}
