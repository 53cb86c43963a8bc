/**
 * PodCertificateRequest: requests a certificate for a pod.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/certificates/validation/validation.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/certificates/podcertificaterequest/strategy.go
 */
import { type FieldErrors, omitted, typedText } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { formatLabels, text } from "../column.ts";
import { items, keepMetaForStatus, type Part, selectableAt, struct } from "../fields.ts";
import { validateCertificateStatus } from "./pod-certificate-status.ts";
import { validateKeyWithProof, validateStubRequest } from "./request-key.ts";
import { isKubernetesSigner, validateSignerName, validateUserAnnotations } from "./signer-name.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const podCertificateColumns: readonly Column[] = [
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

const uidBytesMax = 128;
const secondsMin = 3600;
const daySeconds = 86_400;

/** The spec is immutable. */
export const podCertificateRequest = strategy({
  columns: podCertificateColumns,
  selectableFields: selectableAt("spec.signerName", "spec.podName", "spec.nodeName"),
  setDefaults(object) {
    struct(object, "spec").maxExpirationSeconds ??= daySeconds; // Creates an absent spec.
  },
  prepareForStatusUpdate: keepMetaForStatus,
  validate: ({ spec = {} }: KubeObject, errors) => validateSpec(spec, errors),
  validateUpdate(next, old, errors) {
    if (!deepEqual(goForm(next.spec ?? {}), goForm(old.spec ?? {})))
      errors.invalid("spec", goForm(next.spec ?? {}), "field is immutable");
  },
  validateStatusUpdate: (next, old, errors, { now }) =>
    errors.empty ? validateCertificateStatus(next, old, now, errors) : undefined,
});

/** The Go form that upstream's messages show. */
function goForm(spec: Part): Part {
  const names = ["signerName", "podName", "podUID", "serviceAccountName", "serviceAccountUID", "nodeName", "nodeUID"];
  const capital = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return {
    ...Object.fromEntries(names.map((name) => [capital(name), spec[name] ?? ""])),
    MaxExpirationSeconds: spec.maxExpirationSeconds ?? null,
    PKIXPublicKey: spec.pkixPublicKey ?? null,
    ProofOfPossession: spec.proofOfPossession ?? null,
    StubPKCS10Request: spec.stubPKCS10Request ?? null,
    UnverifiedUserAnnotations: spec.unverifiedUserAnnotations ?? null,
  };
}

async function validateSpec(spec: Part, errors: FieldErrors): Promise<void> {
  const { signerName = "", podName = "", serviceAccountName = "", nodeName = "", maxExpirationSeconds: seconds } = spec;
  validateSignerName(signerName, "spec.signerName", errors);
  if (spec.unverifiedUserAnnotations !== undefined)
    validateUserAnnotations(spec.unverifiedUserAnnotations, "spec.unverifiedUserAnnotations", errors);
  addInvalid(errors, "spec.podName", podName, dnsSubdomainProblems(podName));
  validateUid(spec.podUID ?? "", "spec.podUID", errors);
  addInvalid(errors, "spec.serviceAccountName", serviceAccountName, dnsSubdomainProblems(serviceAccountName));
  validateUid(spec.serviceAccountUID ?? "", "spec.serviceAccountUID", errors);
  addInvalid(errors, "spec.nodeName", typedText(nodeName), dnsSubdomainProblems(nodeName));
  validateUid(spec.nodeUID ?? "", "spec.nodeUID", errors);
  if (seconds === undefined) return errors.required("spec.maxExpirationSeconds", "must be set");
  const secondsMax = isKubernetesSigner(signerName) ? daySeconds : 91 * daySeconds;
  if (seconds < secondsMin || seconds > secondsMax) {
    errors.invalid("spec.maxExpirationSeconds", seconds, `must be in the range [${secondsMin}, ${secondsMax}]`);
  }
  return validateKey(spec, errors);
}

function validateUid(uid: string, path: string, errors: FieldErrors): void {
  if (uid === "") errors.invalid(path, "", "must not be empty");
  if (Buffer.byteLength(uid) > uidBytesMax) errors.tooLong(path, uidBytesMax);
}

async function validateKey(spec: Part, errors: FieldErrors): Promise<void> {
  const isSet = (field: string): boolean => (spec[field] ?? "") !== "";
  const [stub, key, proof] = ["stubPKCS10Request", "pkixPublicKey", "proofOfPossession"].map(isSet);
  if (stub && !key && !proof) return validateStubRequest(spec, errors);
  if (!stub && key && proof) return validateKeyWithProof(spec, errors);
  errors.invalid(
    "spec",
    omitted,
    "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set",
  );
}

/** The type of the last condition that ends the request. */
function podRequestState({ status }: KubeObject): string {
  const last = items(status?.conditions).findLast(
    ({ type }) => type === "Issued" || type === "Denied" || type === "Failed",
  );
  return last?.type ?? "Pending";
}
