/**
 * PodCertificateRequest: requests a certificate for a pod.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/certificates/validation/validation.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/certificates/podcertificaterequest/strategy.go
 */
import { type FieldErrors, omitted, typedText } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { strategy } from "../../catalog/strategy.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { keepMetaForStatus, type Part, selectableAt, struct } from "../fields.ts";
import { podCertificateColumns } from "./columns.ts";
import { validateCertificateStatus } from "./pod-certificate-status.ts";
import { validateKeyWithProof, validateStubRequest } from "./request-key.ts";
import { isKubernetesSigner, validateSignerName, validateUserAnnotations } from "./signer-name.ts";

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
