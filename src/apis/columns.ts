/** What tables show of the built-in kinds. A kind without a row shows its name and when it was created. Source: upstream's printers */
import { formatGroupResource, type KubeObject } from "../api/object.ts";
import { humanDuration } from "../lib/duration/duration.ts";
import { ageColumn, nameColumn } from "../resource/common-columns.ts";
import type { Column } from "../resource/contract.ts";
import { admissionregistrationColumns } from "./admissionregistration/columns.ts";
import { appsColumns } from "./apps/columns.ts";
import { autoscalingColumns } from "./autoscaling/columns.ts";
import { batchColumns } from "./batch/columns.ts";
import { firstThree, flag, integer, text } from "./column.ts";
import { coreColumns } from "./core/columns.ts";
import { items } from "./fields.ts";
import { flowcontrolColumns } from "./flowcontrol/columns.ts";
import { networkingColumns } from "./networking/columns.ts";
import { rbacColumns } from "./rbac/columns.ts";
import { storageColumns } from "./storage/columns.ts";

/** Of groups with a kind or two. */
const smallGroups: Readonly<Record<string, readonly Column[]>> = {
  "certificates.k8s.io/certificatesigningrequests": [
    nameColumn,
    ageColumn,
    text(
      "SignerName",
      'Requested signer for the request. It is a qualified name in the form: `scope-hostname.io/name`. If empty, it will be defaulted:\n 1. If it\'s a kubelet client certificate, it is assigned\n    "kubernetes.io/kube-apiserver-client-kubelet".\n 2. If it\'s a kubelet serving certificate, it is assigned\n    "kubernetes.io/kubelet-serving".\n 3. Otherwise, it is assigned "kubernetes.io/legacy-unknown".\nDistribution of trust for signers happens out of band. You can select on this field using `spec.signerName`.',
      ({ spec }) => spec?.signerName || "<none>",
    ),
    text("Requestor", "Base64-encoded PKCS#10 CSR data", ({ spec }) => spec?.username ?? ""),
    text(
      "RequestedDuration",
      "expirationSeconds is the requested duration of validity of the issued certificate. The certificate signer may issue a certificate with a different validity duration so a client must check the delta between the notBefore and and notAfter fields in the issued certificate to determine the actual duration.\n\nThe v1.22+ in-tree implementations of the well-known Kubernetes signers will honor this field as long as the requested duration is not greater than the maximum duration they will honor per the --cluster-signing-duration CLI flag to the Kubernetes controller manager.\n\nCertificate signers may not honor this field for various reasons:\n\n  1. Old signer that is unaware of the field (such as the in-tree\n     implementations prior to v1.22)\n  2. Signer whose configured maximum is shorter than the requested duration\n  3. Signer whose configured minimum is longer than the requested duration\n\nThe minimum valid value for expirationSeconds is 600, i.e. 10 minutes.",
      ({ spec }) => (spec?.expirationSeconds === undefined ? "<none>" : humanDuration(spec.expirationSeconds * 1000)),
    ),
    text("Condition", 'conditions applied to the request. Known conditions are "Approved", "Denied", and "Failed".', requestCondition),
  ],
  "certificates.k8s.io/clustertrustbundles": [
    nameColumn,
    text(
      "SignerName",
      "signerName indicates the associated signer, if any.\n\nIn order to create or update a ClusterTrustBundle that sets signerName, you must have the following cluster-scoped permission: group=certificates.k8s.io resource=signers resourceName=<the signer name> verb=attest.\n\nIf signerName is not empty, then the ClusterTrustBundle object must be named with the signer name as a prefix (translating slashes to colons). For example, for the signer name `example.com/foo`, valid ClusterTrustBundle object names include `example.com:foo:abc` and `example.com:foo:v1`.\n\nIf signerName is empty, then the ClusterTrustBundle object's name must not have such a prefix.\n\nList/watch requests for ClusterTrustBundles can filter on this field using a `spec.signerName=NAME` field selector.",
      ({ spec }) => spec?.signerName || "<none>",
    ),
  ],
  "coordination.k8s.io/leases": [
    nameColumn,
    text(
      "Holder",
      "holderIdentity contains the identity of the holder of a current lease. If Coordinated Leader Election is used, the holder identity must be equal to the elected LeaseCandidate.metadata.name field.",
      ({ spec }) => spec?.holderIdentity ?? "",
    ),
    ageColumn,
  ],
  "coordination.k8s.io/leasecandidates": [
    nameColumn,
    text(
      "LeaseName",
      "LeaseName is the name of the lease for which this candidate is contending. This field is immutable.",
      ({ spec }) => spec?.leaseName ?? "",
    ),
    text("BinaryVersion", "", ({ spec }) => spec?.binaryVersion ?? ""),
    text("EmulationVersion", "", ({ spec }) => spec?.emulationVersion ?? ""),
    ageColumn,
  ],
  "internal.apiserver.k8s.io/storageversions": [
    nameColumn,
    text(
      "CommonEncodingVersion",
      "commonEncodingVersion is set to an encoding storage version if all API server instances share that same version. If they don't share one storage version, this field is left empty. API servers should finish updating its storageVersionStatus entry before serving write operations, so that this field will be in sync with the reality.",
      ({ status }) => status?.commonEncodingVersion ?? "<unset>",
    ),
    text("StorageVersions", "storageVersions lists the reported versions per API server instance.", storageVersions),
    ageColumn,
  ],
  "node.k8s.io/runtimeclasses": [nameColumn, text("Handler", "", ({ handler }) => handler ?? ""), ageColumn],
  "policy/poddisruptionbudgets": [
    nameColumn,
    text("Min Available", "The minimum number of pods that must be available.", ({ spec }) => String(spec?.minAvailable ?? "N/A")),
    text("Max Unavailable", "The maximum number of pods that may be unavailable.", ({ spec }) => String(spec?.maxUnavailable ?? "N/A")),
    integer("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time.", ({ status }) => status?.disruptionsAllowed ?? 0),
    ageColumn,
  ],
  "resource.k8s.io/deviceclasses": [nameColumn, ageColumn],
  "resource.k8s.io/resourceclaims": [
    nameColumn,
    text("State", "A summary of the current state (allocated, pending, reserved, etc.).", claimState),
    ageColumn,
  ],
  "resource.k8s.io/resourceclaimtemplates": [nameColumn, ageColumn],
  "resource.k8s.io/resourceslices": [
    nameColumn,
    text(
      "Node",
      "NodeName identifies the node which provides the resources in this pool. A field selector can be used to list only ResourceSlice objects belonging to a certain node.\n\nThis field can be used to limit access from nodes to ResourceSlices with the same node name. It also indicates to autoscalers that adding new nodes of the same type as some old node might also make new resources available.\n\nExactly one of NodeName, NodeSelector, AllNodes, and PerDeviceNodeSelection must be set. This field is immutable.",
      ({ spec }) => spec?.nodeName ?? "",
    ),
    text(
      "Driver",
      "Driver identifies the DRA driver providing the capacity information. A field selector can be used to list only ResourceSlice objects with a certain driver name.\n\nMust be a DNS subdomain and should end with a DNS domain owned by the vendor of the driver. It should use only lower case characters. This field is immutable.",
      ({ spec }) => spec?.driver ?? "",
    ),
    text(
      "Pool",
      "Name is used to identify the pool. For node-local devices, this is often the node name, but this is not required.\n\nIt must not be longer than 253 characters and must consist of one or more DNS sub-domains separated by slashes. This field is immutable.",
      ({ spec }) => spec?.pool?.name ?? "",
    ),
    ageColumn,
  ],
  "scheduling.k8s.io/priorityclasses": [
    nameColumn,
    integer(
      "Value",
      "value represents the integer value of this priority class. This is the actual priority that pods receive when they have the name of this class in their pod spec.",
      ({ value }) => value ?? 0,
    ),
    flag(
      "Global-Default",
      "globalDefault specifies whether this PriorityClass should be considered as the default priority for pods that do not have any priority class. Only one PriorityClass can be marked as `globalDefault`. However, if more than one PriorityClasses exists with their `globalDefault` field set to true, the smallest value of such global default PriorityClasses will be used as the default priority.",
      ({ globalDefault }) => globalDefault ?? false,
    ),
    ageColumn,
    text(
      "PreemptionPolicy",
      "preemptionPolicy is the Policy for preempting pods with lower priority. One of Never, PreemptLowerPriority. Defaults to PreemptLowerPriority if unset.",
      ({ preemptionPolicy }) => preemptionPolicy ?? "",
    ),
  ],
  "storagemigration.k8s.io/storageversionmigrations": [
    nameColumn,
    text("Resource", "Fully qualified resource to migrate", ({ spec }) =>
      formatGroupResource({ group: spec?.resource?.group ?? "", resource: spec?.resource?.resource ?? "" }),
    ),
  ],
};

/** By `group/resource`. */
export const columnsByResource: Readonly<Record<string, readonly Column[]>> = {
  ...coreColumns,
  ...admissionregistrationColumns,
  ...appsColumns,
  ...autoscalingColumns,
  ...batchColumns,
  ...flowcontrolColumns,
  ...networkingColumns,
  ...rbacColumns,
  ...smallGroups,
  ...storageColumns,
};

/** A denial counts more than an approval. */
function requestCondition({ status }: KubeObject): string {
  const has = (type: string): boolean => items(status?.conditions).some((condition) => condition.type === type);
  const decision = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  return [decision, ...(has("Failed") ? ["Failed"] : []), ...(status?.certificate ? ["Issued"] : [])].join(",");
}

function claimState({ metadata, status }: KubeObject): string {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const states = isDeleted ? ["deleted"] : [];
  if (status?.allocation === undefined) return isDeleted ? "deleted" : "pending";
  states.push("allocated");
  if (items(status.reservedFor).length > 0) states.push("reserved");
  return states.join(",");
}

function storageVersions({ status }: KubeObject): string {
  return (
    firstThree(items(status?.storageVersions).map(({ apiServerID, encodingVersion }) => `${apiServerID ?? ""}=${encodingVersion ?? ""}`)) || "<unset>"
  );
}
