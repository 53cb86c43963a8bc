/**
 * Translates the TLS flags, whose names and numbers are Go's, for OpenSSL.
 * Source: k8s.io/component-base@v0.36.0/cli/flag/ciphersuites_flag.go; Go's crypto/tls and x/net/http2
 */

import tls from "node:tls";
import type { TlsOptions } from "../../http/listener/contract.ts";
import { defaultTlsLimits, type TlsLimits } from "../../http/listener/secure-contexts.ts";
import { quoteGo } from "../../lib/json/quote.ts";

/** The lowest version that OpenSSL offers at its default security level. */
const versions: Readonly<Record<string, TlsLimits["minVersion"]>> = {
  "": defaultTlsLimits.minVersion,
  VersionTLS10: "TLSv1.2",
  VersionTLS11: "TLSv1.2",
  VersionTLS12: "TLSv1.2",
  VersionTLS13: "TLSv1.3",
};

/** Always offered. OpenSSL and Go use the same names. */
const suites13 = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];
const suitesOfHttp2 = ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"];

const suites: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: "ecdhe-ecdsa-aes128-sha",
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: "ecdhe-ecdsa-aes128-sha256",
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: "ecdhe-ecdsa-aes128-gcm-sha256",
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: "ecdhe-ecdsa-aes256-sha",
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: "ecdhe-ecdsa-aes256-gcm-sha384",
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: "ecdhe-ecdsa-chacha20-poly1305",
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: "ecdhe-ecdsa-chacha20-poly1305",
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: "ecdhe-rsa-aes128-sha",
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: "ecdhe-rsa-aes128-sha256",
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: "ecdhe-rsa-aes128-gcm-sha256",
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: "ecdhe-rsa-aes256-sha",
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: "ecdhe-rsa-aes256-gcm-sha384",
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: "ecdhe-rsa-chacha20-poly1305",
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: "ecdhe-rsa-chacha20-poly1305",
  TLS_RSA_WITH_AES_128_CBC_SHA: "aes128-sha",
  TLS_RSA_WITH_AES_128_CBC_SHA256: "aes128-sha256",
  TLS_RSA_WITH_AES_128_GCM_SHA256: "aes128-gcm-sha256",
  TLS_RSA_WITH_AES_256_CBC_SHA: "aes256-sha",
  TLS_RSA_WITH_AES_256_GCM_SHA384: "aes256-gcm-sha384",
};

/** In the order in which Go prefers them. */
const groups: ReadonlyMap<number, string> = new Map([
  [4588, "X25519MLKEM768"],
  [4587, "SecP256r1MLKEM768"],
  [4589, "SecP384r1MLKEM1024"],
  [29, "X25519"],
  [23, "P-256"],
  [24, "P-384"],
  [25, "P-521"],
]);
const groupMax = 65_535;

/** Names that the flag accepts. */
export const minVersionNames = Object.keys(versions).filter((name) => name !== "");
/** The names that `--tls-cipher-suites` accepts. */
export const cipherSuiteNames: readonly string[] = [...suites13, ...Object.keys(suites)].sort();

/** @throws Error for an unknown version, cipher suite or key exchange, or without the suites that HTTP/2 requires */
export function tlsLimits({ minVersion: version, cipherSuites, curvePreferences }: TlsOptions): TlsLimits {
  const minVersion = Object.hasOwn(versions, version) ? versions[version] : undefined;
  if (minVersion === undefined) throw new Error(`unknown tls version ${quoteGo(version)}`);
  const chosen = cipherSuites.map(suiteOf);
  if (chosen.length > 0 && minVersion === "TLSv1.2" && !cipherSuites.some((name) => suitesOfHttp2.includes(name)))
    throw new Error(
      `error configuring http2: http2: TLSConfig.CipherSuites is missing an HTTP/2-required AES_128_GCM_SHA256 cipher (need at least one of ${suitesOfHttp2.join(" or ")})`,
    );
  return {
    minVersion,
    ciphers:
      chosen.length === 0
        ? undefined
        : [...new Set([...suites13, ...chosen.map((name) => name.toUpperCase())])].join(":"),
    groups: groupsOf(curvePreferences),
  };
}

/** @returns OpenSSL's name in Node's spelling */
function suiteOf(name: string): string {
  if (suites13.includes(name)) return name.toLowerCase();
  const suite = Object.hasOwn(suites, name) ? suites[name] : undefined;
  if (suite === undefined || !tls.getCiphers().includes(suite))
    throw new Error(`Cipher suite ${name} not supported or doesn't exist`);
  return suite;
}

function groupsOf(numbers: readonly number[]): string | undefined {
  for (const [index, number] of numbers.entries()) {
    if (number <= 0 || number > groupMax)
      throw new Error(`curve preference ${number} is out of range (must be 1-${groupMax})`);
    if (numbers.indexOf(number) < index) throw new Error(`duplicate curve preference ${number}`);
    if (!groups.has(number))
      throw new Error(`curve preference ${number} is not supported by the current OpenSSL version`);
  }
  const chosen = [...groups].filter(([number]) => numbers.includes(number)).map(([, name]) => name);
  return chosen.length === 0 ? undefined : chosen.join(":");
}
