/** Which certificate a client is shown, by the name it asks for or the address it came to. Source: Go's crypto/tls; apiserver's dynamiccertificates. */
import { constants, type X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import tls from "node:tls";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { parseCertificates } from "../../lib/x509/pem.ts";

export interface ServingCertificate {
  /** PEM, the leaf first. */
  readonly cert: string;
  readonly key: string;
}

export interface NamedCertificate extends ServingCertificate {
  /** Patterns of names, and addresses; none: those that the certificate says. */
  readonly names: readonly string[];
}

export interface ServingMaterial {
  /** For whoever asks for no name, or one that no other certificate is for. */
  readonly certificate: ServingCertificate;
  /** Where several are for a name, the first of them counts. */
  readonly named: readonly NamedCertificate[];
  /** PEM bundle of the authorities that client certificates may lead to; undefined: none is asked for. */
  readonly clientCa: string | undefined;
}

export interface TlsLimits {
  readonly minVersion: "TLSv1.2" | "TLSv1.3";
  /** As OpenSSL names them; undefined: Node's. */
  readonly ciphers: string | undefined;
  /** Of key exchanges, as OpenSSL names them; undefined: Node's. */
  readonly groups: string | undefined;
}

export const defaultTlsLimits: TlsLimits = { minVersion: "TLSv1.2", ciphers: undefined, groups: undefined };

export interface SecureContexts {
  readonly main: tls.SecureContextOptions;
  /** Undefined where there are no others. */
  readonly mainContext: tls.SecureContext | undefined;
  /** Those that are shown to clients which ask for no name, by the address they came to. */
  readonly byAddress: ReadonlyMap<string, tls.SecureContextOptions>;
  /** @returns undefined for the main one. Undefined itself where that is for all names */
  readonly forName: ((name: string) => tls.SecureContext | undefined) | undefined;
}

/** @throws Error when a certificate and its key do not fit, or cannot be read */
export function secureContexts({ certificate, named, clientCa }: ServingMaterial, limits: TlsLimits): SecureContexts {
  const optionsOf = (one: ServingCertificate): tls.SecureContextOptions => secureOptions(one, clientCa, limits);
  const main = optionsOf(certificate);
  const leaf = leafOf(certificate);
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
    .filter(([name]) => isIP(name) !== 0)
    .map(([name, { options }]) => [name, options] as const);
  return {
    main,
    mainContext: all.length === 0 ? undefined : tls.createSecureContext(main),
    byAddress: new Map(byAddress),
    forName: all.length === 0 ? undefined : contextFor,
  };

  function contextFor(asked: string): tls.SecureContext | undefined {
    const name = asked.toLowerCase();
    const found = byName.get(name) ?? byName.get(["*", ...name.split(".").slice(1)].join("."));
    if (found !== undefined) return found.context;
    return leaf.checkHost(name) === undefined
      ? all.find((one) => one.leaf.checkHost(name) !== undefined)?.context
      : undefined;
  }
}

function leafOf({ cert }: ServingCertificate): X509Certificate {
  return parseCertificates(cert)[0] as X509Certificate;
}

/** Addresses do not count: no client asks for one. */
function namesOf(leaf: X509Certificate): readonly string[] {
  const { subject } = leaf.toLegacyObject();
  const commonName = [(subject as { CN?: string | string[] }).CN ?? []].flat().at(-1) ?? "";
  const isName =
    isIP(commonName) === 0 &&
    (commonName === "*" || dnsSubdomainProblems(commonName.replace(/^\*\./, "")).length === 0);
  const alternatives = (leaf.subjectAltName ?? "").split(", ").filter((entry) => /^DNS:[^"]/.test(entry));
  return [...(isName ? [commonName] : []), ...alternatives.map((entry) => entry.slice("DNS:".length))];
}

/** Sessions are not resumed, so that every connection shows its client certificate and the chain that leads from it. */
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
