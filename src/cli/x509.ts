/** Makes X.509 certificates with P-256 keys. Node's crypto reads certificates but does not make them. Source: RFC 5280. */
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from "node:crypto";
import { isIPv4 } from "node:net";
import { addressBytes } from "../lib/ip-range/ip-range.ts";
import {
  bitString,
  contentOf,
  element,
  elementsOf,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  set,
  time,
  utf8String,
  yes,
} from "../lib/x509/der.ts";

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

/** Milliseconds since 1970, whole seconds count. */
export interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

export interface Leaf extends Validity {
  readonly subject: Subject;
  readonly usage: "server" | "client";
  /** DNS names and addresses. */
  readonly names: readonly string[];
}

const oid = {
  commonName: objectIdentifier("2.5.4.3"),
  organization: objectIdentifier("2.5.4.10"),
  subjectKeyIdentifier: objectIdentifier("2.5.29.14"),
  keyUsage: objectIdentifier("2.5.29.15"),
  alternativeNames: objectIdentifier("2.5.29.17"),
  basicConstraints: objectIdentifier("2.5.29.19"),
  authorityKeyIdentifier: objectIdentifier("2.5.29.35"),
  extendedKeyUsage: objectIdentifier("2.5.29.37"),
  server: objectIdentifier("1.3.6.1.5.5.7.3.1"),
  client: objectIdentifier("1.3.6.1.5.5.7.3.2"),
};
const ecdsaWithSha256 = sequence(objectIdentifier("1.2.840.10045.4.3.2"));
const version3 = element(0xa0, integer(Buffer.from([2])));
/** Bits from the left: digitalSignature 0, keyCertSign 5, cRLSign 6. */
const signs = bitString(Buffer.from([0b1000_0000]), 7);
const signsCertificates = bitString(Buffer.from([0b1000_0110]), 1);

/** An authority that signs itself. */
export function createAuthority({ subject, notBefore, notAfter }: { subject: Subject } & Validity): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = nameOf(subject);
  const keyIdentifier = keyIdentifierOf(publicKey);
  const cert = signed(privateKey, {
    issuer: name,
    subject: name,
    validity: { notBefore, notAfter },
    publicKey,
    extensions: [
      critical(oid.basicConstraints, sequence(yes)),
      critical(oid.keyUsage, signsCertificates),
      extension(oid.subjectKeyIdentifier, octetString(keyIdentifier)),
      extension(oid.authorityKeyIdentifier, sequence(element(0x80, keyIdentifier))),
    ],
  });
  return { cert, key: pemOf(privateKey) };
}

/** A certificate with a fresh key. @throws Error when the authority's key is not of the curve P-256 */
export function issueCertificate(authority: KeyPair, { subject, usage, names, notBefore, notAfter }: Leaf): KeyPair {
  const issuer = new X509Certificate(authority.cert);
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const cert = signed(authorityKey(authority), {
    issuer: subjectOf(issuer),
    subject: nameOf(subject),
    validity: { notBefore, notAfter },
    publicKey,
    extensions: [
      critical(oid.basicConstraints, sequence()),
      critical(oid.keyUsage, signs),
      extension(oid.extendedKeyUsage, sequence(oid[usage])),
      extension(oid.authorityKeyIdentifier, sequence(element(0x80, keyIdentifierOf(issuer.publicKey)))),
      ...(names.length > 0 ? [extension(oid.alternativeNames, sequence(...names.map(alternativeName)))] : []),
    ],
  });
  return { cert, key: pemOf(privateKey) };
}

interface Content {
  /** Names and extensions as they are encoded. */
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly validity: Validity;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
}

/** @returns PEM */
function signed(key: KeyObject, { issuer, subject, validity, publicKey, extensions }: Content): string {
  const content = sequence(
    version3,
    integer(serialNumber()),
    ecdsaWithSha256,
    issuer,
    sequence(time(validity.notBefore), time(validity.notAfter)),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    element(0xa3, sequence(...extensions)),
  );
  return new X509Certificate(sequence(content, ecdsaWithSha256, bitString(sign("sha256", content, key)))).toString();
}

const extension = (name: Buffer, value: Buffer): Buffer => sequence(name, octetString(value));
/** Who does not know it must refuse the certificate. */
const critical = (name: Buffer, value: Buffer): Buffer => sequence(name, yes, octetString(value));

function nameOf({ commonName, organizations = [] }: Subject): Buffer {
  const part = (kind: Buffer, text: string): Buffer => set(sequence(kind, utf8String(text)));
  return sequence(...organizations.map((name) => part(oid.organization, name)), part(oid.commonName, commonName));
}

/** As it is encoded there, so that both are the same to the byte: behind version, serial number, algorithm, issuer and validity. */
function subjectOf(certificate: X509Certificate): Buffer {
  return elementsOf(elementsOf(certificate.raw)[0] as Buffer)[5] as Buffer;
}

/** RFC 5280 §4.2.1.2, method 1: of the key's bits, without the byte that counts the unused ones. */
function keyIdentifierOf(publicKey: KeyObject): Buffer {
  const [, bits] = elementsOf(publicKey.export({ type: "spki", format: "der" }));
  return createHash("sha1")
    .update(contentOf(bits as Buffer).subarray(1))
    .digest();
}

function alternativeName(name: string): Buffer {
  const isAddress = name.includes(":") || isIPv4(name); // Node takes 4 ms to make its pattern of IPv6 addresses, and no other name has a colon.
  return isAddress ? element(0x87, addressBytes(name)) : element(0x82, Buffer.from(name));
}

/** Positive, and unlike any other. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] as number) & 0x7f) | 0x40;
  return bytes;
}

function authorityKey({ key }: KeyPair): KeyObject {
  const privateKey = createPrivateKey(key);
  if (privateKey.asymmetricKeyDetails?.namedCurve !== "prime256v1") throw new Error("the authority's key is not of the curve P-256");
  return privateKey;
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}
