/** The plugins that have a configuration. */
import type { PodSecurityConfiguration } from "../plugins/pod-security/contract.ts";
import type { ManifestConfiguration, ManifestPlugin, ParseConfiguration } from "./contract.ts";

/** By plugin, how its configuration is parsed. The code of a plugin is loaded when it has one. */
export const configurationParsers = {
  MutatingAdmissionPolicy: manifests("MutatingAdmissionPolicy"),
  MutatingAdmissionWebhook: manifests("MutatingAdmissionWebhook"),
  PodSecurity: async (bytes: Buffer): Promise<PodSecurityConfiguration> =>
    (await import("../plugins/pod-security/configuration.ts")).parsePodSecurityConfiguration(bytes),
  ValidatingAdmissionPolicy: manifests("ValidatingAdmissionPolicy"),
  ValidatingAdmissionWebhook: manifests("ValidatingAdmissionWebhook"),
  ResourceQuota: async (bytes: Buffer) =>
    (await import("../plugins/resource-quota/configuration.ts")).parseResourceQuotaConfiguration(bytes),
} satisfies Readonly<Record<string, ParseConfiguration<unknown>>>;

type Parsers = typeof configurationParsers;

/** The parsed configurations. A plugin that has none is absent. */
export type PluginConfigurations = { readonly [Plugin in keyof Parsers]?: Awaited<ReturnType<Parsers[Plugin]>> };

function manifests(plugin: ManifestPlugin): ParseConfiguration<ManifestConfiguration> {
  return async (bytes, gates) => (await import("./manifest-configuration.ts")).manifestParser(plugin)(bytes, gates);
}
