/** Opens the static manifests of admission plugins. Loaded only with `--admission-control-config-file`. */
import type { ManifestPlugin, StaticManifests } from "../admission/config/contract.ts";
import { openManifests } from "../admission/config/open-manifests.ts";
import type { PluginConfigurations } from "../admission/config/parsers.ts";
import { realClock } from "../apimachinery/clock.ts";
import type { Catalog } from "../catalog/contract.ts";
import { manifestMetrics } from "../metrics/manifest-metrics.ts";
import type { Closers } from "./closers.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";
import { identityOf } from "./peers.ts";

/** In upstream's order. */
const manifestPlugins: readonly ManifestPlugin[] = [
  "MutatingAdmissionPolicy",
  "MutatingAdmissionWebhook",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionWebhook",
];

interface Needs {
  readonly catalog: Catalog;
  readonly metrics: Pick<ServerMetrics, "add">;
  readonly closers: Closers;
}

/**
 * Loads the static manifests of each plugin that has some, and watches them.
 *
 * @throws Error with upstream's message when manifests are not valid
 */
export async function openStaticManifests(
  options: ServerOptions,
  configurations: PluginConfigurations,
  { catalog, metrics, closers }: Needs,
): Promise<ReadonlyMap<ManifestPlugin, StaticManifests>> {
  const { clock, logger } = options;
  const opened = new Map<ManifestPlugin, StaticManifests>();
  const observer = manifestMetrics({ clock, identity: identityOf(options) });
  for (const plugin of manifestPlugins) {
    const directory = configurations[plugin]?.staticManifestsDir;
    if (directory === undefined) continue;
    const manifests = await openManifests({ plugin, directory, catalog, clock: realClock(clock), logger, observer });
    closers.add(() => manifests.close());
    opened.set(plugin, manifests);
  }
  if (opened.size > 0) metrics.add(observer.collect);
  return opened;
}
