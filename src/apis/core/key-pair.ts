/** Checks that a certificate and a key match, with the messages of Go's `tls.X509KeyPair`. */
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import { type PemBlock, pemBlocks } from "../../lib/x509/pem-blocks.ts";

/**
 * @param certificates PEM
 * @param key PEM
 * @returns Go's error message, or undefined if they match
 */
export function keyPairProblem(certificates: string, key: string): string | undefined {
  const blocks = pemBlocks(certificates);
  const certificate = blocks.find(({ type }) => type === "CERTIFICATE");
  if (certificate === undefined) return noCertificate(blocks.map(({ type }) => type));
  const keyBlocks = pemBlocks(key);
  const index = keyBlocks.findIndex(({ type }) => type === "PRIVATE KEY" || type.endsWith(" PRIVATE KEY"));
  if (index < 0) return noKey(keyBlocks.map(({ type }) => type));
  return pairProblem(certificate.bytes, (keyBlocks[index] as PemBlock).bytes);
}

function noCertificate(types: readonly string[]): string {
  if (types.length === 0) return "tls: failed to find any PEM data in certificate input";
  if (types.length === 1 && types[0]?.endsWith("PRIVATE KEY")) {
    return "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched";
  }
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${types.join(" ")}]`;
}

function noKey(types: readonly string[]): string {
  if (types.length === 0) return "tls: failed to find any PEM data in key input";
  if (types.length === 1 && types[0] === "CERTIFICATE")
    return "tls: found a certificate rather than a key in the PEM for the private key";
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${types.join(" ")}]`;
}

const supportedTypes = ["rsa", "ec", "ed25519"];

function pairProblem(certificate: Buffer, key: Buffer): string | undefined {
  const publicKey = tryParse(() => new X509Certificate(certificate).publicKey);
  if (publicKey === undefined) return "x509: malformed certificate";
  const privateKey = tryParse(() => createPrivateKey({ key, format: "der", type: "pkcs1" })) ?? otherKey(key);
  if (privateKey === undefined) return "tls: failed to parse private key";
  const [type = "", keyType = ""] = [publicKey.asymmetricKeyType, privateKey.asymmetricKeyType];
  if (keyType === "x25519") return "tls: found unknown private key type in PKCS#8 wrapping";
  if (!supportedTypes.includes(keyType)) return "tls: failed to parse private key"; // Go supports no others.
  if (!supportedTypes.includes(type)) return "tls: unknown public key algorithm";
  if (type !== keyType) return "tls: private key type does not match public key type";
  return createPublicKey(privateKey).equals(publicKey) ? undefined : "tls: private key does not match public key";
}

function otherKey(key: Buffer): KeyObject | undefined {
  return (
    tryParse(() => createPrivateKey({ key, format: "der", type: "pkcs8" })) ??
    tryParse(() => createPrivateKey({ key, format: "der", type: "sec1" }))
  );
}

/** @returns undefined if the input cannot be parsed; OpenSSL has many error types for that */
function tryParse<Value>(parse: () => Value): Value | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}
