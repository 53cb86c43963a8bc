/** Creates X.509 certificates with P-256 keys, which Node's crypto cannot. Source: RFC 5280 */
import { createPrivateKey, KeyObject } from "node:crypto";
import { isIP } from "node:net";
import type { Extension, Name, X509Certificate } from "@peculiar/x509";
import { loadX509 } from "../lib/load-x509.ts";
import { formatSec1Key } from "./sec1-key.ts";

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

/** Milliseconds since 1970, truncated to seconds. */
interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

export interface Leaf extends Validity {
  readonly subject: Subject;
  readonly usage: "server" | "client";
  /** DNS names and addresses. */
  readonly names: readonly string[];
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/** Creates a self-signed authority. */
export async function createAuthority({
  subject,
  notBefore,
  notAfter,
}: { subject: Subject } & Validity): Promise<KeyPair> {
  const x509 = await loadX509();
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: nameOf(x509, subject),
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { cert: `${certificate.toString("pem")}\n`, key: formatSec1Key(KeyObject.from(keys.privateKey)) };
}

/**
 * Creates a certificate with a new key on the curve P-256.
 * @param authority with an RSA key, or a key on the curve P-256, P-384 or P-521
 * @throws Error for other keys
 */
export async function issueCertificate(
  authority: KeyPair,
  { subject, usage, names, notBefore, notAfter }: Leaf,
): Promise<KeyPair> {
  const x509 = await loadX509();
  const issuer = new x509.X509Certificate(authority.cert);
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const signer = signerOf(authority.key);
  const purpose = usage === "server" ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth;
  const alternatives = names.map(alternativeName);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: nameOf(x509, subject),
    issuer: issuer.subjectName,
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    signingAlgorithm: signer.algorithm,
    publicKey: keys.publicKey,
    signingKey: signer.key,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([purpose]),
      await authorityKeyId(x509, issuer),
      ...(alternatives.length > 0 ? [new x509.SubjectAlternativeNameExtension(alternatives)] : []),
    ],
  });
  return { cert: `${certificate.toString("pem")}\n`, key: formatSec1Key(KeyObject.from(keys.privateKey)) };
}

/** The identifier that the authority chose for its key; OpenSSL rejects any other. Source: RFC 5280, section 4.2.1.1. */
async function authorityKeyId(x509: X509, issuer: X509Certificate): Promise<Extension> {
  const chosen = issuer.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId;
  return chosen === undefined
    ? x509.AuthorityKeyIdentifierExtension.create(issuer)
    : new x509.AuthorityKeyIdentifierExtension(chosen);
}

function alternativeName(name: string): { type: "dns" | "ip"; value: string } {
  if (isIP(name) === 0) return { type: "dns", value: name };
  // The library misreads IPv6 addresses that end in an IPv4 one; a URL's host has none.
  return { type: "ip", value: isIP(name) === 6 ? new URL(`http://[${name}]`).hostname.slice(1, -1) : name };
}

type X509 = Awaited<ReturnType<typeof loadX509>>;

function nameOf(x509: X509, { commonName, organizations = [] }: Subject): Name {
  return new x509.Name([...organizations.map((name) => ({ O: [nameText(name)] })), { CN: [nameText(commonName)] }]);
}

/** In plain strings, the library interprets `#`, quotes and backslashes. */
function nameText(text: string): { readonly printableString: string } | { readonly utf8String: string } {
  return /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(text) ? { printableString: text } : { utf8String: text };
}

/** A random positive number. */
function serialNumber(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] as number) & 0x7f) | 0x40;
  return Buffer.from(bytes).toString("hex");
}

const curves: Readonly<Record<string, string>> = { prime256v1: "P-256", secp384r1: "P-384", secp521r1: "P-521" };

/** Source: WebCrypto's names of algorithms. */
function signerOf(pem: string): {
  readonly algorithm: { readonly name: string; readonly hash: string };
  readonly key: CryptoKey;
} {
  const key = createPrivateKey(pem);
  const type = key.asymmetricKeyType;
  const namedCurve = curves[key.asymmetricKeyDetails?.namedCurve ?? ""];
  if (type !== "rsa" && namedCurve === undefined)
    throw new Error(`keys of type ${type} cannot sign here: RSA, P-256, P-384 and P-521 can`);
  const used =
    type === "rsa"
      ? { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }
      : { name: "ECDSA", namedCurve, hash: namedCurve === "P-256" ? "SHA-256" : "SHA-384" };
  return { algorithm: used, key: key.toCryptoKey(used as never, true, ["sign"]) };
}
