/** The structures of certificates, and their encoding. Source: RFC 5280, section 4.1. */
import { createHash, type KeyObject, randomBytes, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { addressValue } from "../lib/ip-range/ip-range.ts";
import {
  bitString,
  type DecodedValue,
  decodeValues,
  encodeValue,
  objectIdentifier,
  sequence,
  tags,
} from "../lib/x509/der.ts";
import type { Leaf, Subject } from "./x509.ts";

/** How the key of an authority signs. */
export interface Signer {
  /** The object identifier of the algorithm. */
  readonly algorithm: string;
  /** Whether the algorithm's parameters are NULL, and not absent. */
  readonly hasNullParameters: boolean;
  sign(bytes: Buffer): Buffer;
}

/** Encoded, except for the times, which are in milliseconds since 1970. */
interface Fields {
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly publicKey: Buffer;
  readonly extensions: readonly Buffer[];
  readonly notBefore: number;
  readonly notAfter: number;
}

const oids = {
  subjectKeyIdentifier: objectIdentifier("2.5.29.14"),
  keyUsage: objectIdentifier("2.5.29.15"),
  subjectAltName: objectIdentifier("2.5.29.17"),
  basicConstraints: objectIdentifier("2.5.29.19"),
  authorityKeyIdentifier: objectIdentifier("2.5.29.35"),
  extKeyUsage: objectIdentifier("2.5.29.37"),
  server: objectIdentifier("1.3.6.1.5.5.7.3.1"),
  client: objectIdentifier("1.3.6.1.5.5.7.3.2"),
  organization: objectIdentifier("2.5.4.10"),
  commonName: objectIdentifier("2.5.4.3"),
} as const;

const yes = encodeValue(tags.boolean, Buffer.of(0xff));
/** The number of unused bits, and the bits: digitalSignature is the first, keyCertSign and cRLSign are the sixth and seventh. */
const authorityUsage = encodeValue(tags.bitString, Buffer.of(1, 0b1000_0110));
const leafUsage = encodeValue(tags.bitString, Buffer.of(7, 0b1000_0000));

/** @returns a self-signed certificate as PEM */
export function authorityCertificate(
  { subject, ...validity }: Pick<Leaf, "subject" | "notBefore" | "notAfter">,
  key: KeyObject,
  signer: Signer,
): string {
  const publicKey = publicKeyInfo(key);
  const keyId = hashOf(publicKey);
  const extensions = [
    extension(oids.basicConstraints, sequence(yes), { critical: true }),
    extension(oids.keyUsage, authorityUsage, { critical: true }),
    extension(oids.subjectKeyIdentifier, encodeValue(tags.octetString, keyId)),
    extension(oids.authorityKeyIdentifier, sequence(encodeValue(tags.implicit(0), keyId))),
  ];
  const name = nameOf(subject);
  return signed({ subject: name, issuer: name, publicKey, extensions, ...validity }, signer);
}

/**
 * @param authority as PEM
 * @returns a certificate as PEM
 * @throws Error when the authority is malformed
 */
export function leafCertificate(
  { subject, usage, names, ...validity }: Leaf,
  key: KeyObject,
  authority: string,
  signer: Signer,
): string {
  const issuer = issuerOf(authority);
  const extensions = [
    extension(oids.basicConstraints, sequence(), { critical: true }),
    extension(oids.keyUsage, leafUsage, { critical: true }),
    extension(oids.extKeyUsage, sequence(oids[usage])),
    extension(oids.authorityKeyIdentifier, sequence(encodeValue(tags.implicit(0), issuer.keyId))),
  ];
  if (names.length > 0) extensions.push(extension(oids.subjectAltName, sequence(...names.map(alternativeName))));
  const fields = { subject: nameOf(subject), issuer: issuer.name, publicKey: publicKeyInfo(key), extensions };
  return signed({ ...fields, ...validity }, signer);
}

function signed({ subject, issuer, publicKey, extensions, notBefore, notAfter }: Fields, signer: Signer): string {
  const algorithm = sequence(
    objectIdentifier(signer.algorithm),
    ...(signer.hasNullParameters ? [encodeValue(tags.null)] : []),
  );
  const certificate = sequence(
    encodeValue(tags.explicit(0), encodeValue(tags.integer, Buffer.of(2))), // Version 3.
    encodeValue(tags.integer, serialNumber()),
    algorithm,
    issuer,
    sequence(time(notBefore), time(notAfter)),
    subject,
    publicKey,
    encodeValue(tags.explicit(3), sequence(...extensions)),
  );
  return new X509Certificate(sequence(certificate, algorithm, bitString(signer.sign(certificate)))).toString();
}

function extension(type: Buffer, value: Buffer, { critical = false } = {}): Buffer {
  return sequence(type, ...(critical ? [yes] : []), encodeValue(tags.octetString, value));
}

/** A SubjectPublicKeyInfo. */
function publicKeyInfo(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" });
}

/** The name of an authority, and the identifier that it chose for its key; OpenSSL rejects any other. Source: RFC 5280, section 4.2.1.1. */
function issuerOf(authority: string): { readonly name: Buffer; readonly keyId: Buffer } {
  const [certificate] = partsOf(decodeValues(new X509Certificate(authority).raw)[0]);
  const fields = partsOf(certificate);
  // Only version 1 has no field for the version.
  const [, , , , subject, publicKey, ...others] = fields[0]?.tag === tags.explicit(0) ? fields.slice(1) : fields;
  if (subject === undefined || publicKey === undefined) throw new Error("asn1: the authority has no name or key");
  const extensions = partsOf(partsOf(others.find(({ tag }) => tag === tags.explicit(3)))[0]);
  const chosen = extensions.map(partsOf).find(([type]) => type?.whole.equals(oids.subjectKeyIdentifier));
  return { name: subject.whole, keyId: partsOf(chosen?.at(-1))[0]?.contents ?? hashOf(publicKey.whole) };
}

const partsOf = (value: DecodedValue | undefined): DecodedValue[] => (value ? decodeValues(value.contents) : []);

/** Of the bits of the key, whose first byte is the number of unused ones. Source: RFC 5280, section 4.2.1.2, method 1. */
function hashOf(publicKey: Buffer): Buffer {
  const key = partsOf(decodeValues(publicKey)[0])[1]?.contents ?? Buffer.alloc(0);
  return createHash("sha1").update(key.subarray(1)).digest();
}

function alternativeName(name: string): Buffer {
  const family = isIP(name);
  if (family === 0) return encodeValue(tags.implicit(2), Buffer.from(name));
  const digits = addressValue(name).toString(16);
  return encodeValue(tags.implicit(7), Buffer.from(digits.padStart(family === 6 ? 32 : 8, "0"), "hex"));
}

function nameOf({ commonName, organizations = [] }: Subject): Buffer {
  return sequence(
    ...organizations.map((organization) => nameAttribute(oids.organization, organization)),
    nameAttribute(oids.commonName, commonName),
  );
}

function nameAttribute(type: Buffer, text: string): Buffer {
  const isPrintable = /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(text);
  const value = encodeValue(isPrintable ? tags.printableString : tags.utf8String, Buffer.from(text));
  return encodeValue(tags.set, sequence(type, value));
}

/** From 2050 on, years have four digits. Source: RFC 5280, section 4.1.2.5. */
function time(ms: number): Buffer {
  const date = new Date(ms);
  const digits = date.toISOString().replace(/\.\d+|[-:T]/g, "");
  return date.getUTCFullYear() < 2050
    ? encodeValue(tags.utcTime, Buffer.from(digits.slice(2)))
    : encodeValue(tags.generalizedTime, Buffer.from(digits));
}

/** A random positive number. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] as number) & 0x7f) | 0x40;
  return bytes;
}
