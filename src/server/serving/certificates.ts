/** The certificates that a server creates: a CA, a serving certificate, and an admin's client certificate, with P-256 keys. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, realClock } from "../../apimachinery/clock.ts";
import { keepFile } from "../../apimachinery/keep-file.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { makeDirectory } from "../../apimachinery/make-directory.ts";
import { writeFileAtomically } from "../../apimachinery/write-file-atomically.ts";
import { ipVersion } from "../../lib/ip-range/ip-version.ts";
import type { Subject } from "./certificate-structure.ts";
import { upgradeKeyFile } from "./sec1-key.ts";
import { createAuthority, issueCertificate, type KeyPair } from "./x509.ts";

export type { KeyPair } from "./x509.ts";

export interface Certificates {
  readonly ca: KeyPair;
  readonly serving: KeyPair;
  readonly admin: KeyPair;
}

/** The time at which certificates are issued. */
export interface CertificateTimes {
  /** The real time, by which clients check certificates, in milliseconds since 1970. */
  readonly now: number;
  /**
   * Whether the authority and its client certificates are valid at all times, because the server
   * judges them by a clock that tests set.
   */
  readonly isTimeless?: boolean;
}

/** @returns the times of certificates that a server with this clock issues */
export function certificateTimes(clock: Clock): CertificateTimes {
  const real = realClock(clock);
  return { now: real.now(), isTimeless: real !== clock };
}

export interface CertificateOptions extends CertificateTimes {
  /** DNS names and addresses of the serving certificate. */
  readonly names: readonly string[];
}

const dayMs = 24 * 3600_000;
const authorityDays = 3650;
const leafDays = 365;
const renewDays = 30;
/** Source: RFC 5280 section 4.1.2.5, certificates without a well-defined expiration date. */
const noExpiration = Date.UTC(9999, 11, 31, 23, 59, 59);

/** Creates all three certificates. */
export async function createCertificates(options: CertificateOptions): Promise<Certificates> {
  const ca = await createAuthority({ subject: { commonName: "coxswain-ca" }, ...validity(options, authorityDays) });
  const [serving, admin] = await Promise.all([issueServing(ca, options), issueAdmin(ca, options)]);
  return { ca, serving, admin };
}

/** Returns kept certificates, except that those which {@link ensureCertificates} would renew are issued again. */
export async function renewCertificates(kept: Certificates, options: CertificateOptions): Promise<Certificates> {
  const { ca, serving, admin } = kept;
  const keepsServing = isUsable(serving, options.now) && hasNames(serving, options.names);
  return {
    ca,
    serving: keepsServing ? serving : await issueServing(ca, options),
    admin: isUsable(admin, options.now) ? admin : await issueAdmin(ca, options),
  };
}

/**
 * Reads the certificates in the directory, creates missing ones, and renews those that expire within 30 days, have no
 * matching key, or lack a required name. A new CA renews all of them. What it signs is used also when it cannot be
 * written, because the next start issues it again.
 *
 * @param logger receives a warning for each such file
 * @throws Error when a file exists and is not valid PEM, or a new CA cannot be written: all clients have to know it
 */
export async function ensureCertificates(
  directory: string,
  options: CertificateOptions,
  logger: Logger,
): Promise<Certificates> {
  makeDirectory(directory, { mode: 0o700 });
  const [oldCa, oldServing, oldAdmin] = await Promise.all([
    readOwnPair(directory, "ca", logger),
    readOwnPair(directory, "apiserver", logger),
    readOwnPair(directory, "admin", logger),
  ]);
  const ca = isUsable(oldCa, options.now) ? oldCa : undefined;
  if (ca === undefined) {
    const fresh = await createCertificates(options);
    await writePair(directory, "ca", fresh.ca);
    await keepPair(directory, "apiserver", fresh.serving, logger);
    await keepPair(directory, "admin", fresh.admin, logger);
    return fresh;
  }
  const keepsServing =
    isUsable(oldServing, options.now) && isIssuedBy(oldServing, ca) && hasNames(oldServing, options.names);
  const keepsAdmin = isUsable(oldAdmin, options.now) && isIssuedBy(oldAdmin, ca);
  const serving = keepsServing ? oldServing : await issueServing(ca, options);
  const admin = keepsAdmin ? oldAdmin : await issueAdmin(ca, options);
  if (!keepsServing) await keepPair(directory, "apiserver", serving, logger);
  if (!keepsAdmin) await keepPair(directory, "admin", admin, logger);
  return { ca, serving, admin };
}

/**
 * Writes the serving certificate to a directory, unless the user has put one there. When it cannot be written, the
 * server uses it all the same.
 *
 * @returns the files of the user's certificate
 * @throws Error with upstream's message when only one of its two files exists, or the directory cannot be created
 */
export async function placeServing(
  directory: string,
  { ca, serving }: Certificates,
  logger: Logger,
): Promise<readonly [cert: string, key: string] | undefined> {
  const [certFile, keyFile] = [join(directory, "apiserver.crt"), join(directory, "apiserver.key")];
  const isThere = await Promise.all([certFile, keyFile].map(async (file) => (await readIfThere(file)) !== undefined));
  if (isThere[0] !== isThere[1])
    throw new Error(`error reading ${isThere[0] ? keyFile : certFile}, certificate and key must be supplied as a pair`);
  const found = await readPair(directory, "apiserver");
  if (found !== undefined && !isIssuedBy(found, ca)) return [certFile, keyFile];
  makeDirectory(directory);
  await keepPair(directory, "apiserver", serving, logger);
  return undefined;
}

/** Only clients judge it, by their own clocks. */
function issueServing(ca: KeyPair, { now, names }: CertificateOptions): Promise<KeyPair> {
  return issueCertificate(ca, {
    subject: { commonName: "kube-apiserver" },
    usage: "server",
    names,
    ...validity({ now }, leafDays),
  });
}

function issueAdmin(ca: KeyPair, options: CertificateOptions): Promise<KeyPair> {
  return issueClient(ca, { commonName: "kubernetes-admin", organizations: ["system:masters"] }, options);
}

/** Issues a client certificate that is valid for a year, or at all times. */
export function issueClient(ca: KeyPair, subject: Subject, times: CertificateTimes): Promise<KeyPair> {
  return issueCertificate(ca, { subject, usage: "client", names: [], ...validity(times, leafDays) });
}

/** Valid from a day ago, for clients whose clock is late. */
function validity(
  { now, isTimeless = false }: CertificateTimes,
  days: number,
): { notBefore: number; notAfter: number } {
  if (isTimeless) return { notBefore: 0, notAfter: noExpiration };
  return { notBefore: now - dayMs, notAfter: now + days * dayMs };
}

/** Not about to expire, and with its own key: a start that was killed may have written only one of the two. */
function isUsable(pair: KeyPair | undefined, now: number): pair is KeyPair {
  if (pair === undefined) return false;
  const certificate = new X509Certificate(pair.cert);
  return (
    certificate.validToDate.getTime() - now >= renewDays * dayMs &&
    certificate.checkPrivateKey(createPrivateKey(pair.key))
  );
}

function isIssuedBy({ cert }: KeyPair, ca: KeyPair): boolean {
  return new X509Certificate(cert).verify(new X509Certificate(ca.cert).publicKey);
}

function hasNames({ cert }: KeyPair, required: readonly string[]): boolean {
  const certificate = new X509Certificate(cert);
  return required.every(
    (name) =>
      (ipVersion(name) === 0 ? certificate.checkHost(name, { wildcards: false }) : certificate.checkIP(name)) !==
      undefined,
  );
}

async function readOwnPair(directory: string, name: string, logger: Logger): Promise<KeyPair | undefined> {
  const pair = await readPair(directory, name);
  return pair && { ...pair, key: await upgradeKeyFile(join(directory, `${name}.key`), pair.key, logger) };
}

async function readPair(directory: string, name: string): Promise<KeyPair | undefined> {
  const [cert, key] = await Promise.all([
    readIfThere(join(directory, `${name}.crt`)),
    readIfThere(join(directory, `${name}.key`)),
  ]);
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function writePair(directory: string, name: string, { cert, key }: KeyPair): Promise<void> {
  await writeFileAtomically(join(directory, `${name}.key`), key, 0o600);
  await writeFileAtomically(join(directory, `${name}.crt`), cert, 0o644);
}

/** The certificate is not replaced when its key cannot be. */
async function keepPair(directory: string, name: string, { cert, key }: KeyPair, logger: Logger): Promise<void> {
  const keyFile = join(directory, `${name}.key`);
  if (!(await keepFile(keyFile, { contents: key, mode: 0o600 }, logger))) return;
  await keepFile(join(directory, `${name}.crt`), { contents: cert, mode: 0o644 }, logger);
}
