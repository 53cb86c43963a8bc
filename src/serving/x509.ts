/** Creates X.509 certificates with P-256 keys, which Node's crypto cannot. Source: RFC 5280 */
import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";
import { isIP } from "node:net";
import { addressValue } from "../lib/ip-range/ip-range.ts";
import { bitString, type Element, element, elementsOf, objectIdentifier, sequence, time } from "../lib/x509/der.ts";
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

const tags = { boolean: 0x01, integer: 0x02, octetString: 0x04, utf8: 0x0c, printable: 0x13, set: 0x31 };
const yes = element(tags.boolean, Buffer.from([0xff]));
const subjectKeyId = "2.5.29.14";
const purposes = { server: "1.3.6.1.5.5.7.3.1", client: "1.3.6.1.5.5.7.3.2" };

/** Creates a self-signed authority. */
export function createAuthority({ subject, ...validity }: { subject: Subject } & Validity): KeyPair {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const keyId = keyIdOf(spkiOf(keys.publicKey));
  return issue({ name: nameOf(subject), key: keys.privateKey }, { subject, keys, ...validity }, [
    basicConstraints({ ca: true }),
    keyUsage(["digitalSignature", "keyCertSign", "cRLSign"]),
    extension(subjectKeyId, element(tags.octetString, keyId)),
    authorityKeyId(keyId),
  ]);
}

/**
 * Creates a certificate with a new key on the curve P-256.
 * @param authority with an RSA key, or a key on the curve P-256, P-384 or P-521
 * @throws Error for other keys
 */
export function issueCertificate(authority: KeyPair, { subject, usage, names, ...validity }: Leaf): KeyPair {
  const issuer = issuerOf(new X509Certificate(authority.cert));
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return issue({ name: issuer.name, key: createPrivateKey(authority.key) }, { subject, keys, ...validity }, [
    basicConstraints({ ca: false }),
    keyUsage(["digitalSignature"]),
    extension("2.5.29.37", sequence(objectIdentifier(purposes[usage]))),
    authorityKeyId(issuer.keyId),
    ...(names.length > 0 ? [extension("2.5.29.17", sequence(...names.map(alternativeName)))] : []),
  ]);
}

interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

function issue(
  issuer: { readonly name: Buffer; readonly key: KeyObject },
  { subject, keys, notBefore, notAfter }: { readonly subject: Subject; readonly keys: Keys } & Validity,
  extensions: readonly Buffer[],
): KeyPair {
  const { algorithm, hash } = signatureOf(issuer.key);
  const content = sequence(
    element(0xa0, element(tags.integer, Buffer.from([2]))), // Version 3.
    element(tags.integer, serialNumber()),
    algorithm,
    issuer.name,
    sequence(time(notBefore), time(notAfter)),
    nameOf(subject),
    spkiOf(keys.publicKey),
    element(0xa3, sequence(...extensions)),
  );
  const certificate = sequence(content, algorithm, bitString(sign(hash, content, issuer.key)));
  return { cert: new X509Certificate(certificate).toString(), key: formatSec1Key(keys.privateKey) };
}

/** The name and the key identifier of an authority, which may have chosen any identifier. */
function issuerOf(authority: X509Certificate): { readonly name: Buffer; readonly keyId: Buffer } {
  const [certificate] = elementsOf(authority.raw) as [Element];
  const [content] = elementsOf(certificate.content) as [Element];
  const [, , , , , subject, publicKey, ...optional] = elementsOf(content.content) as Element[];
  const extensions = optional.filter(({ tag }) => tag === 0xa3).flatMap((one) => elementsOf(one.content));
  const id = objectIdentifier(subjectKeyId);
  const own = extensions
    .flatMap((list) => elementsOf(list.content))
    .map((one) => elementsOf(one.content))
    .find(([name]) => name?.bytes.equals(id))
    ?.at(-1);
  const keyId = own === undefined ? keyIdOf((publicKey as Element).bytes) : elementsOf(own.content)[0]?.content;
  return { name: (subject as Element).bytes, keyId: keyId as Buffer };
}

function extension(identifier: string, value: Buffer, { critical = false } = {}): Buffer {
  return sequence(objectIdentifier(identifier), ...(critical ? [yes] : []), element(tags.octetString, value));
}

function basicConstraints({ ca }: { readonly ca: boolean }): Buffer {
  return extension("2.5.29.19", ca ? sequence(yes) : sequence(), { critical: true });
}

/** The bits of RFC 5280, section 4.2.1.3, all in one byte. */
const keyUsageBits = { digitalSignature: 0x80, keyCertSign: 0x04, cRLSign: 0x02 };

function keyUsage(usages: readonly (keyof typeof keyUsageBits)[]): Buffer {
  const bits = usages.reduce((all, usage) => all | keyUsageBits[usage], 0);
  const unusedBits = 31 - Math.clz32(bits & -bits); // DER has no zeros at the end.
  return extension("2.5.29.15", bitString(Buffer.from([bits]), unusedBits), { critical: true });
}

function authorityKeyId(keyId: Buffer): Buffer {
  return extension("2.5.29.35", sequence(element(0x80, keyId)));
}

/** Source: RFC 5280, section 4.2.1.2, the first method. */
function keyIdOf(spki: Buffer): Buffer {
  const [info] = elementsOf(spki) as [Element];
  const [, bits] = elementsOf(info.content) as [Element, Element];
  return createHash("sha1").update(bits.content.subarray(1)).digest();
}

function spkiOf(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" });
}

function alternativeName(name: string): Buffer {
  const version = isIP(name);
  if (version === 0) return element(0x82, Buffer.from(name));
  const digits = version === 4 ? 8 : 32;
  return element(0x87, Buffer.from(addressValue(name).toString(16).padStart(digits, "0"), "hex"));
}

function nameOf({ commonName, organizations = [] }: Subject): Buffer {
  return sequence(...organizations.map((name) => attribute("2.5.4.10", name)), attribute("2.5.4.3", commonName));
}

function attribute(type: string, text: string): Buffer {
  const tag = /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(text) ? tags.printable : tags.utf8;
  return element(tags.set, sequence(objectIdentifier(type), element(tag, Buffer.from(text))));
}

/** A random positive number of 16 bytes. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] as number) & 0x7f) | 0x40;
  return bytes;
}

/** Sources: RFC 5758, section 3.2; RFC 4055, section 5. */
function signatureOf(key: KeyObject): { readonly algorithm: Buffer; readonly hash: string } {
  const { asymmetricKeyType: type, asymmetricKeyDetails } = key;
  if (type === "rsa")
    return {
      algorithm: sequence(objectIdentifier("1.2.840.113549.1.1.11"), element(0x05, Buffer.alloc(0))),
      hash: "sha256",
    };
  switch (asymmetricKeyDetails?.namedCurve) {
    case "prime256v1":
      return { algorithm: sequence(objectIdentifier("1.2.840.10045.4.3.2")), hash: "sha256" };
    case "secp384r1":
    case "secp521r1":
      return { algorithm: sequence(objectIdentifier("1.2.840.10045.4.3.3")), hash: "sha384" };
    default:
      throw new Error(`keys of type ${type} cannot sign here: RSA, P-256, P-384 and P-521 can`);
  }
}
