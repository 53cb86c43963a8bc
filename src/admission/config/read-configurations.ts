/**
 * Reads the configuration of all plugins at start.
 * Source: `NewFromPlugins` in k8s.io/apiserver@v0.36.0/pkg/admission/plugins.go.
 */
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { implementedPlugins, requiredConfigurations } from "../options.ts";
import { readAdmissionConfiguration, readEntry } from "./configuration-file.ts";
import type { ParseConfiguration } from "./contract.ts";
import { startError } from "./initialization-error.ts";
import { configurationParsers, type PluginConfigurations } from "./parsers.ts";

interface ReadOptions {
  /** The file of `--admission-control-config-file`; undefined if there is none. */
  readonly file: string | undefined;
  /**
   * The plugins that kube-apiserver runs, in its order, in which errors are found. It ignores the
   * configuration of others.
   */
  readonly enabled: ReadonlySet<string>;
  readonly gates: FeatureGates;
  readonly logger: Pick<Logger, "warn">;
}

/**
 * Reads the file and the files that it refers to. Logs a warning for each entry of a plugin that
 * does not exist.
 *
 * @returns the configurations of the plugins that have one
 * @throws Error with upstream's message for the first invalid file, or a plugin that needs a configuration and has none
 */
export async function readPluginConfigurations({
  file,
  enabled,
  gates,
  logger,
}: ReadOptions): Promise<PluginConfigurations> {
  const entries = file === undefined ? [] : await readAdmissionConfiguration(file);
  const found: [plugin: string, configuration: unknown][] = [];
  for (const plugin of enabled) {
    const entry = entries.find((one) => one.plugin === plugin);
    const bytes = entry && (await readEntry(entry));
    if (bytes !== undefined) found.push([plugin, await parseConfiguration(plugin, bytes, { gates, logger })]);
    else checkRequired(plugin);
  }
  const known: ReadonlySet<string> = new Set(Object.values(implementedPlugins).flat());
  for (const { plugin } of entries) {
    if (!known.has(plugin)) logger.warn("Configuration of the admission plugin has no effect", { plugin });
  }
  return Object.fromEntries(found.filter(([, configuration]) => configuration !== undefined));
}

const parsers = new Map<string, ParseConfiguration<unknown>>(Object.entries(configurationParsers));

/** @returns undefined for a plugin that has no configuration, whose file upstream ignores */
async function parseConfiguration(
  plugin: string,
  bytes: Buffer,
  { gates, logger }: Pick<ReadOptions, "gates" | "logger">,
): Promise<unknown> {
  try {
    return await parsers.get(plugin)?.(bytes, gates, logger);
  } catch (error) {
    throw startError(plugin, error as Error);
  }
}

/** @throws Error for a plugin that has no defaults */
function checkRequired(plugin: string): void {
  const problem = requiredConfigurations.get(plugin);
  if (problem !== undefined) throw startError(plugin, new Error(problem));
}
