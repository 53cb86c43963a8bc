/** Builds the admission chain. */
import { createAdmission } from "../admission/chain.ts";
import type { ManifestPlugin, StaticManifests } from "../admission/config/contract.ts";
import type { AdmissionPlugin } from "../admission/contract.ts";
import { type Matching, openMatching } from "../admission/matching/matcher.ts";
import { versionedObjects } from "../admission/matching/versioned.ts";
import { implementedPlugins } from "../admission/options.ts";
import { certificateDurations } from "../admission/plugins/certificates/certificate-durations.ts";
import { certificatePlugins } from "../admission/plugins/certificates/certificates.ts";
import { podCertificateSigning } from "../admission/plugins/certificates/pod-certificate-signing.ts";
import { claimResize } from "../admission/plugins/claim-resize.ts";
import { defaultIngressClass } from "../admission/plugins/default-ingress-class.ts";
import { defaultStorageClass } from "../admission/plugins/default-storage-class.ts";
import { defaultTolerationSeconds } from "../admission/plugins/default-toleration-seconds.ts";
import { jobValidation } from "../admission/plugins/job-validation.ts";
import { limitRanger } from "../admission/plugins/limit-ranger/limit-ranger.ts";
import { namespaceLifecycle } from "../admission/plugins/namespace-lifecycle.ts";
import { nodeDeclaredFeatureValidator } from "../admission/plugins/node-declared-feature-validator.ts";
import { nodeRestriction } from "../admission/plugins/node-restriction/node-restriction.ts";
import { podGroupWorkloadExists } from "../admission/plugins/pod-group-workload-exists.ts";
import { podResizeValidator } from "../admission/plugins/pod-resize-validator.ts";
import { podSecurity } from "../admission/plugins/pod-security/pod-security.ts";
import { podTopologyLabels } from "../admission/plugins/pod-topology-labels.ts";
import { policyParameters } from "../admission/plugins/policy-parameters.ts";
import { priority } from "../admission/plugins/priority/priority.ts";
import { rbacEscalation } from "../admission/plugins/rbac-escalation.ts";
import { resourceQuota } from "../admission/plugins/resource-quota/resource-quota.ts";
import { runtimeClass } from "../admission/plugins/runtime-class/runtime-class.ts";
import { serviceAccount } from "../admission/plugins/service-account/service-account.ts";
import { serviceAddresses } from "../admission/plugins/service-addresses/service-addresses.ts";
import { taintNodesByCondition } from "../admission/plugins/taint-nodes-by-condition.ts";
import { useProtection } from "../admission/plugins/use-protection.ts";
import { apiRelease } from "../apimachinery/release.ts";
import type { Catalog } from "../catalog/contract.ts";
import { podSecurityMetrics } from "../metrics/pod-security-metrics.ts";
import type { Admission, RegistryContext } from "../registry/contract.ts";
import type { ReviewObserver } from "../request/webhook-review.ts";
import type { LoopbackCredentials } from "../webhook/contract.ts";
import { openAdmissionWebhooks } from "./admission-webhooks.ts";
import type { ServerAuthorization } from "./authorization.ts";
import type { Closers } from "./closers.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";
import { policyPlugins } from "./policies.ts";
import type { Settings } from "./settings.ts";
import type { ServerState } from "./state.ts";

type Manifests = ReadonlyMap<ManifestPlugin, StaticManifests>;

interface Needs {
  readonly catalog: Catalog;
  readonly random: RegistryContext["random"];
  /** It exists after the plugins. */
  readonly registry: () => RegistryContext;
  readonly authorization: ServerAuthorization;
  readonly state: Pick<ServerState, "port">;
  readonly loopback: LoopbackCredentials;
  /** Only on test servers. */
  readonly reviewed: ReviewObserver | undefined;
  readonly metrics: ServerMetrics;
  readonly closers: Closers;
}

/**
 * Flags enable and disable plugins; the rules do what kube-apiserver's registries do, always.
 *
 * @throws Error when static manifests are not valid
 */
export async function openAdmission(options: ServerOptions, settings: Settings, needs: Needs): Promise<Admission> {
  const { clock } = options;
  const { gates, admissionPlugins, serviceRanges: ranges, nodePorts: portRange } = settings;
  const { catalog, random, metrics } = needs;
  const { authorize, rbac } = needs.authorization;
  const manifests = await openManifests(options, settings, needs);
  const strict = gates.enabled("StrictIPCIDRValidation");
  const [matching, versioned] = [openMatching(catalog), versionedObjects(catalog)];
  const plugins = [
    namespaceLifecycle(catalog),
    limitRanger(catalog, gates),
    serviceAccount({ catalog, clock, random }),
    nodeRestriction({ catalog, authorize, enabled: gates.enabled }),
    ...openPodSecurity(options, settings, needs),
    taintNodesByCondition(),
    priority({ catalog, enabled: gates.enabled }),
    defaultTolerationSeconds(options.admission),
    runtimeClass(catalog),
    defaultStorageClass(catalog),
    ...useProtection(gates),
    claimResize(catalog),
    defaultIngressClass(catalog),
    ...certificatePlugins({ authorize, enabled: gates.enabled }),
    podTopologyLabels(catalog, gates.enabled("PodTopologyLabelsAdmission")),
    podGroupWorkloadExists(catalog, gates.enabled("GenericWorkload")),
    nodeDeclaredFeatureValidator(catalog, gates.enabled("NodeDeclaredFeatures")),
    jobValidation(catalog, gates.enabled("GenericWorkload")),
    podResizeValidator(catalog),
    ...policyPlugins({ catalog, gates, authorize, matching, versioned, observer: metrics.policies, manifests }),
    ...openAdmissionWebhooks(options, settings, { ...needs, manifests, matching, versioned }),
    ...(await openOptionalPlugins(options, settings, { ...needs, matching })),
    resourceQuota({ catalog, clock, gates, ...settings.admissionConfigurations.ResourceQuota }),
  ];
  const byName = new Map(plugins.map((plugin) => [plugin.name, plugin]));
  const chosen = [...admissionPlugins].flatMap((name) => byName.get(name) ?? []);
  const rules = [
    serviceAddresses({
      catalog,
      registry: needs.registry,
      ranges,
      strict,
      portRange,
      observer: metrics.allocators.observer,
    }),
    rbacEscalation(rbac.policy, authorize),
    podCertificateSigning(authorize),
    policyParameters(catalog, authorize),
    certificateDurations(metrics.signingRequests),
  ];
  return createAdmission(chosen, rules, metrics.admission);
}

/** The code that reads them is loaded only with a configuration file. */
async function openManifests(
  options: ServerOptions,
  { admissionConfigurations: configurations }: Settings,
  needs: Needs,
): Promise<Manifests> {
  if (Object.keys(configurations).length === 0) return new Map();
  const { openStaticManifests } = await import("./admission-files.ts");
  return openStaticManifests(options, configurations, needs);
}

/** Their code is loaded only when a flag enables one of them. */
async function openOptionalPlugins(
  options: ServerOptions,
  settings: Settings,
  needs: Needs & { readonly matching: Matching },
): Promise<AdmissionPlugin[]> {
  if (!implementedPlugins.onRequest.some((name) => settings.admissionPlugins.has(name))) return [];
  const { optionalPlugins } = await import("./optional-admission.ts");
  return optionalPlugins(options, settings, needs);
}

/** @returns nothing if the plugin does not run */
function openPodSecurity(
  { clock }: Pick<ServerOptions, "clock">,
  { admissionPlugins, admissionConfigurations, gates }: Settings,
  { catalog, metrics }: Needs,
): AdmissionPlugin[] {
  if (!admissionPlugins.has("PodSecurity")) return [];
  const observer = podSecurityMetrics(Number(apiRelease.minor));
  metrics.add(observer.collect);
  const configuration = admissionConfigurations.PodSecurity;
  return [podSecurity({ catalog, clock, configuration, observer, minorMax: gates.version.emulated })];
}
