/** Reads certificate signing requests. Source: RFC 2986, and upstream's `ParseCSR` in k8s.io/kubernetes@v1.36.0/pkg/apis/certificates/helpers.go. */
import { constants, createPublicKey, type VerifyKeyObjectInput, verify } from "node:crypto";
import { pemBlocks } from "./pem-blocks.ts";

export interface CertificateRequest {
  /** The key for which a certificate is requested, a SubjectPublicKeyInfo as DER. */
  readonly publicKey: Buffer;
  readonly subject: RequestSubject;
  /**
   * Whether the request is signed with its own key.
   * @throws Error for an unknown algorithm, or one that is not of the key's kind
   */
  isSigned(): boolean;
}

/** Some of the attributes of the subject, in its order; Go uses the last common name. */
export interface RequestSubject {
  readonly commonNames: readonly string[];
  readonly organizations: readonly string[];
}

/**
 * Parses a PKCS #10 request as DER.
 * @throws Error when it is malformed
 */
export async function parseCertificateRequest(der: Buffer): Promise<CertificateRequest> {
  const { decodeRequest } = await import("./request-structure.ts"); // Few servers need it.
  const { publicKey, attributes, signed, signature, signatureAlgorithm } = decodeRequest(der);
  const valuesOf = (type: string): string[] =>
    attributes.filter((attribute) => attribute.type === type).map(({ value }) => value);
  return {
    publicKey,
    subject: { commonNames: valuesOf("2.5.4.3"), organizations: valuesOf("2.5.4.10") },
    isSigned() {
      if (signatureAlgorithm === undefined) throw new Error("the algorithm of the signature is unknown");
      const { keyType, hash, saltLength } = signatureAlgorithm;
      const key = createPublicKey({ key: publicKey, format: "der", type: "spki" });
      if (key.asymmetricKeyType !== keyType)
        throw new Error(`the algorithm of the signature is for keys of type ${keyType}`);
      const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength };
      const input: VerifyKeyObjectInput = { key, ...(saltLength !== undefined && pss) };
      return verify(hash, signed, input, signature);
    },
  };
}

/**
 * Parses the field `request` of a CertificateSigningRequest.
 * @param request base64 of PEM text
 * @returns the request, or why it cannot be parsed, in the words of `ParseCSR`
 */
export async function parseRequestField(request: string): Promise<CertificateRequest | { readonly problem: string }> {
  const pem = Buffer.from(request, "base64").toString("latin1");
  const [block] = pemBlocks(pem);
  if (block?.type !== "CERTIFICATE REQUEST") return { problem: "PEM block type must be CERTIFICATE REQUEST" };
  try {
    return await parseCertificateRequest(block.bytes);
  } catch (error) {
    return { problem: asn1Problem(error) };
  }
}

/**
 * Checks the field `request` of a CertificateSigningRequest, and its signature.
 * @param request base64 of PEM text
 * @returns the error message, if any. Source: Go's `CheckSignature`
 */
export async function certificateRequestProblem(request: string): Promise<string | undefined> {
  const parsed = await parseRequestField(request);
  if ("problem" in parsed) return parsed.problem;
  try {
    return parsed.isSigned() ? undefined : "x509: the signature is not that of the key";
  } catch (error) {
    return asn1Problem(error);
  }
}

/** The message of the library, or of OpenSSL, for malformed data. */
function asn1Problem(error: unknown): string {
  return `asn1: ${error instanceof Error ? error.message : String(error)}`;
}
