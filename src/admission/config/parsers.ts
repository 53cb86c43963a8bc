/** The plugins that have a configuration. */
import type { EventLimit } from "../plugins/event-rate-limit/configuration.ts";
import type { ImagePolicy } from "../plugins/image-policy-webhook/contract.ts";
import type { NodeSelectorConfiguration } from "../plugins/pod-node-selector/configuration.ts";
import type { PodSecurityConfiguration } from "../plugins/pod-security/contract.ts";
import type { TolerationConfiguration } from "../plugins/pod-toleration-restriction/configuration.ts";
import type { ManifestConfiguration, ManifestPlugin, ParseConfiguration } from "./contract.ts";

/** By plugin, how its configuration is parsed. The code of a plugin is loaded when it has one. */
export const configurationParsers = {
  EventRateLimit: async (bytes: Buffer): Promise<readonly EventLimit[]> =>
    (await import("../plugins/event-rate-limit/configuration.ts")).parseEventLimits(bytes),
  ImagePolicyWebhook: async (bytes, _gates, logger): Promise<ImagePolicy> =>
    (await import("../plugins/image-policy-webhook/configuration.ts")).parseImagePolicy(bytes, logger),
  MutatingAdmissionPolicy: manifests("MutatingAdmissionPolicy"),
  MutatingAdmissionWebhook: manifests("MutatingAdmissionWebhook"),
  PodNodeSelector: async (bytes: Buffer): Promise<NodeSelectorConfiguration> =>
    (await import("../plugins/pod-node-selector/configuration.ts")).parseNodeSelectors(bytes),
  PodSecurity: async (bytes: Buffer): Promise<PodSecurityConfiguration> =>
    (await import("../plugins/pod-security/configuration.ts")).parsePodSecurityConfiguration(bytes),
  PodTolerationRestriction: async (bytes: Buffer): Promise<TolerationConfiguration> =>
    (await import("../plugins/pod-toleration-restriction/configuration.ts")).parseTolerations(bytes),
  ResourceQuota: async (bytes: Buffer) =>
    (await import("../plugins/resource-quota/configuration.ts")).parseResourceQuotaConfiguration(bytes),
  ValidatingAdmissionPolicy: manifests("ValidatingAdmissionPolicy"),
  ValidatingAdmissionWebhook: manifests("ValidatingAdmissionWebhook"),
} satisfies Readonly<Record<string, ParseConfiguration<unknown>>>;

type Parsers = typeof configurationParsers;

/** The parsed configurations. A plugin that has none is absent. */
export type PluginConfigurations = { readonly [Plugin in keyof Parsers]?: Awaited<ReturnType<Parsers[Plugin]>> };

function manifests(plugin: ManifestPlugin): ParseConfiguration<ManifestConfiguration> {
  return async (...args) => (await import("./manifest-configuration.ts")).manifestParser(plugin)(...args);
}
