/**
 * Options of pod validation: what feature gates enable, and which invalid values of a stored object
 * an update may keep.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/api/pod/util.go`.
 */
import type { StrategyContext } from "../../../catalog/strategy-contract.ts";
import type { Part } from "../../fields.ts";
import { isDeletionCost } from "./annotations.ts";
import * as existing from "./existing-spec.ts";

/** Options named `any…` accept invalid values that the stored object has. */
export interface PodOptions {
  /** Whether the object is a pod, not a template. */
  readonly isPod: boolean;
  readonly anyDeletionCost: boolean;
  readonly indivisibleHugePages: boolean;
  /** Accepts invalid label values in the selectors of pod affinity. */
  readonly anyAffinityValue: boolean;
  readonly anyNodeAffinityValue: boolean;
  readonly anySpreadSelector: boolean;
  /** Whether the label keys of spread constraints are merged into their selectors. */
  readonly mergesSpreadKeys: boolean;
  readonly anyTokenPath: boolean;
  /** Accepts sysctls of namespaces that the pod shares with its host. */
  readonly hostSysctls: boolean;
  readonly onlyRecursiveRelabeling: boolean;
  readonly podResources: boolean;
  readonly podResourcesResize: boolean;
  readonly envFiles: boolean;
  readonly restartRules: boolean;
  readonly restartAllContainers: boolean;
  /** Accepts regular init containers that restart on a resize. */
  readonly restartingInitResize: boolean;
  readonly initContainerResize: boolean;
  readonly userNamespaceDevices: boolean;
  readonly userNamespaceHostNetwork: boolean;
  readonly comparingTolerations: boolean;
  readonly imageDigests: boolean;
  readonly strictAddresses: boolean;
  readonly clearsNominatedNode: boolean;
  readonly forbidsPrivileged: boolean;
}

/** What the options depend on besides the stored pod. */
type Cluster = Pick<StrategyContext, "gates" | "forbidsPrivileged">;

/** A pod or a template: metadata and spec. */
interface PodLike {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: Part;
}

/** @param old the stored pod, on update */
export function podOptions(cluster: Cluster, old?: PodLike): PodOptions {
  return { ...templateOptions(cluster, old), isPod: true };
}

/** The same for the pod template of a workload. */
export function templateOptions({ gates: { enabled }, forbidsPrivileged = false }: Cluster, old?: PodLike): PodOptions {
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
    forbidsPrivileged,
  };
  if (spec === undefined) return options;
  const keepsSpreadKeys =
    enabled("MatchLabelKeysInPodTopologySpread") && existing.hasInvalidSpreadKeys(spec, mergesSpreadKeys);
  return {
    ...options,
    anyDeletionCost: options.anyDeletionCost || !isDeletionCost(old?.metadata?.annotations),
    indivisibleHugePages: existing.hasIndivisibleHugePages(spec),
    anyAffinityValue: existing.hasInvalidAffinitySelector(spec),
    anyNodeAffinityValue: existing.hasInvalidNodeAffinityValue(spec),
    anySpreadSelector: existing.hasInvalidSpreadSelector(spec),
    mergesSpreadKeys: mergesSpreadKeys !== keepsSpreadKeys,
    anyTokenPath: existing.hasInvalidTokenPath(spec),
    hostSysctls: existing.hasHostSysctl(spec),
    onlyRecursiveRelabeling: options.onlyRecursiveRelabeling && spec.securityContext?.seLinuxChangePolicy === undefined,
    envFiles: options.envFiles || existing.hasEnvFile(spec),
    restartRules: options.restartRules || existing.hasRestartRules(spec),
    restartAllContainers: options.restartAllContainers || existing.restartsAllContainers(spec),
    restartingInitResize: existing.hasRestartingInitResize(spec),
    userNamespaceDevices: existing.hasUserNamespaceDevices(spec),
    userNamespaceHostNetwork:
      options.userNamespaceHostNetwork || (spec.hostNetwork === true && spec.hostUsers === false),
    comparingTolerations: options.comparingTolerations || existing.hasComparingToleration(spec),
  };
}
