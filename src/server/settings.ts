/** All options that are texts or name files, read and checked before the server opens anything. */

import type { PluginConfigurations } from "../admission/config/parsers.ts";
import { chooseAdmissionPlugins, requiredConfigurations } from "../admission/options.ts";
import { type FeatureGates, parseFeatureGates } from "../apimachinery/feature-gates.ts";
import { builtinConversions } from "../apis/index.ts";
import { builtinVersions } from "../catalog/builtin-definitions.ts";
import { withoutGatedResources } from "../catalog/gated-resources.ts";
import { type ParsedRuntimeConfig, parseRuntimeConfig } from "../catalog/runtime-config.ts";
import { enabledControllers } from "../controllers/enabled.ts";
import { checkCoordinatedLeadership, checkLeaderElection } from "../controllers/leader-election/options.ts";
import { type IpRange, parseIpRanges } from "../lib/ip-range/ip-range.ts";
import { formatPortRange, type PortRange, parsePortRange } from "../lib/ip-range/port-range.ts";
import { joinErrors, quoteGo } from "../lib/json/quote.ts";
import { memo } from "../lib/memo/memo.ts";
import { type AuthenticationSettings, readAuthenticationSettings } from "./authentication.ts";
import { type AuthorizationSettings, readAuthorizationSettings } from "./authorization.ts";
import { type AllowedOrigins, readBrowserOptions } from "./browsers.ts";
import { checkLimits } from "./flow-control.ts";
import { metricsSettings } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";
import { checkPeerOptions } from "./peers.ts";

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
  readonly allowedOrigins: AllowedOrigins;
  /** Of the plugins that have one. */
  readonly admissionConfigurations: PluginConfigurations;
}

/** @throws Error when an option is not valid, or a file that it names cannot be read or is not valid */
export async function readSettings(options: ServerOptions): Promise<Settings> {
  checkLimits(options);
  checkLeaderElection(options.leaderElection);
  checkCoordinatedLeadership(options.coordinatedLeadership);
  const { serviceRanges, nodePorts } = readServiceSettings(options);
  const authorization = await readAuthorizationSettings(options);
  const authentication = await readAuthenticationSettings(options, authorization);
  const metrics = await metricsSettings(options);
  const allowedOrigins = await readBrowserOptions(options);
  const controllers = enabledControllers(controllersOf(options));
  const admissionPlugins = chooseAdmissionPlugins(options.admission);
  const { gates, warnings } = parseFeatureGates(options.featureGates);
  checkPeerOptions(options, gates);
  const served = servedVersions(options, gates);
  for (const warning of [...warnings, ...served.warnings]) options.logger.warn(warning);
  return {
    serviceRanges,
    nodePorts,
    gates,
    served,
    authorization,
    authentication,
    metrics,
    allowedOrigins,
    controllers,
    admissionPlugins,
    admissionConfigurations: await readAdmissionConfigurations(options, gates, admissionPlugins),
  };
}

function controllersOf({ controllers, enableGarbageCollector }: ServerOptions): readonly string[] {
  return enableGarbageCollector ? controllers : ["-garbage-collector-controller", ...controllers];
}

const known = memo<ParsedRuntimeConfig>(8);

function servedVersions(
  { runtimeConfig, featureGates }: Pick<ServerOptions, "runtimeConfig" | "featureGates">,
  gates: FeatureGates,
): ParsedRuntimeConfig {
  return known(JSON.stringify([runtimeConfig, featureGates]), () => {
    const builtin = builtinVersions(builtinConversions);
    return withoutGatedResources(parseRuntimeConfig(runtimeConfig, builtin), builtin, gates);
  });
}

async function readAdmissionConfigurations(
  { admission: { configFile }, logger }: ServerOptions,
  gates: FeatureGates,
  enabled: ReadonlySet<string>,
): Promise<PluginConfigurations> {
  const file = configFile === "" ? undefined : configFile;
  if (file === undefined && ![...enabled].some((plugin) => requiredConfigurations.has(plugin))) return {};
  const { readPluginConfigurations } = await import("../admission/config/read-configurations.ts");
  return readPluginConfigurations({ file, enabled, gates, logger });
}

/** Source: `ServiceIPRange` in k8s.io/kubernetes@v1.36.0/pkg/controlplane/apiserver/options/options.go. */
const serviceAddressesMin = 8;

function readServiceSettings({
  serviceClusterIpRange,
  serviceNodePortRange,
  kubernetesServiceNodePort: nodePort,
  apiserverCount,
}: ServerOptions): Pick<Settings, "serviceRanges" | "nodePorts"> {
  const serviceRanges = parseIpRanges(serviceClusterIpRange);
  if (serviceRanges === undefined) {
    throw new Error(`invalid argument ${quoteGo(serviceClusterIpRange)} for service-cluster-ip-range: not a CIDR`);
  }
  // The Service `kubernetes` has an address of the first range.
  if ((serviceRanges[0] as IpRange).size < serviceAddressesMin) {
    const why = `the service cluster IP range must be at least ${serviceAddressesMin} IP addresses`;
    throw new Error(`error determining service IP ranges for primary service cidr: ${why}`);
  }
  const nodePorts = parsePortRange(serviceNodePortRange);
  if (typeof nodePorts === "string") {
    throw new Error(`invalid argument ${quoteGo(serviceNodePortRange)} for service-node-port-range: ${nodePorts}`);
  }
  const problems: string[] = [];
  if (nodePort < 0 || nodePort > 65_535)
    problems.push(
      `--kubernetes-service-node-port ${nodePort} must be between 0 and 65535, inclusive. If 0, the Kubernetes master service will be of type ClusterIP`,
    );
  if (nodePort > 0 && (nodePort < nodePorts.first || nodePort > nodePorts.last))
    problems.push(`kubernetes service node port range ${formatPortRange(nodePorts)} doesn't contain ${nodePort}`);
  if (problems.length > 0) throw new Error(joinErrors(problems));
  if (apiserverCount <= 0)
    throw new Error(`--apiserver-count should be a positive number, but value '${apiserverCount}' provided`);
  return { serviceRanges, nodePorts };
}
