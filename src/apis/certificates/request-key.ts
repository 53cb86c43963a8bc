/**
 * Validates the public key of a PodCertificateRequest, and the proof that the pod has the private
 * key.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/certificates/validation/validation.go
 */
import { constants, createPublicKey, type KeyObject, verify } from "node:crypto";
import { type FieldErrors, omitted } from "../../apimachinery/field-errors.ts";
import { type CertificateRequest, parseCertificateRequest } from "../../lib/x509/certificate-request.ts";
import type { Part } from "../fields.ts";

const keyBytesMax = 10 * 1024;
const keyPath = "spec.pkixPublicKey";
const proofPath = "spec.proofOfPossession";
const requestPath = "spec.stubPKCS10Request";
const unknownKind = "unknown public key type; supported types are Ed25519, ECDSA, and RSA";
const curves: ReadonlySet<string> = new Set(["prime256v1", "secp384r1", "secp521r1"]);

/** Validates `pkixPublicKey`; the proof is a signature of the pod's uid. */
export function validateKeyWithProof({ pkixPublicKey, proofOfPossession, podUID }: Part, errors: FieldErrors): void {
  const proof = Buffer.from(proofOfPossession, "base64");
  const der = Buffer.from(pkixPublicKey, "base64");
  if (der.length > keyBytesMax) return errors.tooLong(keyPath, keyBytesMax);
  if (proof.length > keyBytesMax) return errors.tooLong(proofPath, keyBytesMax);
  const key = parseKey(der);
  if (key === undefined) return errors.invalid(keyPath, pkixPublicKey, "must be a valid PKIX-serialized public key");
  const problem = keyProblem(key, "P256 or P384");
  if (problem !== undefined) return errors.invalid(keyPath, problem.value ?? pkixPublicKey, problem.detail);
  if (!proves(key, Buffer.from(podUID ?? ""), proof))
    errors.invalid(proofPath, omitted, "could not verify proof-of-possession signature");
}

/** Validates `stubPKCS10Request`, a certificate request that contains the key only. */
export async function validateStubRequest({ stubPKCS10Request }: Part, errors: FieldErrors): Promise<void> {
  const der = Buffer.from(stubPKCS10Request, "base64");
  if (der.length > keyBytesMax) return errors.tooLong(requestPath, keyBytesMax);
  const request = await parseRequest(der);
  const key = request && parseKey(request.publicKey);
  if (request === undefined || key === undefined)
    return errors.invalid(requestPath, omitted, "must be a valid PKCS#10 CSR");
  const problem = keyProblem(key, "P256, P384, or P521");
  if (problem !== undefined) return errors.invalid(requestPath, problem.value ?? omitted, problem.detail);
  // An unknown algorithm, or one of another kind of keys, throws.
  if (attempt(() => request.isSigned()) !== true) errors.invalid(requestPath, omitted, "invalid signature");
}

/** @returns undefined if the key cannot be parsed */
export async function requestedKey({ pkixPublicKey, stubPKCS10Request }: Part): Promise<KeyObject | undefined> {
  if ((stubPKCS10Request ?? "") === "") return parseKey(Buffer.from(pkixPublicKey ?? "", "base64"));
  const request = await parseRequest(Buffer.from(stubPKCS10Request, "base64"));
  return request && parseKey(request.publicKey);
}

async function parseRequest(der: Buffer): Promise<CertificateRequest | undefined> {
  return parseCertificateRequest(der).catch(undefinedIfError);
}

const parseKey = (der: Buffer): KeyObject | undefined =>
  attempt(() => createPublicKey({ key: der, format: "der", type: "spki" }));

/**
 * @returns undefined if the parser throws; libraries throw errors of many classes for malformed
 *   bytes
 */
function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    return undefinedIfError(error);
  }
}

function undefinedIfError(error: unknown): undefined {
  if (!(error instanceof Error)) throw error;
  return undefined;
}

/** @returns the error of an unsupported key; `value` is what the message shows */
function keyProblem(
  key: KeyObject,
  curveNames: string,
): { readonly value?: string; readonly detail: string } | undefined {
  const { namedCurve = "", modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case "ed25519":
      return undefined;
    case "ec":
      if (curves.has(namedCurve)) return undefined;
      return {
        value: `curve ${namedCurve === "secp224r1" ? "P-224" : namedCurve}`,
        detail: `elliptic public keys must use curve ${curveNames}`,
      };
    case "rsa": {
      const bits = Math.ceil(modulusLength / 8) * 8;
      if (bits === 3072 || bits === 4096) return undefined;
      return { value: `${bits}-bit modulus`, detail: "RSA keys must have modulus size 3072 or 4096" };
    }
    default:
      return { detail: unknownKind };
  }
}

function proves(key: KeyObject, text: Buffer, proof: Buffer): boolean {
  if (key.asymmetricKeyType === "ed25519") return verify(null, text, key, proof);
  if (key.asymmetricKeyType === "ec") return verify("sha256", text, key, proof);
  return verify(
    "sha256",
    text,
    { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO },
    proof,
  );
}
