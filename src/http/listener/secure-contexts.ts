/**
 * Selects the certificate by the requested server name or the local address. Source: Go's
 * crypto/tls; k8s.io/apiserver@v0.36.0/pkg/server/dynamiccertificates.
 */
import { constants, type X509Certificate } from "node:crypto";
import tls from "node:tls";
import { ipVersion } from "../../lib/ip-range/ip-version.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { parseCertificates } from "../../lib/x509/pem.ts";

/** A serving certificate with its key. */
export interface ServingCertificate {
  /** PEM, the leaf first. */
  readonly cert: string;
  readonly key: string;
}

/** A certificate for specific names. */
interface NamedCertificate extends ServingCertificate {
  /** Name patterns and addresses; empty: those in the certificate. */
  readonly names: readonly string[];
}

/** The certificates of a listener. */
export interface ServingMaterial {
  /** For clients that request no name, or one without another certificate. */
  readonly certificate: ServingCertificate;
  /** If several match a name, the first is used. */
  readonly named: readonly NamedCertificate[];
  /** PEM bundle of the authorities for client certificates; undefined: none is requested. */
  readonly clientCa: string | undefined;
}

/** Constraints on TLS. */
export interface TlsLimits {
  readonly minVersion: "TLSv1.2" | "TLSv1.3";
  /** OpenSSL names; undefined: Node's defaults. */
  readonly ciphers: string | undefined;
  /** Key exchange groups, OpenSSL names; undefined: Node's defaults. */
  readonly groups: string | undefined;
}

/** Node's defaults from TLS 1.2. */
export const defaultTlsLimits: TlsLimits = { minVersion: "TLSv1.2", ciphers: undefined, groups: undefined };

/** The certificates by name and address. */
export interface SecureContexts {
  readonly main: tls.SecureContextOptions;
  /** Undefined when there are no other certificates. */
  readonly mainContext: tls.SecureContext | undefined;
  /** For clients that request no name, by the local address. */
  readonly byAddress: ReadonlyMap<string, tls.SecureContextOptions>;
  /**
   * @returns undefined for the main certificate. Undefined itself when that is used for all names
   */
  readonly forName: ((name: string) => tls.SecureContext | undefined) | undefined;
}

/**
 * Prepares certificates.
 * @throws Error when a certificate does not match its key, or cannot be parsed
 */
export function secureContexts({ certificate, named, clientCa }: ServingMaterial, limits: TlsLimits): SecureContexts {
  const optionsOf = (one: ServingCertificate): tls.SecureContextOptions => secureOptions(one, clientCa, limits);
  const main = optionsOf(certificate);
  /** Of the main certificate; parsed when a client requests a name that no other certificate has. */
  let leaf: X509Certificate | undefined;
  const all = named.map((one) => ({
    leaf: leafOf(one),
    names: one.names,
    options: optionsOf(one),
    context: tls.createSecureContext(optionsOf(one)),
  }));
  const byName = new Map<string, (typeof all)[number]>();
  for (const one of [...all].reverse())
    if (one.names.length === 0) for (const name of namesOf(one.leaf)) byName.set(name, one);
  for (const one of [...all].reverse()) for (const name of one.names) byName.set(name, one);
  const byAddress = [...byName]
    .filter(([name]) => ipVersion(name) !== 0)
    .map(([name, { options }]) => [name, options] as const);
  return {
    main,
    mainContext: all.length === 0 ? undefined : tls.createSecureContext(main),
    byAddress: new Map(byAddress),
    forName: all.length === 0 ? undefined : contextFor,
  };

  function contextFor(requestedName: string): tls.SecureContext | undefined {
    const name = requestedName.toLowerCase();
    const found = byName.get(name) ?? byName.get(["*", ...name.split(".").slice(1)].join("."));
    if (found !== undefined) return found.context;
    leaf ??= leafOf(certificate);
    return leaf.checkHost(name) === undefined
      ? all.find((one) => one.leaf.checkHost(name) !== undefined)?.context
      : undefined;
  }
}

function leafOf({ cert }: ServingCertificate): X509Certificate {
  return parseCertificates(cert)[0] as X509Certificate;
}

/** DNS names only: clients do not request addresses. */
function namesOf(leaf: X509Certificate): readonly string[] {
  const { subject } = leaf.toLegacyObject();
  const commonName = [(subject as { CN?: string | string[] }).CN ?? []].flat().at(-1) ?? "";
  const isName =
    ipVersion(commonName) === 0 &&
    (commonName === "*" || dnsSubdomainProblems(commonName.replace(/^\*\./, "")).length === 0);
  const alternatives = (leaf.subjectAltName ?? "").split(", ").filter((entry) => /^DNS:[^"]/.test(entry));
  return [...(isName ? [commonName] : []), ...alternatives.map((entry) => entry.slice("DNS:".length))];
}

/** Sessions are not resumed, so that every connection sends its client certificate and chain. */
function secureOptions(
  { cert, key }: ServingCertificate,
  clientCa: string | undefined,
  limits: TlsLimits,
): tls.SecureContextOptions {
  const { minVersion, ciphers, groups } = limits;
  return {
    cert,
    key,
    minVersion,
    ...(ciphers !== undefined && { ciphers }),
    ...(groups !== undefined && { ecdhCurve: groups }),
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_CIPHER_SERVER_PREFERENCE,
    ...(clientCa !== undefined && { ca: clientCa }),
  };
}
