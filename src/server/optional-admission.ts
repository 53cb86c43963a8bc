/** Builds the admission plugins that are off by default. Loaded only when a flag enables one of them. */
import assert from "node:assert/strict";
import { startError } from "../admission/config/initialization-error.ts";
import type { AdmissionPlugin } from "../admission/contract.ts";
import type { Matching } from "../admission/matching/matcher.ts";
import { alwaysAdmit, alwaysDeny } from "../admission/plugins/always-admit.ts";
import { alwaysPullImages } from "../admission/plugins/always-pull-images.ts";
import { antiAffinityTopology } from "../admission/plugins/anti-affinity-topology.ts";
import { denyServiceExternalIps } from "../admission/plugins/deny-external-ips.ts";
import { eventRateLimit } from "../admission/plugins/event-rate-limit/event-rate-limit.ts";
import { extendedResourceToleration } from "../admission/plugins/extended-resource-toleration.ts";
import { imagePolicyWebhook } from "../admission/plugins/image-policy-webhook/image-policy-webhook.ts";
import { namespaceAutoProvision } from "../admission/plugins/namespace-auto-provision.ts";
import { namespaceExists } from "../admission/plugins/namespace-exists.ts";
import { ownerReferencesPermissionEnforcement } from "../admission/plugins/owner-references/owner-references.ts";
import { podNodeSelector } from "../admission/plugins/pod-node-selector/pod-node-selector.ts";
import { podTolerationRestriction } from "../admission/plugins/pod-toleration-restriction/pod-toleration-restriction.ts";
import type { Catalog } from "../catalog/contract.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { webhookClient } from "../webhook/client.ts";
import type { WebhookClient, WebhookEndpoint } from "../webhook/contract.ts";
import type { ServerAuthorization } from "./authorization.ts";
import type { Closers } from "./closers.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";
import type { Settings } from "./settings.ts";

interface Needs {
  readonly catalog: Catalog;
  readonly authorization: Pick<ServerAuthorization, "authorize">;
  readonly matching: Matching;
  readonly registry: () => RegistryContext;
  readonly metrics: Pick<ServerMetrics, "calls">;
  readonly closers: Closers;
}

/**
 * @returns the plugins that flags enable, in any order
 * @throws Error with upstream's message when the certificates of a webhook are not valid
 */
export function optionalPlugins(options: ServerOptions, settings: Settings, needs: Needs): AdmissionPlugin[] {
  const { clock, logger } = options;
  const { admissionConfigurations: configurations, admissionPlugins, gates } = settings;
  const { catalog, authorization, matching, registry } = needs;
  const { authorize } = authorization;
  const { namespaces } = matching;
  const podResources = gates.enabled("PodLevelResources");
  const builders: Readonly<Record<string, () => AdmissionPlugin>> = {
    AlwaysAdmit: () => alwaysAdmit(logger),
    AlwaysDeny: () => alwaysDeny(logger),
    AlwaysPullImages: alwaysPullImages,
    DenyServiceExternalIPs: denyServiceExternalIps,
    EventRateLimit: () => eventRateLimit(configurations.EventRateLimit ?? [], clock),
    ExtendedResourceToleration: extendedResourceToleration,
    ImagePolicyWebhook: () => openImagePolicy(options, settings, needs),
    LimitPodHardAntiAffinityTopology: antiAffinityTopology,
    NamespaceAutoProvision: () => namespaceAutoProvision({ namespaces, registry }),
    NamespaceExists: () => namespaceExists(namespaces),
    OwnerReferencesPermissionEnforcement: () => ownerReferencesPermissionEnforcement({ catalog, authorize }),
    PodNodeSelector: () => podNodeSelector(catalog, configurations.PodNodeSelector),
    PodTolerationRestriction: () =>
      podTolerationRestriction({ catalog, podResources, configuration: configurations.PodTolerationRestriction }),
  };
  return Object.entries(builders).flatMap(([name, build]) => (admissionPlugins.has(name) ? [build()] : []));
}

/** Far more than any ImageReview needs. */
const reviewBytesMax = 1 << 20;

function openImagePolicy(
  { clock, logger }: ServerOptions,
  { admissionConfigurations: { ImagePolicyWebhook: configuration } }: Settings,
  { metrics, closers }: Needs,
): AdmissionPlugin {
  assert.ok(configuration !== undefined, "the settings require a configuration");
  const { endpoint, ...policy } = configuration;
  const client = openClient(endpoint, { clock, calls: metrics.calls, answerBytesMax: reviewBytesMax });
  closers.add(() => client.close());
  return imagePolicyWebhook({ client, policy, clock, logger });
}

function openClient(endpoint: WebhookEndpoint, options: Parameters<typeof webhookClient>[1]): WebhookClient {
  try {
    return webhookClient(endpoint, options);
  } catch (error) {
    throw startError("ImagePolicyWebhook", error as Error);
  }
}
