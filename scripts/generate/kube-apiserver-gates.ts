/**
 * kube-apiserver's feature gates that no importable library declares, with what they are in 1.36 as far as known: names by stage, default and lock.
 * Source: pkg/features/kube_features.go of Kubernetes 1.35 and what is known of 1.36.
 */
export const kubeApiserverGates: readonly [stage: "ALPHA" | "BETA" | "GA" | "DEPRECATED", enabled: boolean, locked: boolean, names: string][] = [
  [
    "ALPHA",
    false,
    false,
    `ContainerStopSignals CPUManagerPolicyAlphaOptions CSIVolumeHealth CloudControllerManagerWatchBasedRoutesReconciliation
    CloudControllerManagerWebhook CRIListStreaming CrossNamespaceVolumeDataSource CustomCPUCFSQuotaPeriod DRAListTypeAttributes DRANodeAllocatableResources
    DRAResourcePoolStatus DRAWorkloadResourceClaims EventedPLEG GangScheduling GenericWorkload HPAScaleToZero ImageVolumeWithDigest InPlacePodVerticalScalingExclusiveCPUs
    InPlacePodVerticalScalingExclusiveMemory InTreePluginPortworxUnregister KubeletInUserNamespace MemoryQoS MutablePVNodeAffinity
    MutableSchedulingDirectivesForSuspendedJobs PodAndContainerStatsFromCRI PodLogsQuerySplitStreams QOSReserved ReduceDefaultCrashLoopBackOffDecay
    RelaxedServiceNameValidation RuntimeClassInImageCriAPI StorageCapacityScoring StrictIPCIDRValidation TaintTolerationComparisonOperators
    TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions UserNamespacesHostNetworkSupport VolumeLimitScaling WindowsCPUAndMemoryAffinity
    WorkloadAwarePreemption`,
  ],
  [
    "BETA",
    false,
    false,
    `ClusterTrustBundle ClusterTrustBundleProjection DRADeviceTaintRules LocalStorageCapacityIsolationFSQuotaMonitoring PodCertificateRequest
    SchedulerAsyncAPICalls StorageVersionMigrator`,
  ],
  [
    "BETA",
    true,
    false,
    `AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions ClearingNominatedNodeNameAfterBinding ContainerCheckpoint
    ContainerRestartRules DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource DRAPartitionableDevices
    DRAResourceClaimDeviceStatus DRASchedulerFilterTimeout DeploymentReplicaSetTerminatingReplicas DisableCPUQuotaWithExclusiveCPUs EnvFiles
    GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance HostnameOverride InPlacePodLevelResourcesVerticalScaling
    KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders
    MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge MaxUnavailableStatefulSet MutablePodResourcesForSuspendedJobs
    NodeDeclaredFeatures NominatedNodeNameForExpectation OpportunisticBatching PodDeletionCost PodLevelResources PodReadyToStartContainersCondition
    PodTopologyLabelsAdmission PortForwardWebsockets PreventStaticPodAPIReferences ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile
    ResourceHealthStatus RestartAllContainersOnContainerExits RotateKubeletServerCertificate SchedulerAsyncPreemption SchedulerPopFromBackoffQ
    ServiceAccountNodeAudienceRestriction StatefulSetSemanticRevisionComparison TopologyManagerPolicyBetaOptions
    TranslateStreamCloseWebsocketRequests WindowsGracefulNodeShutdown`,
  ],
  [
    "GA",
    true,
    false,
    `DRAPrioritizedList ExternalServiceAccountTokenSigner ImageVolume KubeletFineGrainedAuthz KubeletPSI KubeletPodResourcesDynamicResources
    KubeletPodResourcesGet MutableCSINodeAllocatableCount NodeLogQuery ProcMountType SELinuxChangePolicy SELinuxMount SELinuxMountReadWriteOncePod
    TopologyManagerPolicyOptions UserNamespacesSupport`,
  ],
  [
    "GA",
    true,
    true,
    `AnyVolumeDataSource AuthorizeNodeWithSelectors CPUManagerPolicyOptions CSIMigrationPortworx CSIServiceAccountTokenSecrets DRAAdminAccess
    DisableAllocatorDualWrite DynamicResourceAllocation ExecProbeTimeout HonorPVReclaimPolicy ImageMaximumGCAge InPlacePodVerticalScaling
    JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI KubeletTracing LogarithmicScaleDown
    MatchLabelKeysInPodAffinity MemoryManager MultiCIDRServiceAllocator NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeSwap
    OrderedNamespaceDeletion PodLifecycleSleepAction PodLifecycleSleepActionAllowZero PodObservedGenerationTracking PodSchedulingReadiness
    PreferSameTrafficDistribution RecoverVolumeExpansionFailure RecursiveReadOnlyMounts RelaxedDNSSearchValidation
    RelaxedEnvironmentVariableValidation SchedulerQueueingHints SeparateTaintEvictionController ServiceAccountTokenJTI ServiceAccountTokenNodeBinding
    ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo ServiceTrafficDistribution SidecarContainers
    StructuredAuthorizationConfiguration SupplementalGroupsPolicy SystemdWatchdog TopologyAwareHints VolumeAttributesClass WinDSR WinOverlay`,
  ],
  [
    "DEPRECATED",
    false,
    false,
    `AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ChangeContainerStatusOnKubeletRestart GitRepoVolumeDriver
    InPlacePodVerticalScalingAllocatedStatus KubeletRegistrationGetOnExistsOnly WindowsHostNetwork`,
  ],
  ["DEPRECATED", true, false, "DisableNodeKubeProxyVersion KubeletPodResourcesListUseActivePods StorageNamespaceIndex"],
  ["DEPRECATED", false, true, "AllowOverwriteTerminationGracePeriodSeconds WatchFromStorageWithoutResourceVersion"],
];

/** Names by which fields of the API call a gate, and the gate that decides; undefined: always on, its gate is gone. */
export const fieldGateAliases: Readonly<Record<string, string | undefined>> = {
  CSIStorageCapacity: undefined,
  PodCertificateProjection: "PodCertificateRequest",
  ResourceHealthStatusMessage: "ResourceHealthStatus",
};
