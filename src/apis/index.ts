/**
 * The strategies of built-in kinds, by the names in src/apimachinery/data/resources.json. Kinds without an entry
 * have the default strategy.
 */

import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import { strategy } from "../catalog/strategy.ts";
import type { Strategy } from "../catalog/strategy-contract.ts";
import { podTemplateKinds } from "../lib/pod-security/pod-templates.ts";
import type { LoadExpressionChecker } from "./admissionregistration/expression-checker.ts";
import { admissionKinds } from "./admissionregistration/kinds.ts";
import { customResourceDefinition, customResourceDefinitionWith } from "./apiextensions/custom-resource-definition.ts";
import type { RuleChecker } from "./apiextensions/rule-checker.ts";
import { apiService } from "./apiregistration/api-service.ts";
import { storageVersion } from "./apiserverinternal/storage-version.ts";
import { controllerRevision } from "./apps/controller-revision.ts";
import { daemonSet } from "./apps/daemon-set.ts";
import { deployment } from "./apps/deployment.ts";
import { replicaSet } from "./apps/replica-set.ts";
import { statefulSet } from "./apps/stateful-set.ts";
import { horizontalPodAutoscaler } from "./autoscaling/horizontal-pod-autoscaler.ts";
import { cronJob } from "./batch/cron-job.ts";
import { job } from "./batch/job.ts";
import { clusterTrustBundle } from "./certificates/cluster-trust-bundle.ts";
import { podCertificateRequest } from "./certificates/pod-certificate-request.ts";
import { certificateSigningRequest } from "./certificates/signing-request.ts";
import { lease } from "./coordination/lease.ts";
import { leaseCandidate } from "./coordination/lease-candidate.ts";
import { componentStatus } from "./core/component-status.ts";
import { configMap } from "./core/configmap.ts";
import { endpoints } from "./core/endpoints.ts";
import { coreEvent, event } from "./core/event/event.ts";
import { limitRange } from "./core/limit-range.ts";
import { namespace } from "./core/namespace.ts";
import { node } from "./core/node/node.ts";
import { persistentVolume } from "./core/persistent-volume/persistent-volume.ts";
import { persistentVolumeClaim } from "./core/persistent-volume-claim.ts";
import { droppingFromPods } from "./core/pod/drop-disabled.ts";
import { pod } from "./core/pod/pod.ts";
import { podTemplate } from "./core/pod-template.ts";
import { replicationController } from "./core/replication-controller.ts";
import { resourceQuota } from "./core/resource-quota.ts";
import { secret } from "./core/secret.ts";
import { service, serviceWith } from "./core/service/service.ts";
import { serviceAccount } from "./core/service-account.ts";
import { endpointSlice } from "./discovery/endpoint-slice.ts";
import { flowSchema } from "./flowcontrol/flow-schema.ts";
import { priorityLevelConfiguration } from "./flowcontrol/priority-level.ts";
import { ingress } from "./networking/ingress.ts";
import { ingressClass } from "./networking/ingress-class.ts";
import { ipAddress } from "./networking/ip-address.ts";
import { networkPolicy } from "./networking/network-policy.ts";
import { serviceCidr, serviceCidrWith } from "./networking/service-cidr.ts";
import { runtimeClass } from "./node/runtime-class.ts";
import { podDisruptionBudget } from "./policy/pod-disruption-budget.ts";
import { clusterRole, clusterRoleBinding, role, roleBinding } from "./rbac/kinds.ts";
import { resourceKinds } from "./resource/kinds.ts";
import type { LoadSelectorChecker } from "./resource/selector-checker.ts";
import { podGroup } from "./scheduling/pod-group.ts";
import { priorityClass } from "./scheduling/priority-class.ts";
import { workload } from "./scheduling/workload.ts";
import { csiDriver } from "./storage/csi-driver.ts";
import { csiNode } from "./storage/csi-node.ts";
import { csiStorageCapacity } from "./storage/csi-storage-capacity.ts";
import { storageClass } from "./storage/storage-class.ts";
import { volumeAttachment } from "./storage/volume-attachment.ts";
import { volumeAttributesClass } from "./storage/volume-attributes-class.ts";
import { storageVersionMigration } from "./storagemigration/storage-version-migration.ts";

const special: Readonly<Record<string, Strategy>> = {
  "/componentstatuses": componentStatus,
  "/configmaps": configMap,
  "/endpoints": endpoints,
  "/events": coreEvent,
  "/limitranges": limitRange,
  "/namespaces": namespace,
  "/nodes": node,
  "/persistentvolumeclaims": persistentVolumeClaim,
  "/persistentvolumes": persistentVolume,
  "/pods": pod,
  "/podtemplates": podTemplate,
  "/replicationcontrollers": replicationController,
  "/resourcequotas": resourceQuota,
  "/secrets": secret,
  "/serviceaccounts": serviceAccount,
  "/services": service,
  ...admissionKinds(undefined),
  "apiextensions.k8s.io/customresourcedefinitions": customResourceDefinition,
  "apiregistration.k8s.io/apiservices": apiService,
  "apps/controllerrevisions": controllerRevision,
  "apps/daemonsets": daemonSet,
  "apps/deployments": deployment,
  "apps/replicasets": replicaSet,
  "apps/statefulsets": statefulSet,
  "autoscaling/horizontalpodautoscalers": horizontalPodAutoscaler,
  "batch/cronjobs": cronJob,
  "batch/jobs": job,
  "certificates.k8s.io/certificatesigningrequests": certificateSigningRequest,
  "certificates.k8s.io/clustertrustbundles": clusterTrustBundle,
  "certificates.k8s.io/podcertificaterequests": podCertificateRequest,
  "coordination.k8s.io/leasecandidates": leaseCandidate,
  "coordination.k8s.io/leases": lease,
  "discovery.k8s.io/endpointslices": endpointSlice,
  "events.k8s.io/events": event,
  "flowcontrol.apiserver.k8s.io/flowschemas": flowSchema,
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": priorityLevelConfiguration,
  "internal.apiserver.k8s.io/storageversions": storageVersion,
  "networking.k8s.io/ingressclasses": ingressClass,
  "networking.k8s.io/ingresses": ingress,
  "networking.k8s.io/ipaddresses": ipAddress,
  "networking.k8s.io/networkpolicies": networkPolicy,
  "networking.k8s.io/servicecidrs": serviceCidr,
  "node.k8s.io/runtimeclasses": runtimeClass,
  "policy/poddisruptionbudgets": podDisruptionBudget,
  "rbac.authorization.k8s.io/clusterrolebindings": clusterRoleBinding,
  "rbac.authorization.k8s.io/clusterroles": clusterRole,
  "rbac.authorization.k8s.io/rolebindings": roleBinding,
  "rbac.authorization.k8s.io/roles": role,
  ...resourceKinds(undefined),
  "scheduling.k8s.io/podgroups": podGroup,
  "scheduling.k8s.io/priorityclasses": priorityClass,
  "scheduling.k8s.io/workloads": workload,
  "storage.k8s.io/csidrivers": csiDriver,
  "storage.k8s.io/csinodes": csiNode,
  "storage.k8s.io/csistoragecapacities": csiStorageCapacity,
  "storage.k8s.io/storageclasses": storageClass,
  "storage.k8s.io/volumeattachments": volumeAttachment,
  "storage.k8s.io/volumeattributesclasses": volumeAttributesClass,
  "storagemigration.k8s.io/storageversionmigrations": storageVersionMigration,
};

/** Strategies by `group/resource`, with default options. */
export const builtinStrategies = withPods(special);

/** Adds what all kinds that contain a pod drop. */
function withPods(strategies: Readonly<Record<string, Strategy>>): Readonly<Record<string, Strategy>> {
  const kinds = podTemplateKinds.map((kind) => {
    const key = `${kind.group}/${kind.resource}`;
    const own = strategies[key] as Strategy;
    return [key, { ...own, dropDisabled: droppingFromPods(kind, own.dropDisabled) }];
  });
  return { ...strategies, ...Object.fromEntries(kinds) };
}

export { builtinConversions, storedConversions } from "./conversions.ts";

/** Options of a server that strategies depend on. */
interface StrategyOptions {
  /** How long events live: `--event-ttl`. */
  readonly eventTtlSeconds: number;
  /** Gates that choose whole rules of a kind; by default they are on. */
  readonly gates?: FeatureGates;
  /** Loads the compiler of validation rules in CRDs. Undefined: rules are not compiled. */
  readonly loadRuleChecker?: () => Promise<RuleChecker>;
  /**
   * Loads the compiler of expressions in webhooks and policies. Undefined: expressions are not
   * checked.
   */
  readonly loadExpressionChecker?: LoadExpressionChecker;
  /**
   * Loads the compiler of expressions that select devices. Undefined: expressions are not checked.
   */
  readonly loadSelectorChecker?: LoadSelectorChecker;
}

/** The strategies by `group/resource`, with the options of one server. */
export function strategiesWith(options: StrategyOptions): Readonly<Record<string, Strategy>> {
  const { enabled } = options.gates ?? { enabled: () => true };
  const compiling = {
    ...admissionKinds(options.loadExpressionChecker),
    ...resourceKinds(options.loadSelectorChecker),
    "/services": serviceWith(enabled("RelaxedServiceNameValidation")),
    "networking.k8s.io/servicecidrs": serviceCidrWith(enabled("ServiceCIDRStatusFieldWiping")),
  };
  const kinds = withPods({ ...special, ...compiling });
  const expiring = Object.entries(kinds)
    .filter(([, { ttlSeconds }]) => ttlSeconds !== undefined)
    .map(([key, kind]) => [key, strategy({ ...kind, ttlSeconds: options.eventTtlSeconds })]);
  return {
    ...kinds,
    "apiextensions.k8s.io/customresourcedefinitions": customResourceDefinitionWith(options.loadRuleChecker),
    ...Object.fromEntries(expiring),
  };
}
