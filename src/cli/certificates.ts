/** The certificates a server makes for itself: a CA, a serving certificate, an admin client certificate. Keys are P-256. */
import { X509Certificate } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";

export interface KeyPair {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

export interface Certificates {
  readonly ca: KeyPair;
  readonly serving: KeyPair;
  readonly admin: KeyPair;
}

export interface CertificateOptions {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** DNS names and addresses of the serving certificate. */
  readonly names: readonly string[];
}

const dayMs = 24 * 3600_000;
const authorityDays = 3650;
const leafDays = 365;
const renewDays = 30;

interface Subject {
  readonly commonName: string;
  readonly organization?: string;
}

const authoritySubject: Subject = { commonName: "coxswain-ca" };
const servingSubject: Subject = { commonName: "kube-apiserver" };
const adminSubject: Subject = { commonName: "kubernetes-admin", organization: "system:masters" };

/** Makes all three. */
export async function createCertificates(options: CertificateOptions): Promise<Certificates> {
  const authority = await createAuthority(options.now);
  const [serving, admin] = await Promise.all([
    issue(authority, servingSubject, "server", options),
    issue(authority, adminSubject, "client", { ...options, names: [] }),
  ]);
  return { ca: await authority.pair(), serving, admin };
}

/** Reads what is there, makes what is missing, and renews what expires within 30 days or no longer names what it must. */
export async function ensureCertificates(directory: string, options: CertificateOptions): Promise<Certificates> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const stored = await Promise.all([readPair(directory, "ca"), readPair(directory, "apiserver"), readPair(directory, "admin")]);
  const [ca, serving, admin] = stored;
  if (ca === undefined || expiresSoon(ca, options.now)) {
    const fresh = await createCertificates(options);
    await Promise.all([
      writePair(directory, "ca", fresh.ca),
      writePair(directory, "apiserver", fresh.serving),
      writePair(directory, "admin", fresh.admin),
    ]);
    return fresh;
  }
  const good = (pair: KeyPair | undefined): boolean => pair !== undefined && !expiresSoon(pair, options.now) && signedBy(pair, ca);
  const keepsServing = good(serving) && names(serving as KeyPair, options.names);
  if (keepsServing && good(admin)) return { ca, serving: serving as KeyPair, admin: admin as KeyPair };
  const authority = await loadAuthority(ca);
  const result = {
    ca,
    serving: keepsServing ? (serving as KeyPair) : await issue(authority, servingSubject, "server", options),
    admin: good(admin) ? (admin as KeyPair) : await issue(authority, adminSubject, "client", { ...options, names: [] }),
  };
  await Promise.all([writePair(directory, "apiserver", result.serving), writePair(directory, "admin", result.admin)]);
  return result;
}

function expiresSoon({ cert }: KeyPair, now: number): boolean {
  return new X509Certificate(cert).validToDate.getTime() - now < renewDays * dayMs;
}

function signedBy({ cert }: KeyPair, ca: KeyPair): boolean {
  return new X509Certificate(cert).verify(new X509Certificate(ca.cert).publicKey);
}

function names({ cert }: KeyPair, wanted: readonly string[]): boolean {
  const certificate = new X509Certificate(cert);
  return wanted.every((name) => (isIP(name) === 0 ? certificate.checkHost(name, { wildcards: false }) : certificate.checkIP(name)) !== undefined);
}

async function readPair(directory: string, name: string): Promise<KeyPair | undefined> {
  try {
    const [cert, key] = await Promise.all([readFile(join(directory, `${name}.crt`), "utf8"), readFile(join(directory, `${name}.key`), "utf8")]);
    return { cert, key };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function writePair(directory: string, name: string, { cert, key }: KeyPair): Promise<void> {
  await writeWhole(join(directory, `${name}.key`), key, 0o600);
  await writeWhole(join(directory, `${name}.crt`), cert, 0o644);
}

/** Readers see the old file or the new one, never half of it. */
export async function writeWhole(file: string, text: string, mode: number): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, text, { mode });
  await rename(temporary, file);
}

/** A CA that can sign; the X.509 library is loaded only when one is needed. */
interface Authority {
  pair(): Promise<KeyPair>;
  issue(subject: Subject, usage: "server" | "client", options: CertificateOptions): Promise<KeyPair>;
}

function issue(authority: Authority, subject: Subject, usage: "server" | "client", options: CertificateOptions): Promise<KeyPair> {
  return authority.issue(subject, usage, options);
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

async function createAuthority(now: number): Promise<Authority> {
  const x509 = await loadX509();
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: nameOf(authoritySubject),
    notBefore: new Date(now - dayMs),
    notAfter: new Date(now + authorityDays * dayMs),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return authorityOf(certificate.toString("pem"), keys.privateKey);
}

async function loadAuthority({ cert, key }: KeyPair): Promise<Authority> {
  const der = Buffer.from(key.replace(/-----[^-]+-----|\s/g, ""), "base64");
  return authorityOf(cert, await crypto.subtle.importKey("pkcs8", der, algorithm, true, ["sign"]));
}

function authorityOf(cert: string, signingKey: CryptoKey): Authority {
  return {
    pair: async () => ({ cert: `${cert}\n`, key: await privateKeyPem(signingKey) }),
    async issue(subject, usage, { now, names }) {
      const x509 = await loadX509();
      const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
      const authority = new x509.X509Certificate(cert);
      const purpose = usage === "server" ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth;
      const alternatives = names.map((name) => (isIP(name) === 0 ? ({ type: "dns", value: name } as const) : ({ type: "ip", value: name } as const)));
      const certificate = await x509.X509CertificateGenerator.create({
        serialNumber: serialNumber(),
        subject: nameOf(subject),
        issuer: authority.subjectName,
        notBefore: new Date(now - dayMs),
        notAfter: new Date(now + leafDays * dayMs),
        signingAlgorithm: algorithm,
        publicKey: keys.publicKey,
        signingKey,
        extensions: [
          new x509.BasicConstraintsExtension(false, undefined, true),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment, true),
          new x509.ExtendedKeyUsageExtension([purpose]),
          await x509.AuthorityKeyIdentifierExtension.create(authority),
          ...(alternatives.length > 0 ? [new x509.SubjectAlternativeNameExtension(alternatives)] : []),
        ],
      });
      return { cert: `${certificate.toString("pem")}\n`, key: await privateKeyPem(keys.privateKey) };
    },
  };
}

async function loadX509(): Promise<typeof import("@peculiar/x509")> {
  await import("reflect-metadata"); // What its dependency injection asks for.
  return import("@peculiar/x509");
}

function nameOf({ commonName, organization }: Subject): { CN?: string[]; O?: string[] }[] {
  return [...(organization === undefined ? [] : [{ O: [organization] }]), { CN: [commonName] }];
}

/** Positive, and unlike any other. */
function serialNumber(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] as number) & 0x7f) | 0x40;
  return Buffer.from(bytes).toString("hex");
}

async function privateKeyPem(key: CryptoKey): Promise<string> {
  const base64 = Buffer.from(await crypto.subtle.exportKey("pkcs8", key)).toString("base64");
  return `-----BEGIN PRIVATE KEY-----\n${base64.replace(/(.{64})/g, "$1\n").trimEnd()}\n-----END PRIVATE KEY-----\n`;
}
