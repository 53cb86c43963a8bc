/** The structures of certificates, and their encoding. Loaded with the first certificate that is created. Source: RFC 5280, section 4.1. */
import { createHash, type KeyObject, X509Certificate } from "node:crypto";
import { AsnConvert, OctetString } from "@peculiar/asn1-schema";
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_clientAuth,
  id_kp_serverAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from "@peculiar/asn1-x509";
import { ipVersion } from "../../lib/ip-range/ip-version.ts";

export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

/** Milliseconds since 1970, truncated to seconds. */
export interface ValidPeriod {
  readonly notBefore: number;
  readonly notAfter: number;
}

export interface Leaf extends ValidPeriod {
  readonly subject: Subject;
  readonly usage: "server" | "client" | "both";
  /** DNS names and addresses. */
  readonly names: readonly string[];
}

/** How the key of an authority signs. */
export interface Signer {
  /** The object identifier of the algorithm. */
  readonly algorithm: string;
  /** Whether the algorithm's parameters are NULL, and not absent. */
  readonly hasNullParameters: boolean;
  sign(bytes: Buffer): Buffer;
}

interface Fields {
  readonly subject: Name;
  readonly issuer: Name;
  readonly publicKey: SubjectPublicKeyInfo;
  readonly extensions: Extension[];
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/** @returns a self-signed certificate as PEM */
export function authorityCertificate(
  { subject, ...validity }: { readonly subject: Subject } & ValidPeriod,
  key: KeyObject,
  signer: Signer,
): string {
  const publicKey = publicKeyInfo(key);
  const keyId = hashOf(publicKey);
  const usages = KeyUsageFlags.digitalSignature | KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign;
  const extensions = [
    extension(id_ce_basicConstraints, new BasicConstraints({ cA: true }), { critical: true }),
    extension(id_ce_keyUsage, new KeyUsage(usages), { critical: true }),
    extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(keyId)),
    extension(id_ce_authorityKeyIdentifier, new AuthorityKeyIdentifier({ keyIdentifier: new KeyIdentifier(keyId) })),
  ];
  const name = nameOf(subject);
  return signed({ subject: name, issuer: name, publicKey, extensions, ...validity }, signer);
}

/**
 * @param authority as PEM
 * @returns a certificate as PEM
 */
export function leafCertificate(
  { subject, usage, names, ...validity }: Leaf,
  key: KeyObject,
  authority: string,
  signer: Signer,
): string {
  const issuer = AsnConvert.parse(new X509Certificate(authority).raw, Certificate).tbsCertificate;
  const purposes = {
    server: [id_kp_serverAuth],
    client: [id_kp_clientAuth],
    both: [id_kp_serverAuth, id_kp_clientAuth],
  };
  const extensions = [
    extension(id_ce_basicConstraints, new BasicConstraints(), { critical: true }),
    extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature), { critical: true }),
    extension(id_ce_extKeyUsage, new ExtendedKeyUsage(purposes[usage])),
    extension(id_ce_authorityKeyIdentifier, new AuthorityKeyIdentifier({ keyIdentifier: keyIdOf(issuer) })),
  ];
  if (names.length > 0)
    extensions.push(extension(id_ce_subjectAltName, new SubjectAlternativeName(names.map(alternativeName))));
  const fields = { subject: nameOf(subject), issuer: issuer.subject, publicKey: publicKeyInfo(key), extensions };
  return signed({ ...fields, ...validity }, signer);
}

function signed({ subject, issuer, publicKey, extensions, notBefore, notAfter }: Fields, signer: Signer): string {
  const { algorithm, hasNullParameters } = signer;
  const signature = new AlgorithmIdentifier({ algorithm, ...(hasNullParameters && { parameters: null }) });
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: serialNumber(),
    signature,
    issuer,
    validity: new Validity({ notBefore: new Date(notBefore), notAfter: new Date(notAfter) }),
    subject,
    subjectPublicKeyInfo: publicKey,
    extensions: new Extensions(extensions),
  });
  const signatureValue = bytesOf(signer.sign(Buffer.from(AsnConvert.serialize(tbsCertificate))));
  const certificate = new Certificate({ tbsCertificate, signatureAlgorithm: signature, signatureValue });
  return new X509Certificate(Buffer.from(AsnConvert.serialize(certificate))).toString();
}

function extension(extnID: string, value: unknown, { critical = false } = {}): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function publicKeyInfo(key: KeyObject): SubjectPublicKeyInfo {
  return AsnConvert.parse(key.export({ type: "spki", format: "der" }), SubjectPublicKeyInfo);
}

/** The identifier that the authority chose for its key; OpenSSL rejects any other. Source: RFC 5280, section 4.2.1.1. */
function keyIdOf({ extensions, subjectPublicKeyInfo }: TBSCertificate): KeyIdentifier {
  const chosen = extensions?.find(({ extnID }) => extnID === id_ce_subjectKeyIdentifier);
  if (chosen === undefined) return new KeyIdentifier(hashOf(subjectPublicKeyInfo));
  return new KeyIdentifier(AsnConvert.parse(chosen.extnValue.buffer, SubjectKeyIdentifier).buffer);
}

/** Source: RFC 5280, section 4.2.1.2, method 1. */
function hashOf({ subjectPublicKey }: SubjectPublicKeyInfo): ArrayBuffer {
  return bytesOf(createHash("sha1").update(new Uint8Array(subjectPublicKey)).digest());
}

function alternativeName(name: string): GeneralName {
  if (ipVersion(name) === 0) return new GeneralName({ dNSName: name });
  // The library misreads IPv6 addresses that end in an IPv4 one; a URL's host has none.
  return new GeneralName({
    iPAddress: ipVersion(name) === 6 ? new URL(`http://[${name}]`).hostname.slice(1, -1) : name,
  });
}

const organizationName = "2.5.4.10";
const commonNameType = "2.5.4.3";

function nameOf({ commonName, organizations = [] }: Subject): Name {
  return new Name([
    ...organizations.map((organization) => nameAttribute(organizationName, organization)),
    nameAttribute(commonNameType, commonName),
  ]);
}

function nameAttribute(type: string, text: string): RelativeDistinguishedName {
  const isPrintable = /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(text);
  const value = new AttributeValue(isPrintable ? { printableString: text } : { utf8String: text });
  return new RelativeDistinguishedName([new AttributeTypeAndValue({ type, value })]);
}

/** A random positive number. */
function serialNumber(): ArrayBuffer {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] as number) & 0x7f) | 0x40;
  return bytes.buffer;
}

/** The library reads all of an ArrayBuffer, and those of small Buffers are shared. */
function bytesOf(buffer: Buffer): ArrayBuffer {
  return new Uint8Array(buffer).buffer;
}
