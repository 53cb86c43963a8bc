/**
 * What the validation of a pod lets pass beyond the rules: by feature gates, and what an update must not break that the object already has.
 * Source: upstream's pod utilities, which the same gates and the same old objects ask.
 */
import type { FeatureGates } from "../../../apimachinery/feature-gates.ts";
import type { Part } from "../../fields.ts";
import { isDeletionCost } from "./annotations.ts";
import * as before from "./before.ts";

export interface PodOptions {
  /** A pod itself, not a template of some. */
  readonly isPod: boolean;
  readonly anyDeletionCost: boolean;
  readonly indivisibleHugePages: boolean;
  /** Label values in the selectors of pod affinity. */
  readonly anyAffinityValue: boolean;
  readonly anyNodeAffinityValue: boolean;
  readonly anySpreadSelector: boolean;
  /** Whether label keys of spread constraints count as part of the selector, as they are merged into it. */
  readonly mergesSpreadKeys: boolean;
  readonly anyTokenPath: boolean;
  /** Sysctls of a namespace that the pod shares with its host. */
  readonly hostSysctls: boolean;
  readonly onlyRecursiveRelabeling: boolean;
  readonly podResources: boolean;
  readonly podResourcesResize: boolean;
  readonly envFiles: boolean;
  readonly restartRules: boolean;
  readonly restartAllContainers: boolean;
  /** Init containers that are no sidecars and restart on a resize. */
  readonly restartingInitResize: boolean;
  readonly initContainerResize: boolean;
  readonly userNamespaceDevices: boolean;
  readonly userNamespaceHostNetwork: boolean;
  readonly comparingTolerations: boolean;
  readonly imageDigests: boolean;
  readonly strictAddresses: boolean;
  readonly clearsNominatedNode: boolean;
}

/** A pod or a template: metadata and spec. */
export interface PodLike {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: Part;
}

/** @param old what is there, for updates */
export function podOptions({ enabled }: FeatureGates, old?: PodLike): PodOptions {
  return { ...templateOptions({ enabled }, old), isPod: true };
}

/** The same for a template that a workload carries. */
export function templateOptions({ enabled }: FeatureGates, old?: PodLike): PodOptions {
  const spec = old?.spec;
  const mergesSpreadKeys =
    enabled("MatchLabelKeysInPodTopologySpread") && enabled("MatchLabelKeysInPodTopologySpreadSelectorMerge");
  const options: PodOptions = {
    isPod: false,
    anyDeletionCost: !enabled("PodDeletionCost"),
    indivisibleHugePages: false,
    anyAffinityValue: false,
    anyNodeAffinityValue: false,
    anySpreadSelector: false,
    mergesSpreadKeys,
    anyTokenPath: false,
    hostSysctls: false,
    onlyRecursiveRelabeling: !enabled("SELinuxMount"),
    podResources: enabled("PodLevelResources"),
    podResourcesResize: enabled("InPlacePodLevelResourcesVerticalScaling"),
    envFiles: enabled("EnvFiles"),
    restartRules: enabled("ContainerRestartRules"),
    restartAllContainers: enabled("RestartAllContainersOnContainerExits"),
    restartingInitResize: false,
    initContainerResize: enabled("InPlacePodVerticalScalingInitContainers"),
    userNamespaceDevices: false,
    userNamespaceHostNetwork: enabled("UserNamespacesHostNetworkSupport"),
    comparingTolerations: enabled("TaintTolerationComparisonOperators"),
    imageDigests: enabled("ImageVolumeWithDigest"),
    strictAddresses: enabled("StrictIPCIDRValidation"),
    clearsNominatedNode: enabled("ClearingNominatedNodeNameAfterBinding"),
  };
  if (spec === undefined) return options;
  const keepsSpreadKeys =
    enabled("MatchLabelKeysInPodTopologySpread") && before.hasOddSpreadKeys(spec, mergesSpreadKeys);
  return {
    ...options,
    anyDeletionCost: options.anyDeletionCost || !isDeletionCost(old?.metadata?.annotations),
    indivisibleHugePages: before.hasIndivisibleHugePages(spec),
    anyAffinityValue: before.hasOddAffinitySelector(spec),
    anyNodeAffinityValue: before.hasOddNodeAffinityValue(spec),
    anySpreadSelector: before.hasOddSpreadSelector(spec),
    mergesSpreadKeys: mergesSpreadKeys !== keepsSpreadKeys,
    anyTokenPath: before.hasOddTokenPath(spec),
    hostSysctls: before.hasHostSysctl(spec),
    onlyRecursiveRelabeling: options.onlyRecursiveRelabeling && spec.securityContext?.seLinuxChangePolicy === undefined,
    envFiles: options.envFiles || before.hasEnvFile(spec),
    restartRules: options.restartRules || before.hasRestartRules(spec),
    restartAllContainers: options.restartAllContainers || before.restartsAllContainers(spec),
    restartingInitResize: before.hasRestartingInitResize(spec),
    userNamespaceDevices: before.hasUserNamespaceDevices(spec),
    userNamespaceHostNetwork:
      options.userNamespaceHostNetwork || (spec.hostNetwork === true && spec.hostUsers === false),
    comparingTolerations: options.comparingTolerations || before.hasComparingToleration(spec),
  };
}
