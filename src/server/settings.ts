/** All options that are texts or name files, read and checked before the server opens anything. */

import type { PluginConfigurations } from "../admission/config/parsers.ts";
import { chooseAdmissionPlugins, requiredConfigurations } from "../admission/options.ts";
import { parseEffectiveVersion } from "../apimachinery/effective-version.ts";
import { type FeatureGates, parseFeatureGates, type VersionedGates } from "../apimachinery/feature-gates.ts";
import { builtinVersions } from "../catalog/builtin-definitions.ts";
import { emulatedResources } from "../catalog/emulated-resources.ts";
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
  readonly gates: VersionedGates;
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

const externalSignerGate = "ExternalServiceAccountTokenSigner";

/** @throws Error when an option is not valid, or a file that it names cannot be read or is not valid */
export async function readSettings(options: ServerOptions): Promise<Settings> {
  checkLimits(options);
  checkLeaderElection(options.leaderElection);
  checkCoordinatedLeadership(options.coordinatedLeadership);
  const authorization = await readAuthorizationSettings(options);
  const authentication = await readAuthenticationSettings(options, authorization);
  const metrics = await metricsSettings(options);
  const allowedOrigins = await readBrowserOptions(options);
  const controllers = enabledControllers(controllersOf(options));
  const admissionPlugins = chooseAdmissionPlugins(options.admission);
  const { gates, warnings } = parseFeatureGates(options.featureGates, parseEffectiveVersion(options));
  const { serviceRanges, nodePorts } = readServiceSettings(options);
  if (!gates.enabled("DisableAllocatorDualWrite")) checkRangeSizes(serviceRanges);
  if (options.serviceAccountSigningEndpoint !== undefined && !gates.enabled(externalSignerGate))
    throw new Error(
      `setting \`--service-account-signing-endpoint\` requires enabling ${externalSignerGate} feature gate`,
    );
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

function servedVersions(options: ServerOptions, gates: VersionedGates): ParsedRuntimeConfig {
  const { runtimeConfig, emulationForwardCompatible, runtimeConfigEmulationForwardCompatible } = options;
  return known(apiKey(options), () => {
    const builtin = builtinVersions();
    const config = parseRuntimeConfig(runtimeConfig, builtin, { forward: emulationForwardCompatible });
    return emulatedResources(withoutGatedResources(config, builtin, gates), builtin, {
      emulated: gates.version.emulated,
      emulationForwardCompatible,
      runtimeConfigEmulationForwardCompatible,
    });
  });
}

/** @returns what is equal for servers with the same API */
export function apiKey({
  runtimeConfig,
  featureGates,
  emulatedVersion,
  minCompatibilityVersion,
  emulationForwardCompatible,
  runtimeConfigEmulationForwardCompatible,
}: ServerOptions): string {
  return JSON.stringify([
    runtimeConfig,
    featureGates,
    emulatedVersion,
    minCompatibilityVersion,
    emulationForwardCompatible,
    runtimeConfigEmulationForwardCompatible,
  ]);
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

/** Of the allocator that earlier releases also write. Source: cmd/kube-apiserver/app/options/validation.go. */
const rangeBitsMax = 20;

function checkRangeSizes(ranges: readonly IpRange[]): void {
  for (const [index, { family, length }] of ranges.entries()) {
    const bits = family === "IPv4" ? 32 : 128;
    if (bits - length <= rangeBitsMax) continue;
    const flag = `--service-cluster-ip-range${index === 0 ? "" : `[${index}]`}`;
    const least = `the mask must be >= ${bits - rangeBitsMax}`;
    throw new Error(`specified ${flag} is too large; for ${bits}-bit addresses, ${least}`);
  }
}
