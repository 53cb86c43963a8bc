/**
 * `--enable-admission-plugins`, `--disable-admission-plugins` and the deprecated `--admission-control`:
 * which plugins run. Names, order, defaults and messages are kube-apiserver's. Source:
 * k8s.io/kubernetes@v1.36.0/pkg/kubeapiserver/options/plugins.go.
 */
import { quoteGo } from "../lib/json/quote.ts";
import type { AdmissionOptions } from "./contract.ts";

/** The default plugins run. */
export const defaultAdmissionOptions: AdmissionOptions = { enable: [], disable: [] };

/**
 * All plugins of kube-apiserver 1.36 in the order in which they run. `byDefault` applies when no
 * flag names the plugin.
 */
const upstreamPlugins: readonly (readonly [name: string, byDefault: "on" | "off"])[] = [
  ["AlwaysAdmit", "off"],
  ["NamespaceAutoProvision", "off"],
  ["NamespaceLifecycle", "on"],
  ["NamespaceExists", "off"],
  ["LimitPodHardAntiAffinityTopology", "off"],
  ["LimitRanger", "on"],
  ["ServiceAccount", "on"],
  ["NodeRestriction", "off"],
  ["TaintNodesByCondition", "on"],
  ["AlwaysPullImages", "off"],
  ["ImagePolicyWebhook", "off"],
  ["PodSecurity", "on"],
  ["PodNodeSelector", "off"],
  ["Priority", "on"],
  ["DefaultTolerationSeconds", "on"],
  ["PodTolerationRestriction", "off"],
  ["EventRateLimit", "off"],
  ["ExtendedResourceToleration", "off"],
  ["DefaultStorageClass", "on"],
  ["StorageObjectInUseProtection", "on"],
  ["PodGroupProtection", "on"],
  ["OwnerReferencesPermissionEnforcement", "off"],
  ["PersistentVolumeClaimResize", "on"],
  ["RuntimeClass", "on"],
  ["CertificateApproval", "on"],
  ["CertificateSigning", "on"],
  ["ClusterTrustBundleAttest", "on"],
  ["CertificateSubjectRestriction", "on"],
  ["DefaultIngressClass", "on"],
  ["DenyServiceExternalIPs", "off"],
  ["PodTopologyLabels", "on"],
  ["PodGroupWorkloadExists", "on"],
  ["NodeDeclaredFeatureValidator", "on"],
  ["JobValidation", "on"],
  ["PodResizeValidator", "on"],
  ["MutatingAdmissionPolicy", "on"],
  ["MutatingAdmissionWebhook", "on"],
  ["ValidatingAdmissionPolicy", "on"],
  ["ValidatingAdmissionWebhook", "on"],
  ["ResourceQuota", "on"],
  ["AlwaysDeny", "off"],
];

/** The plugins that do not run without a configuration, and upstream's error. */
export const requiredConfigurations: ReadonlyMap<string, string> = new Map([
  ["ImagePolicyWebhook", "no config specified"],
  ["EventRateLimit", "limits: Invalid value: null: must not be empty"],
]);

/** The plugins that run by default, and those that a flag enables, in order. */
export const implementedPlugins = {
  byDefault: namesOf("on"),
  onRequest: namesOf("off"),
};

function namesOf(byDefault: "on" | "off"): readonly string[] {
  return upstreamPlugins.filter(([, state]) => state === byDefault).map(([name]) => name);
}

/**
 * Applies the flags to the defaults.
 *
 * @returns the names of the plugins in the order in which they run
 * @throws Error that lists all problems
 */
export function chooseAdmissionPlugins({ enable, disable, only }: AdmissionOptions): ReadonlySet<string> {
  const known = new Map(upstreamPlugins);
  const unknown = (flag: string, names: readonly string[]): string[] =>
    names.filter((name) => !known.has(name)).map((name) => `${flag} plugin ${quoteGo(name)} is unknown`);
  const both = [...new Set(enable)].filter((name) => disable.includes(name)).sort();
  const problems = [
    ...(only !== undefined && enable.length + disable.length > 0
      ? ["admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive"]
      : []),
    ...unknown("admission-control", only ?? []),
    ...unknown("enable-admission-plugins", enable),
    ...unknown("disable-admission-plugins", disable),
    ...(both.length > 0
      ? [`[${both.join(" ")}] in enable-admission-plugins and disable-admission-plugins overlapped`]
      : []),
  ];
  if (problems.length > 0) throw new Error(problems.length > 1 ? `[${problems.join(", ")}]` : problems[0]);
  const runs = (name: string): boolean =>
    only?.includes(name) ?? (enable.includes(name) || (known.get(name) === "on" && !disable.includes(name)));
  return new Set([...known.keys()].filter(runs));
}
