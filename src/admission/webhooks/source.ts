/** The webhooks of static manifests and of configurations that clients have created. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import { type Configurations, combined, inMemory } from "../configurations.ts";
import type { Configuration, Webhook } from "./contract.ts";

/** Returns the webhooks that see a request, in the order of their names and lists. */
export type WebhookSource = (attributes: AdmissionAttributes) => Configurations<Webhook>;

/**
 * Configurations that could otherwise prevent their own repair. Source:
 * `IsExemptAdmissionConfigurationResource` in
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/webhook/predicates/rules/rules.go.
 */
const exemptKinds: ReadonlySet<string> = new Set([
  "ValidatingWebhookConfiguration",
  "MutatingWebhookConfiguration",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
]);

/** Whether only webhooks of static manifests see a request. */
function isExempt({ target }: AdmissionAttributes): boolean {
  const { group, kind } = target.resource.definition;
  return group === "admissionregistration.k8s.io" && exemptKinds.has(kind);
}

/**
 * Returns the webhooks in order: those of static manifests first.
 *
 * @param followed what clients have created
 * @param manifests returns the webhooks of static manifests; undefined without any
 */
export function webhookSource(
  followed: Configurations<Configuration>,
  manifests: (() => readonly Webhook[]) | undefined,
): WebhookSource {
  const ofManifests = inMemory(manifests ?? ((): readonly Webhook[] => none));
  const all = combined(ofManifests, followed, (first, current) => [...first, ...current.flat()]);
  return (attributes) => (isExempt(attributes) ? ofManifests : all);
}

const none: readonly Webhook[] = [];

interface ManifestNeeds {
  /** Returns the objects of the last load, always as the same list until the next one. */
  readonly objects: () => readonly KubeObject[];
  readonly compile: (object: KubeObject) => Configuration;
  readonly release: (configuration: Configuration) => void;
}

/** Returns the webhooks of static manifests, which are compiled when the manifests were reloaded. */
export function manifestWebhooks({ objects, compile, release }: ManifestNeeds): () => readonly Webhook[] {
  let loaded: readonly KubeObject[] | undefined;
  let webhooks: readonly Webhook[] = [];
  return () => {
    const current = objects();
    if (current === loaded || (current.length === 0 && webhooks.length === 0)) return webhooks;
    const replaced = webhooks;
    loaded = current;
    webhooks = current.flatMap(compile);
    release(replaced);
    return webhooks;
  };
}
