/**
 * Feature gates of kube-apiserver 1.36 that no importable library declares: names by stage, default and lock.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/features/kube_features.go
 */
export const kubeApiserverGates: readonly [
  stage: "ALPHA" | "BETA" | "GA" | "DEPRECATED",
  enabled: boolean,
  locked: boolean,
  names: string,
][] = [
  [
    "ALPHA",
    false,
    false,
    `CPUManagerPolicyAlphaOptions CRIListStreaming CSIVolumeHealth CloudControllerManagerWatchBasedRoutesReconciliation
    CloudControllerManagerWebhook ContainerStopSignals CrossNamespaceVolumeDataSource DRAListTypeAttributes DRANodeAllocatableResources
    DRAResourcePoolStatus DRAWorkloadResourceClaims EventedPLEG GangScheduling GenericWorkload HPAScaleToZero ImageVolumeWithDigest
    InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory KubeletInUserNamespace MemoryQoS MutablePVNodeAffinity
    PersistentVolumeClaimUnusedSinceTime PodAndContainerStatsFromCRI PodLevelResourceManagers PodLogsQuerySplitStreams PodsAPI QOSReserved
    ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriApi StorageCapacityScoring TaintTolerationComparisonOperators
    TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions UserNamespacesHostNetworkSupport VolumeLimitScaling
    WindowsCPUAndMemoryAffinity WorkloadAwarePreemption WorkloadWithJob`,
  ],
  [
    "BETA",
    false,
    false,
    `ClusterTrustBundle ClusterTrustBundleProjection DRADeviceTaintRules LocalStorageCapacityIsolationFSQuotaMonitoring MaxUnavailableStatefulSet
    PodCertificateRequest SELinuxMount SchedulerAsyncAPICalls StorageVersionMigrator`,
  ],
  [
    "BETA",
    true,
    false,
    `AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions ClearingNominatedNodeNameAfterBinding ContainerCheckpoint
    ContainerRestartRules DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource DRAPartitionableDevices
    DRAResourceClaimDeviceStatus DRAResourceClaimGranularStatusAuthorization DRASchedulerFilterTimeout DeploymentReplicaSetTerminatingReplicas
    EnvFiles ExtendWebSocketsToKubelet GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance HostnameOverride
    InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingInitContainers KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages
    KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders MatchLabelKeysInPodTopologySpread
    MatchLabelKeysInPodTopologySpreadSelectorMerge MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs
    NodeDeclaredFeatures NominatedNodeNameForExpectation OpportunisticBatching PLEGOnDemandRelist PodDeletionCost PodLevelResources
    PodReadyToStartContainersCondition PodTopologyLabelsAdmission PortForwardWebsockets PreventStaticPodAPIReferences
    RelaxedServiceNameValidation ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile ResourceHealthStatus ResourceHealthStatusMessage
    RestartAllContainersOnContainerExits RotateKubeletServerCertificate SchedulerAsyncPreemption SchedulerPopFromBackoffQ
    ServiceAccountNodeAudienceRestriction StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
    StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison StrictIPCIDRValidation TopologyManagerPolicyBetaOptions
    TranslateStreamCloseWebsocketRequests WindowsGracefulNodeShutdown`,
  ],
  ["GA", true, false, `AllowServiceExternalIPs CustomCPUCFSQuotaPeriod DRAPrioritizedList`],
  [
    "GA",
    true,
    true,
    `AnyVolumeDataSource AuthorizeNodeWithSelectors CPUManagerPolicyOptions CSIServiceAccountTokenSecrets DRAAdminAccess
    DisableAllocatorDualWrite DynamicResourceAllocation ExecProbeTimeout ExternalServiceAccountTokenSigner ImageMaximumGCAge ImageVolume
    InPlacePodVerticalScaling JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI
    KubeletFineGrainedAuthz KubeletPSI KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletTracing LogarithmicScaleDown
    MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator MutableCSINodeAllocatableCount NFTablesProxyMode
    NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap OrderedNamespaceDeletion PodLifecycleSleepAction
    PodLifecycleSleepActionAllowZero PodObservedGenerationTracking PodSchedulingReadiness PreferSameTrafficDistribution ProcMountType
    RecoverVolumeExpansionFailure RecursiveReadOnlyMounts RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation SELinuxChangePolicy
    SELinuxMountReadWriteOncePod SchedulerQueueingHints SeparateTaintEvictionController ServiceAccountTokenJTI ServiceAccountTokenNodeBinding
    ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo SidecarContainers SupplementalGroupsPolicy SystemdWatchdog
    TopologyManagerPolicyOptions UserNamespacesSupport VolumeAttributesClass WinDSR WinOverlay`,
  ],
  [
    "DEPRECATED",
    false,
    false,
    `AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ChangeContainerStatusOnKubeletRestart KubeletRegistrationGetOnExistsOnly
    WindowsHostNetwork`,
  ],
  [
    "DEPRECATED",
    true,
    false,
    `DisableCPUQuotaWithExclusiveCPUs KubeletPodResourcesListUseActivePods ServiceCIDRStatusFieldWiping StorageNamespaceIndex`,
  ],
  ["DEPRECATED", false, true, `AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver`],
  ["DEPRECATED", true, true, `DisableNodeKubeProxyVersion`],
];

/** Names by which fields of the API call a gate, and the gate that decides; undefined: always on, because the gate was removed. */
export const fieldGateAliases: Readonly<Record<string, string | undefined>> = {
  CSIStorageCapacity: undefined,
  PodCertificateProjection: "PodCertificateRequest",
};

/** Gates without fields of their own that have an effect in this server. */
export const gatesWithEffect: ReadonlySet<string> = new Set([
  "AllowInsecureKubeletCertificateSigningRequests",
  "AuthorizeNodeWithSelectors",
  "AuthorizePodWebsocketUpgradeCreatePermission",
  "ClearingNominatedNodeNameAfterBinding",
  "ClusterTrustBundle",
  "ComponentFlagz",
  "ComponentStatusz",
  "ContainerRestartRules",
  "DRADeviceTaintRules",
  "DRAResourceClaimGranularStatusAuthorization",
  "DRAResourcePoolStatus",
  "EnvFiles",
  "ExtendWebSocketsToKubelet",
  "ImageVolumeWithDigest",
  "InPlacePodLevelResourcesVerticalScaling",
  "InPlacePodVerticalScalingInitContainers",
  "KubeletServiceAccountTokenForCredentialProviders",
  "MatchLabelKeysInPodTopologySpread",
  "MatchLabelKeysInPodTopologySpreadSelectorMerge",
  "PersistentVolumeClaimUnusedSinceTime",
  "PodCertificateRequest",
  "PodDeletionCost",
  "PodLevelResources",
  "PodTopologyLabelsAdmission",
  "PortForwardWebsockets",
  "RelaxedServiceNameValidation",
  "RestartAllContainersOnContainerExits",
  "SELinuxMount",
  "ServiceAccountNodeAudienceRestriction",
  "StorageVersionMigrator",
  "StrictIPCIDRValidation",
  "TaintTolerationComparisonOperators",
  "TranslateStreamCloseWebsocketRequests",
  "UserNamespacesHostNetworkSupport",
  "WorkloadWithJob",
]);

/**
 * Gates that require another gate, except gates that are always on or can be set in this server only.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/features/kube_features.go
 */
export const gateNeeds: Readonly<Record<string, string>> = {
  ClusterTrustBundleProjection: "ClusterTrustBundle",
  DRADeviceBindingConditions: "DRAResourceClaimDeviceStatus",
  DRADeviceTaintRules: "DRADeviceTaints",
  DRAResourceClaimGranularStatusAuthorization: "DRAResourceClaimDeviceStatus",
  DRAWorkloadResourceClaims: "GenericWorkload",
  ExtendWebSocketsToKubelet: "NodeDeclaredFeatures",
  GangScheduling: "GenericWorkload",
  GracefulNodeShutdownBasedOnPodPriority: "GracefulNodeShutdown",
  InPlacePodLevelResourcesVerticalScaling: "NodeDeclaredFeatures PodLevelResources",
  InPlacePodVerticalScalingInitContainers: "NodeDeclaredFeatures",
  MatchLabelKeysInPodTopologySpreadSelectorMerge: "MatchLabelKeysInPodTopologySpread",
  PodLevelResourceManagers: "PodLevelResources",
  ResourceHealthStatusMessage: "ResourceHealthStatus",
  RestartAllContainersOnContainerExits: "ContainerRestartRules NodeDeclaredFeatures",
  StaleControllerConsistencyDaemonSet: "AtomicFIFO",
  StaleControllerConsistencyJob: "AtomicFIFO",
  StaleControllerConsistencyReplicaSet: "AtomicFIFO",
  StaleControllerConsistencyStatefulSet: "AtomicFIFO",
  StorageVersionAPI: "APIServerIdentity",
  TopologyAwareWorkloadScheduling: "GenericWorkload",
  UnknownVersionInteroperabilityProxy: "APIServerIdentity",
  UserNamespacesHostNetworkSupport: "NodeDeclaredFeatures",
  WindowsGracefulNodeShutdown: "GracefulNodeShutdown",
  WorkloadAwarePreemption: "GangScheduling",
  WorkloadWithJob: "GenericWorkload",
};
