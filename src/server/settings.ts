/** All options that are texts or name files, read and checked before the server opens anything. */
import type { PluginConfigurations } from "../admission/config/parsers.ts";
import { chooseAdmissionPlugins, implementedPlugins, requiredConfigurations } from "../admission/options.ts";
import { type FeatureGates, parseFeatureGates } from "../apimachinery/feature-gates.ts";
import { builtinConversions } from "../apis/index.ts";
import { builtinVersions } from "../catalog/builtin-definitions.ts";
import { withoutGatedResources } from "../catalog/gated-resources.ts";
import { type ParsedRuntimeConfig, parseRuntimeConfig } from "../catalog/runtime-config.ts";
import { enabledControllers } from "../controllers/enabled.ts";
import { type IpRange, parseIpRanges } from "../lib/ip-range/ip-range.ts";
import { type PortRange, parsePortRange } from "../lib/ip-range/port-range.ts";
import type { ServerOptions } from "../options.ts";
import { type AuthenticationSettings, readAuthenticationSettings } from "./authentication.ts";
import { type AuthorizationSettings, readAuthorizationSettings } from "./authorization.ts";
import { checkLimits } from "./flow-control.ts";
import { metricsSettings } from "./metrics.ts";

export interface Settings {
  /** Of service addresses: at least one. */
  readonly serviceRanges: readonly IpRange[];
  readonly nodePorts: PortRange;
  readonly gates: FeatureGates;
  readonly served: ParsedRuntimeConfig;
  readonly authorization: AuthorizationSettings;
  readonly authentication: AuthenticationSettings;
  readonly metrics: Awaited<ReturnType<typeof metricsSettings>>;
  /** Names of those that run. */
  readonly controllers: ReturnType<typeof enabledControllers>;
  /** In the order in which they run. */
  readonly admissionPlugins: ReadonlySet<string>;
  /** Of the plugins that have one. */
  readonly admissionConfigurations: PluginConfigurations;
}

/** @throws Error when an option is not valid, or a file that it names cannot be read or is not valid */
export async function readSettings(options: ServerOptions): Promise<Settings> {
  checkLimits(options);
  const { serviceRanges, nodePorts } = readServiceSettings(options);
  const authorization = await readAuthorizationSettings(options);
  const authentication = await readAuthenticationSettings(options, authorization);
  const metrics = await metricsSettings(options);
  const controllers = enabledControllers(options.controllers);
  const admissionPlugins = chooseAdmissionPlugins(options.admission);
  const { gates, warnings } = parseFeatureGates(options.featureGates);
  const builtin = builtinVersions(builtinConversions);
  const served = withoutGatedResources(parseRuntimeConfig(options.runtimeConfig, builtin), builtin, gates);
  for (const warning of [...warnings, ...served.warnings]) options.logger.warn(warning);
  return {
    serviceRanges,
    nodePorts,
    gates,
    served,
    authorization,
    authentication,
    metrics,
    controllers,
    admissionPlugins,
    admissionConfigurations: await readAdmissionConfigurations(options, gates, admissionPlugins),
  };
}

async function readAdmissionConfigurations(
  { admission: { configFile }, logger }: ServerOptions,
  gates: FeatureGates,
  enabled: ReadonlySet<string>,
): Promise<PluginConfigurations> {
  const file = configFile === "" ? undefined : configFile;
  if (file === undefined && ![...enabled].some((plugin) => requiredConfigurations.has(plugin))) return {};
  const present = Object.values(implementedPlugins).flat();
  const { readPluginConfigurations } = await import("./admission-files.ts");
  return readPluginConfigurations({ file, enabled, present, gates, logger });
}

function readServiceSettings({
  serviceClusterIpRange,
  serviceNodePortRange,
}: ServerOptions): Pick<Settings, "serviceRanges" | "nodePorts"> {
  const serviceRanges = parseIpRanges(serviceClusterIpRange);
  if (serviceRanges === undefined) {
    throw new Error(
      `invalid argument ${JSON.stringify(serviceClusterIpRange)} for service-cluster-ip-range: not a CIDR`,
    );
  }
  const nodePorts = parsePortRange(serviceNodePortRange);
  if (typeof nodePorts === "string") {
    throw new Error(
      `invalid argument ${JSON.stringify(serviceNodePortRange)} for service-node-port-range: ${nodePorts}`,
    );
  }
  return { serviceRanges, nodePorts };
}
