/** Decodes the structures of certificate signing requests. Loaded with the first request. Source: RFC 2986, section 4. */
import { CertificationRequest } from "@peculiar/asn1-csr";
import { id_RSASSA_PSS, RsaSaPssParams } from "@peculiar/asn1-rsa";
import { AsnConvert } from "@peculiar/asn1-schema";
import type { AlgorithmIdentifier } from "@peculiar/asn1-x509";

export interface DecodedRequest {
  /** A SubjectPublicKeyInfo as DER. */
  readonly publicKey: Buffer;
  /** Of the subject, in its order; the types are object identifiers. */
  readonly attributes: readonly { readonly type: string; readonly value: string }[];
  /** The bytes that are signed. */
  readonly signed: Buffer;
  readonly signature: Buffer;
  /** Undefined if it is unknown. */
  readonly signatureAlgorithm: SignatureAlgorithm | undefined;
}

interface SignatureAlgorithm {
  /** As Node.js names types of keys. */
  readonly keyType: "ec" | "rsa" | "ed25519";
  /** Null for algorithms that have their own. */
  readonly hash: string | null;
  /** Of RSASSA-PSS, in bytes. */
  readonly saltLength?: number;
}

/** @throws Error when the request is malformed */
export function decodeRequest(der: Buffer): DecodedRequest {
  const request = AsnConvert.parse(der, CertificationRequest);
  const { certificationRequestInfo: info, certificationRequestInfoRaw: raw } = request;
  return {
    publicKey: Buffer.from(AsnConvert.serialize(info.subjectPKInfo)),
    attributes: Array.from(info.subject).flatMap((names) =>
      Array.from(names, ({ type, value }) => ({ type, value: value.toString() })),
    ),
    signed: Buffer.from(raw ?? AsnConvert.serialize(info)),
    signature: Buffer.from(request.signature),
    signatureAlgorithm: algorithmOf(request.signatureAlgorithm),
  };
}

/** Source: RFC 3279, section 2.2; RFC 4055, section 5; RFC 5758, section 3.2; RFC 8410, section 3. */
const algorithms: Readonly<Record<string, SignatureAlgorithm>> = {
  "1.2.840.10045.4.1": { keyType: "ec", hash: "sha1" },
  "1.2.840.10045.4.3.2": { keyType: "ec", hash: "sha256" },
  "1.2.840.10045.4.3.3": { keyType: "ec", hash: "sha384" },
  "1.2.840.10045.4.3.4": { keyType: "ec", hash: "sha512" },
  "1.2.840.113549.1.1.5": { keyType: "rsa", hash: "sha1" },
  "1.2.840.113549.1.1.11": { keyType: "rsa", hash: "sha256" },
  "1.2.840.113549.1.1.12": { keyType: "rsa", hash: "sha384" },
  "1.2.840.113549.1.1.13": { keyType: "rsa", hash: "sha512" },
  "1.3.101.112": { keyType: "ed25519", hash: null },
};

/** Source: RFC 8017, appendix B.1. */
const hashes: Readonly<Record<string, string>> = {
  "2.16.840.1.101.3.4.2.1": "sha256",
  "2.16.840.1.101.3.4.2.2": "sha384",
  "2.16.840.1.101.3.4.2.3": "sha512",
};

function algorithmOf({ algorithm, parameters }: AlgorithmIdentifier): SignatureAlgorithm | undefined {
  if (algorithm !== id_RSASSA_PSS) return algorithms[algorithm];
  if (!parameters) return undefined;
  const { hashAlgorithm, saltLength } = AsnConvert.parse(parameters, RsaSaPssParams);
  const hash = hashes[hashAlgorithm.algorithm];
  return hash === undefined ? undefined : { keyType: "rsa", hash, saltLength };
}
