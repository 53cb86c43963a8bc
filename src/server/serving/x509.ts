/** Creates X.509 certificates with P-256 keys, which Node's crypto cannot. Source: RFC 5280 */
import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { Leaf, Signer, Subject, ValidPeriod } from "./certificate-structure.ts";
import { formatSec1Key } from "./sec1-key.ts";

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** Creates a self-signed authority. */
export async function createAuthority(options: { subject: Subject } & ValidPeriod): Promise<KeyPair> {
  const { authorityCertificate } = await import("./certificate-structure.ts");
  const { publicKey, privateKey } = newKeys();
  return { cert: authorityCertificate(options, publicKey, signerOf(privateKey)), key: formatSec1Key(privateKey) };
}

/**
 * Creates a certificate with a new key on the curve P-256.
 * @param authority with an RSA key, or a key on the curve P-256, P-384 or P-521
 * @throws Error for other keys
 */
export async function issueCertificate(authority: KeyPair, leaf: Leaf): Promise<KeyPair> {
  const { leafCertificate } = await import("./certificate-structure.ts");
  const signer = signerOf(createPrivateKey(authority.key));
  const { publicKey, privateKey } = newKeys();
  return { cert: leafCertificate(leaf, publicKey, authority.cert, signer), key: formatSec1Key(privateKey) };
}

function newKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

/** The hash and the object identifier of ECDSA with it, by OpenSSL's name of the curve. Source: RFC 5758, section 3.2. */
const ecdsa: Readonly<Record<string, readonly [hash: string, algorithm: string]>> = {
  prime256v1: ["sha256", "1.2.840.10045.4.3.2"],
  secp384r1: ["sha384", "1.2.840.10045.4.3.3"],
  secp521r1: ["sha384", "1.2.840.10045.4.3.3"],
};
/** With SHA-256. Source: RFC 4055, section 5. */
const rsa = "1.2.840.113549.1.1.11";

function signerOf(key: KeyObject): Signer {
  const type = key.asymmetricKeyType;
  if (type === "rsa") return { algorithm: rsa, hasNullParameters: true, sign: (bytes) => sign("sha256", bytes, key) };
  const found = ecdsa[key.asymmetricKeyDetails?.namedCurve ?? ""];
  if (found === undefined) throw new Error(`keys of type ${type} cannot sign here: RSA, P-256, P-384 and P-521 can`);
  const [hash, algorithm] = found;
  return { algorithm, hasNullParameters: false, sign: (bytes) => sign(hash, bytes, key) };
}
