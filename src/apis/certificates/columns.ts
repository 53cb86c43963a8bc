/**
 * Table columns of certificate requests and trust bundles.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { humanDuration } from "../../lib/duration/duration.ts";
import { formatLabels, text } from "../column.ts";
import { items } from "../fields.ts";

export const signingRequestColumns: readonly Column[] = [
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
  text("Condition", "Conditions applied to the request, such as approval or denial.", requestCondition),
];

export const trustBundleColumns: readonly Column[] = [
  nameColumn,
  text(
    "SignerName",
    "signerName indicates the associated signer, if any.\n\nIn order to create or update a ClusterTrustBundle that sets signerName, you must have the following cluster-scoped permission: group=certificates.k8s.io resource=signers resourceName=<the signer name> verb=attest.\n\nIf signerName is not empty, then the ClusterTrustBundle object must be named with the signer name as a prefix (translating slashes to colons). For example, for the signer name `example.com/foo`, valid ClusterTrustBundle object names include `example.com:foo:abc` and `example.com:foo:v1`.\n\nIf signerName is empty, then the ClusterTrustBundle object's name must not have such a prefix.\n\nList/watch requests for ClusterTrustBundles can filter on this field using a `spec.signerName=NAME` field selector.",
    ({ spec }) => spec?.signerName || "<none>",
  ),
];

export const podCertificateColumns: readonly Column[] = [
  nameColumn,
  text(
    "PodName",
    "podName is the name of the pod into which the certificate will be mounted.",
    ({ spec }) => spec?.podName ?? "",
  ),
  text(
    "ServiceAccountName",
    "serviceAccountName is the name of the service account the pod is running as.",
    ({ spec }) => spec?.serviceAccountName ?? "",
  ),
  text("NodeName", "nodeName is the name of the node the pod is assigned to.", ({ spec }) => spec?.nodeName ?? ""),
  text(
    "SignerName",
    "signerName indicates the requested signer.\n\nAll signer names beginning with `kubernetes.io` are reserved for use by the Kubernetes project.  There is currently one well-known signer documented by the Kubernetes project, `kubernetes.io/kube-apiserver-client-pod`, which will issue client certificates understood by kube-apiserver.  It is currently unimplemented.",
    ({ spec }) => spec?.signerName ?? "",
  ),
  text("State", "Is the request Pending, Issued, Denied, or Failed?", podRequestState),
  text(
    "UnverifiedUserAnnotations",
    "unverifiedUserAnnotations allow pod authors to pass additional information to the signer implementation.  Kubernetes does not restrict or validate this metadata in any way.\n\nEntries are subject to the same validation as object metadata annotations, with the addition that all keys must be domain-prefixed. No restrictions are placed on values, except an overall size limitation on the entire field.\n\nSigners should document the keys and values they support.  Signers should deny requests that contain keys they do not recognize.",
    ({ spec }) => formatLabels(spec?.unverifiedUserAnnotations),
  ),
];

/** A denial has precedence over an approval. */
function requestCondition({ status }: KubeObject): string {
  const has = (type: string): boolean => items(status?.conditions).some((condition) => condition.type === type);
  const decision = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  return [decision, ...(has("Failed") ? ["Failed"] : []), ...(status?.certificate ? ["Issued"] : [])].join(",");
}

/** The type of the last condition that ends the request. */
function podRequestState({ status }: KubeObject): string {
  const last = items(status?.conditions).findLast(
    ({ type }) => type === "Issued" || type === "Denied" || type === "Failed",
  );
  return last?.type ?? "Pending";
}
