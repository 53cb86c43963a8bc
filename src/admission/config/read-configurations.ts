/**
 * Reads the configuration of all plugins at start.
 * Source: `NewFromPlugins` in k8s.io/apiserver@v0.36.0/pkg/admission/plugins.go.
 */
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { type PluginEntry, readAdmissionConfiguration, readEntry } from "./configuration-file.ts";
import type { ConfiguredPlugin, PluginConfiguration } from "./contract.ts";
import { parsePluginConfiguration } from "./plugin-configuration.ts";
import { readWebhookCredentials, withoutCredentials } from "./webhook-credentials.ts";

interface ReadOptions {
  /** The file of `--admission-control-config-file`. */
  readonly file: string;
  /** The plugins that kube-apiserver runs. It ignores the configuration of others. */
  readonly enabled: ReadonlySet<string>;
  /** The plugins that this server runs. */
  readonly present: ReadonlySet<string>;
  readonly gates: FeatureGates;
  readonly logger: Pick<Logger, "warn">;
}

/** In upstream's order of plugins, in which errors are found. */
const configuredPlugins: readonly ConfiguredPlugin[] = [
  "MutatingAdmissionPolicy",
  "MutatingAdmissionWebhook",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionWebhook",
];

/**
 * Reads the file and the files that it refers to. Logs a warning for each entry without effect.
 *
 * @returns the configurations of the plugins that have one
 * @throws Error with upstream's message for the first invalid file
 */
export async function readPluginConfigurations({
  file,
  enabled,
  present,
  gates,
  logger,
}: ReadOptions): Promise<ReadonlyMap<ConfiguredPlugin, PluginConfiguration>> {
  const entries = await readAdmissionConfiguration(file);
  const configurations = new Map<ConfiguredPlugin, PluginConfiguration>();
  const used = new Set<PluginEntry>();
  for (const plugin of configuredPlugins) {
    const entry = enabled.has(plugin) ? entries.find((one) => one.plugin === plugin) : undefined;
    if (entry === undefined) continue;
    used.add(entry);
    const configuration = await readConfiguration(plugin, entry, gates);
    if (configuration !== undefined) configurations.set(plugin, configuration);
  }
  for (const entry of entries) {
    const { plugin } = entry;
    if (!used.has(entry) || !present.has(plugin))
      logger.warn("Configuration of the admission plugin has no effect", { plugin });
  }
  return configurations;
}

async function readConfiguration(
  plugin: ConfiguredPlugin,
  entry: PluginEntry,
  gates: FeatureGates,
): Promise<PluginConfiguration | undefined> {
  const bytes = await readEntry(entry);
  if (bytes === undefined) return undefined;
  try {
    const { kubeConfigFile, staticManifestsDir } = await parsePluginConfiguration(plugin, bytes, gates);
    return {
      staticManifestsDir: staticManifestsDir === "" ? undefined : staticManifestsDir,
      findCredentials: kubeConfigFile === "" ? withoutCredentials : await readWebhookCredentials(kubeConfigFile),
    };
  } catch (error) {
    throw new Error(`couldn't init admission plugin ${quoteGo(plugin)}: ${(error as Error).message}`, { cause: error });
  }
}
