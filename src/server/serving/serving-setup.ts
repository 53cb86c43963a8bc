/** The certificates that a server uses: its own, or those of flags, which it reloads when their files change. */

import type { X509Certificate } from "node:crypto";
import type { Clock } from "../../apimachinery/clock.ts";
import { constantly, type Live, openLiveFiles } from "../../apimachinery/followed-files.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { ServingMaterial, TlsLimits } from "../../http/listener/secure-contexts.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { type Authorities, parseAuthorities } from "../../lib/x509/authorities.ts";
import { formatCertificates, parseCertificates } from "../../lib/x509/pem.ts";
import type { ServerOptions } from "../options.ts";
import {
  type CertificateOptions,
  type Certificates,
  certificateTimes,
  createCertificates,
  ensureCertificates,
  type KeyPair,
  placeServing,
  renewCertificates,
} from "./certificates.ts";
import { checkKeyPair } from "./key-pair.ts";
import { tlsLimits } from "./tls-options.ts";

/** The certificates of a server, and their authorities. */
export interface ServingSetup {
  readonly limits: TlsLimits;
  /** The current certificates of the listener, and the authorities of client certificates. */
  material(): ServingMaterial;
  /** The current authorities of client certificates. */
  clientAuthorities(): Authorities;
  /** The current authorities of authenticating proxies; undefined without proxies. */
  readonly proxyAuthorities: (() => Authorities) | undefined;
  /** PEM bundle by which clients verify the serving certificate. */
  readonly caBundle: string;
  /** The server's own authority, which signs client certificates. */
  readonly clientAuthority: KeyPair;
  /** The client certificate of the kubeconfig. */
  readonly admin: KeyPair;
  /** The certificates that the server has made. */
  readonly own: Certificates;
  /** Reloads changed files. @param onChange called after each reload */
  follow(onChange: () => void): void;
  close(): void;
}

type SetupOptions = Pick<
  ServerOptions,
  | "clock"
  | "logger"
  | "dataDir"
  | "certDir"
  | "tlsCertFile"
  | "tlsPrivateKeyFile"
  | "clientCaFile"
  | "requestHeader"
  | "tls"
> & {
  /** The certificates of a server without a data directory; undefined: new ones. */
  readonly kept?: Certificates | undefined;
};

/** @throws Error when one of a certificate and its key is missing, or a file or a TLS option is not valid */
export async function servingSetup(options: SetupOptions, names: readonly string[]): Promise<ServingSetup> {
  const { tlsCertFile, tlsPrivateKeyFile, clientCaFile, certDir, requestHeader, tls } = options;
  if ((tlsCertFile === undefined) !== (tlsPrivateKeyFile === undefined))
    throw new Error("tls-cert-file and tls-private-key-file must be given together");
  const limits = tlsLimits(tls);
  const own = await ownCertificates(options, names);
  const ownAuthorities = authoritiesOf(own.ca);
  const placed =
    tlsCertFile === undefined && certDir !== undefined ? await placeServing(certDir, own, options.logger) : undefined;
  const pair = tlsCertFile === undefined ? placed : ([tlsCertFile, tlsPrivateKeyFile as string] as const);
  const given = pair && (await keyPairFiles(options, "serving-cert", pair));
  const serving = given ?? constantly(own.serving);
  let proxies: Live<Authorities> | undefined;
  // The server's own authority remains accepted, for the admin's certificate.
  const clients =
    clientCaFile === undefined
      ? constantly(ownAuthorities)
      : await authorityFile(options, "client-ca-bundle", clientCaFile, (given) => {
          const authorities = parseAuthorities(`${own.ca.cert}${formatCertificates(given)}`);
          checkApart(requestHeader, authorities, proxies?.current());
          return authorities;
        });
  if (requestHeader.clientCaFile !== undefined) {
    proxies = await authorityFile(options, "request-header", requestHeader.clientCaFile, (given) => {
      const authorities = parseAuthorities(formatCertificates(given));
      checkApart(requestHeader, clients.current(), authorities);
      return authorities;
    });
  }
  const named = await namedCertificates(options);
  const files: readonly Live<unknown>[] = [
    serving,
    clients,
    ...(proxies === undefined ? [] : [proxies]),
    ...named.map(({ pair }) => pair),
  ];
  return {
    limits,
    material: () => ({
      certificate: serving.current(),
      named: named.map(({ patterns, pair }) => ({ ...pair.current(), names: patterns })),
      clientCa: formatCertificates([...clients.current().certificates, ...(proxies?.current().certificates ?? [])]),
    }),
    clientAuthorities: clients.current,
    proxyAuthorities: proxies?.current,
    caBundle: given?.current().cert ?? own.ca.cert,
    clientAuthority: own.ca,
    admin: own.admin,
    own,
    follow: (onChange) => {
      const changed = (): void => {
        onChange();
        for (const file of files) file.retry();
      };
      for (const file of files) file.follow(changed);
    },
    close() {
      for (const file of files) file.close();
    },
  };
}

interface NamedCertificate {
  readonly patterns: readonly string[];
  readonly pair: Live<KeyPair>;
}

function namedCertificates(options: SetupOptions): Promise<NamedCertificate[]> {
  return Promise.all(
    options.tls.named.map(async ({ certFile, keyFile, names: patterns }) => ({
      patterns,
      pair: await keyPairFiles(options, "sni-serving-cert", [certFile, keyFile]),
    })),
  );
}

/** For which names, and when, kept certificates were checked: those of a server, with which its forks begin. */
const checked = new WeakMap<Certificates, { readonly names: string; readonly at: number }>();
const recheckMs = 3_600_000;

/** Checks them once an hour: servers that share certificates start one after the other. */
async function keepCertificates(kept: Certificates, options: CertificateOptions): Promise<Certificates> {
  const { now } = options;
  const names = options.names.join();
  const known = checked.get(kept);
  if (known?.names === names && now >= known.at && now < known.at + recheckMs) return kept;
  const { serving, admin, ca } = await renewCertificates(kept, options);
  const own = serving === kept.serving && admin === kept.admin ? kept : { ca, serving, admin };
  checked.set(own, { names, at: now });
  return own;
}

const parsed = new WeakMap<KeyPair, Authorities>();

function authoritiesOf(ca: KeyPair): Authorities {
  const known = parsed.get(ca);
  if (known !== undefined) return known;
  const authorities = parseAuthorities(ca.cert);
  parsed.set(ca, authorities);
  return authorities;
}

function ownCertificates(
  { dataDir, clock, kept, logger }: SetupOptions,
  names: readonly string[],
): Promise<Certificates> {
  const options = { ...certificateTimes(clock), names };
  if (kept !== undefined) return keepCertificates(kept, options);
  return dataDir === undefined ? createCertificates(options) : ensureCertificates(dataDir, options, logger);
}

/**
 * Upstream checks this at its start only.
 * @throws Error with upstream's message when any client certificate would make its user a proxy
 */
function checkApart(
  { allowedNames }: ServerOptions["requestHeader"],
  clients: Authorities,
  proxies: Authorities | undefined,
): void {
  const isProxy = (one: X509Certificate): boolean =>
    proxies?.certificates.some((other) => one.raw.equals(other.raw)) ?? false;
  if (allowedNames.length > 0 || !clients.certificates.some(isProxy)) return;
  throw new Error(
    "--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; --requestheader-allowed-names must be specified to ensure regular client certificates cannot set authenticating proxy headers for arbitrary users",
  );
}

interface Needs {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** @param take throws an Error when the certificates cannot be used */
function authorityFile(
  { clock, logger }: Needs,
  purpose: string,
  file: string,
  take: (certificates: readonly X509Certificate[]) => Authorities,
): Promise<Live<Authorities>> {
  const name = `${purpose}::${file}`;
  const read = (text: string): readonly X509Certificate[] => {
    try {
      return parseCertificates(text);
    } catch (error) {
      throw new Error(`error loading CA bundle for ${quoteGo(name)}: ${(error as Error).message}`);
    }
  };
  const parse = ([text = ""]: readonly string[]): Authorities => {
    if (text === "") throw new Error(`missing content for CA bundle ${quoteGo(name)}`);
    const certificates = read(text);
    warnOfValidity(name, certificates, { clock, logger });
    return take(certificates);
  };
  return openLiveFiles({ name, files: [file], parse, clock, logger });
}

/**
 * Follows the files of a certificate and its key.
 *
 * @param purpose the name in logs and errors
 * @throws Error when a file cannot be read, or they do not belong together
 */
export function keyPairFiles(
  { clock, logger }: Needs,
  purpose: string,
  files: readonly [cert: string, key: string],
): Promise<Live<KeyPair>> {
  const name = [purpose, ...files].join("::");
  const parse = ([cert = "", key = ""]: readonly string[]): KeyPair => {
    if (cert === "" || key === "") throw new Error(`missing content for serving cert ${quoteGo(name)}`);
    checkKeyPair({ cert, key });
    warnOfValidity(name, parseCertificates(cert), { clock, logger });
    return { cert, key };
  };
  return openLiveFiles({ name, files, parse, clock, logger });
}

/**
 * Logs certificates of a file that have expired or are not valid yet, because clients reject them,
 * or the server rejects the clients of an authority.
 *
 * @param name the purpose and the file
 */
function warnOfValidity(
  name: string,
  certificates: readonly X509Certificate[],
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): void {
  const now = clock.now();
  for (const { subject, validFromDate, validToDate } of certificates) {
    const isEarly = now < validFromDate.getTime();
    if (!isEarly && now <= validToDate.getTime()) continue;
    logger.warn(isEarly ? "Certificate is not valid yet" : "Certificate has expired", {
      name,
      subject: subject?.replaceAll("\n", ", ") ?? "",
      notBefore: validFromDate.toISOString(),
      notAfter: validToDate.toISOString(),
    });
  }
}
