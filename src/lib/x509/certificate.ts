/** Makes X.509 certificates with P-256 keys. Node's crypto reads certificates but does not make them. Source: RFC 5280, RFC 5480. */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { bitString, boolean, explicit, implicit, integer, itemsOf, objectIdentifier, octetString, sequence, set, time, utf8String } from "./der.ts";

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface Subject {
  readonly commonName: string;
  readonly organization?: string;
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

const ecdsaWithSha256 = sequence(objectIdentifier("1.2.840.10045.4.3.2"));
const usageIds = { server: "1.3.6.1.5.5.7.3.1", client: "1.3.6.1.5.5.7.3.2" };
const yes = boolean(true);

/** An authority that signs itself. */
export function createAuthority({ subject, ...validity }: { subject: Subject } & Validity): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = encodeName(subject);
  const keyId = keyIdOf(publicKey);
  const extensions = [
    extension("2.5.29.19", { critical: true }, sequence(yes)), // Basic constraints: an authority.
    extension("2.5.29.15", { critical: true }, bitString(Buffer.from([0x86]), 1)), // Key usage: sign data, certificates, revocation lists.
    extension("2.5.29.14", { critical: false }, octetString(keyId)), // Subject key identifier.
    extension("2.5.29.35", { critical: false }, sequence(implicit(0, keyId))), // Authority key identifier.
  ];
  return { cert: signedCertificate({ issuer: name, name, publicKey, extensions, ...validity }, privateKey), key: pemOfKey(privateKey) };
}

/** A certificate with a fresh key. @throws Error when the authority's key is not of the curve P-256 */
export function issueCertificate(authority: KeyPair, { subject, usage, names, ...validity }: Leaf): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signingKey = createPrivateKey(authority.key);
  if (signingKey.asymmetricKeyDetails?.namedCurve !== "prime256v1") throw new Error("the key of the certificate authority is not of the curve P-256");
  const extensions = [
    extension("2.5.29.19", { critical: true }, sequence()), // Basic constraints: no authority.
    extension("2.5.29.15", { critical: true }, bitString(Buffer.from([0x80]), 7)), // Key usage: sign data, as in a handshake.
    extension("2.5.29.37", { critical: false }, sequence(objectIdentifier(usageIds[usage]))), // Extended key usage.
    extension("2.5.29.35", { critical: false }, sequence(implicit(0, keyIdOf(createPublicKey(signingKey))))), // Authority key identifier.
    ...(names.length === 0 ? [] : [extension("2.5.29.17", { critical: false }, sequence(...names.map(encodeAlternativeName)))]),
  ];
  const issuer = subjectOf(authority.cert);
  return {
    cert: signedCertificate({ issuer, name: encodeName(subject), publicKey, extensions, ...validity }, signingKey),
    key: pemOfKey(privateKey),
  };
}

interface Unsigned extends Validity {
  readonly issuer: Buffer;
  readonly name: Buffer;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
}

function signedCertificate({ issuer, name, publicKey, extensions, notBefore, notAfter }: Unsigned, signingKey: KeyObject): string {
  const version3 = explicit(0, integer(Buffer.from([2])));
  const unsigned = sequence(
    version3,
    integer(serialNumber()),
    ecdsaWithSha256,
    issuer,
    sequence(time(notBefore), time(notAfter)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    explicit(3, sequence(...extensions)),
  );
  const signature = sign("sha256", unsigned, signingKey);
  return pemOf(sequence(unsigned, ecdsaWithSha256, bitString(signature)));
}

/** Unlike any other: 127 bits of chance, of which the first is set. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] as number) & 0x7f) | 0x40;
  return bytes;
}

function extension(id: string, { critical }: { critical: boolean }, value: Buffer): Buffer {
  return sequence(objectIdentifier(id), ...(critical ? [yes] : []), octetString(value));
}

function encodeName({ commonName, organization }: Subject): Buffer {
  const part = (id: string, text: string): Buffer => set(sequence(objectIdentifier(id), utf8String(text)));
  return sequence(...(organization === undefined ? [] : [part("2.5.4.10", organization)]), part("2.5.4.3", commonName));
}

function encodeAlternativeName(name: string): Buffer {
  return isIP(name) === 0 ? implicit(2, Buffer.from(name, "latin1")) : implicit(7, addressBytes(name));
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  // A URL writes every IPv6 address in hexadecimal groups, also one whose end is written as IPv4.
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const groups = (text: string): string[] => (text === "" ? [] : text.split(":"));
  const [before, after] = [groups(head), groups(tail ?? "")];
  const all = [...before, ...Array<string>(8 - before.length - after.length).fill("0"), ...after];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
}

/** The subject as it is written in a certificate: an issuer's name must be equal to it byte by byte. */
function subjectOf(cert: string): Buffer {
  const [unsigned] = itemsOf(new X509Certificate(cert).raw);
  // Version, serial number, algorithm, issuer, validity, subject.
  return itemsOf(unsigned as Buffer)[5] as Buffer;
}

/** RFC 5280 §4.2.1.2, method 1: SHA-1 over the key's bits. */
function keyIdOf(publicKey: KeyObject): Buffer {
  const [, bits] = itemsOf(publicKey.export({ type: "spki", format: "der" }));
  const tagLengthAndUnusedBits = 3;
  return createHash("sha1")
    .update((bits as Buffer).subarray(tagLengthAndUnusedBits))
    .digest();
}

function pemOf(der: Buffer): string {
  const lines = der.toString("base64").replace(/.{64}(?!$)/g, "$&\n");
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function pemOfKey(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }) as string;
}
