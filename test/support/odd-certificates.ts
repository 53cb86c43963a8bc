/**
 * Certificates that the server itself does not create: chains, unusual subjects, usages and dates.
 * Keys are P-256.
 */
import "reflect-metadata";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";

interface KeyPair {
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
}

export { Extension, KeyUsageFlags };

export interface OddAuthority {
  readonly cert: string;
  readonly key: string;
  readonly keys: KeyPair;
}

export interface OddCertificate {
  /** Attributes in order, by short name or number: `[{ O: ["a"] }, { CN: ["b"] }]`. */
  readonly subject: Readonly<Record<string, string[]>>[];
  /** OIDs of extended key usages; no extension if empty. */
  readonly usages?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** Flags of the key usage; undefined for suitable ones. */
  readonly keyUsage?: number;
  /** Omits the subject and authority key identifiers. */
  readonly withoutKeyIds?: boolean;
  /** Other extensions. */
  readonly extensions?: readonly Extension[];
  /** The certificate is an authority; the value bounds the number of authorities below it. */
  readonly authority?: { readonly pathLength?: number };
}

export const clientAuth = "1.3.6.1.5.5.7.3.2";
export const serverAuth = "1.3.6.1.5.5.7.3.1";
export const anyUsage = "2.5.29.37.0";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const hourMs = 3600_000;
let serial = 1;

/**
 * Creates a certificate.
 *
 * @param issuer undefined for a self-signed one
 * @param keys undefined for new ones
 */
export async function oddCertificate(
  requested: OddCertificate,
  issuer?: OddAuthority,
  keys?: KeyPair,
): Promise<OddAuthority> {
  const own = keys ?? (await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]));
  const by = issuer?.keys ?? own;
  const {
    subject,
    usages = [],
    dnsNames = [],
    authority,
    notBefore = new Date(Date.now() - hourMs),
    notAfter = new Date(Date.now() + hourMs),
  } = requested;
  const { keyUsage, withoutKeyIds = false, extensions: more = [] } = requested;
  const usage = keyUsage ?? (authority === undefined ? KeyUsageFlags.digitalSignature : KeyUsageFlags.keyCertSign);
  const extensions: Extension[] = [
    new BasicConstraintsExtension(authority !== undefined, authority?.pathLength, true),
    new KeyUsagesExtension(usage, true),
    ...(withoutKeyIds
      ? []
      : [
          await SubjectKeyIdentifierExtension.create(own.publicKey),
          await AuthorityKeyIdentifierExtension.create(by.publicKey),
        ]),
    ...(usages.length === 0 ? [] : [new ExtendedKeyUsageExtension([...usages])]),
    ...(dnsNames.length === 0
      ? []
      : [new SubjectAlternativeNameExtension(dnsNames.map((value) => ({ type: "dns" as const, value })))]),
    ...more,
  ];
  const certificate = await X509CertificateGenerator.create({
    serialNumber: (serial++).toString(16).padStart(4, "0"),
    subject,
    issuer: issuer === undefined ? subject : new X509Certificate(issuer.cert).subjectName,
    notBefore,
    notAfter,
    signingAlgorithm: algorithm,
    publicKey: own.publicKey,
    signingKey: by.privateKey,
    extensions,
  });
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey("pkcs8", own.privateKey)).toString("base64");
  return {
    cert: `${certificate.toString("pem")}\n`,
    key: `-----BEGIN PRIVATE KEY-----\n${pkcs8.replace(/(.{64})/g, "$1\n")}\n-----END PRIVATE KEY-----\n`,
    keys: own,
  };
}
