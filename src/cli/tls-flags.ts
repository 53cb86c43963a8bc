/** TLS flags. Names, defaults and error messages are kube-apiserver's. */
import type { NamedCertificateFiles } from "../http/listener/contract.ts";
import { cipherSuiteNames, minVersionNames } from "../server/serving/tls-options.ts";
import { FlagValueError, stringSlice } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

export const tlsFlags: readonly Flag[] = [
  {
    term: "--tls-min-version <version>",
    help: `Minimum TLS version; versions below VersionTLS12 are never accepted. Possible values: ${minVersionNames.join(", ")}`,
    choices: minVersionNames,
    set: (text, { server }) => {
      server.tls = { ...server.tls, minVersion: text };
    },
  },
  {
    term: "--tls-cipher-suites <names>",
    help: `Comma-separated list of cipher suites; those of TLS 1.3 are always enabled. If unset, Node's defaults. Possible values: ${cipherSuiteNames.join(", ")}`,
    set: (text, { server }) => {
      server.tls = { ...server.tls, cipherSuites: [...server.tls.cipherSuites, ...stringSlice(text)] };
    },
  },
  {
    term: "--tls-curve-preferences <numbers>",
    help: "Comma-separated list of allowed key exchanges, by the numbers of Go's crypto/tls: 23, 24 and 25 are P-256, P-384 and P-521, 29 is X25519, 4587, 4588 and 4589 are the hybrids with ML-KEM. If unset, Node's defaults.",
    set: (text, { server }) => {
      server.tls = {
        ...server.tls,
        curvePreferences: [...server.tls.curvePreferences, ...stringSlice(text).map(curveNumber)],
      };
    },
  },
  {
    term: "--tls-sni-cert-key <cert,key[:names]>",
    help: 'PEM files with a certificate and its private key for some names, such as "foo.crt,foo.key:*.foo.com,foo.com"; without names, those of the certificate. Names without a wildcard precede names with one, and names of the flag precede names of the certificate. IP addresses apply to clients that connect to them without a server name. May be repeated; the first match is used.',
    set: (text, { server }) => {
      server.tls = { ...server.tls, named: [...server.tls.named, namedCertificate(text)] };
    },
  },
];

function curveNumber(text: string): number {
  if (!/^[+-]?\d+$/.test(text))
    throw new FlagValueError(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

/** Source: `k8s.io/component-base@v0.36.0/cli/flag/namedcertkey_flag.go`. */
function namedCertificate(text: string): NamedCertificateFiles {
  const colon = text.indexOf(":");
  const [files, names] = colon === -1 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1).trim()];
  if (names === "") throw new FlagValueError("empty names list is not allowed");
  const [certFile, keyFile, ...rest] = files.split(",").map((file) => file.trim());
  if (certFile === undefined || keyFile === undefined || rest.length > 0)
    throw new FlagValueError("expected comma separated certificate and key file paths");
  return { certFile, keyFile, names: names?.split(",").map((name) => name.trim()) ?? [] };
}
