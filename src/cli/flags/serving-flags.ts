/** Flags of the listener, and of the limits of requests. Names and defaults are kube-apiserver's. */
import type { NamedCertificateFiles } from "../../server/public-types.ts";
import { cipherSuiteNames, minVersionNames } from "../../server/serving/tls-options.ts";
import { type Flag, type FlagType, FlagValueError } from "./contract.ts";
import {
  bool,
  file,
  float,
  integer,
  ipAddress,
  list,
  parseDigits,
  repeated,
  text,
  unlessEmpty,
  validated,
} from "./flag-types.ts";

function requestCount(name: string): FlagType<number> {
  return validated(integer(), (count) => (count < 0 ? `--${name} can not be negative value` : undefined));
}

const goawayChance = validated(float, (chance) =>
  chance < 0 || chance > 0.02 ? "--goaway-chance can not be less than 0 or greater than 0.02" : undefined,
);

const curveNumbers: FlagType<readonly number[]> = {
  value: "numbers",
  read: (text, before = []) => [...before, ...text.split(",").map((one) => parseDigits(one, 32))],
};

/** Upstream's port cannot be 0. */
const securePort = validated(integer(), (port) =>
  port < 0 || port > 65_535 ? `--secure-port ${port} must be between 0 and 65535, inclusive` : undefined,
);

export const servingFlags: readonly Flag[] = [
  {
    name: "bind-address",
    option: "bindAddress",
    type: ipAddress,
    default: "127.0.0.1",
    help: "The IP address on which to listen for the --secure-port port.",
    upstream: "0.0.0.0",
  },
  {
    name: "secure-port",
    option: "securePort",
    type: securePort,
    default: 0,
    commandDefault: 6443,
    help: "The port on which to serve HTTPS with authentication and authorization. 0 selects a free port.",
    inCode: "0 selects a free port.",
  },
  {
    name: "permit-port-sharing",
    option: "permitPortSharing",
    type: bool,
    default: false,
    help: "Lets other processes listen on the same port (SO_REUSEPORT); the operating system divides new connections between them.",
  },
  {
    name: "permit-address-sharing",
    type: bool,
    help: "Accepted for compatibility with kube-apiserver: Node.js always sets SO_REUSEADDR, so that a new server does not wait for connections in the state TIME_WAIT.",
    default: "false",
  },
  {
    name: "disable-http2-serving",
    option: "disableHttp2Serving",
    type: bool,
    default: false,
    help: "Serves HTTP/1.1 only.",
  },
  {
    name: "http2-max-streams-per-connection",
    option: "http2MaxStreamsPerConnection",
    type: integer({ max: 2 ** 32 - 1 }),
    default: 0,
    help: "Maximum number of concurrent requests, of which each watch is one, on one HTTP/2 connection. 0 is 1000; in kube-apiserver, 100.",
  },
  {
    name: "advertise-address",
    option: "advertiseAddress",
    type: ipAddress,
    default: undefined,
    help: "The IP address in the endpoints of the Service kubernetes. If unset, the first address of this machine that is not loopback.",
  },
  {
    name: "external-hostname",
    option: "externalHostname",
    type: unlessEmpty(text("name")),
    help: "The host, or host and port, of the server in documents for clients, such as discovery and the metadata of the issuer. If unset, --advertise-address or --bind-address.",
  },
  {
    name: "cors-allowed-origins",
    option: "corsAllowedOrigins",
    type: list("patterns"),
    help: "Regular expressions of origins whose scripts can read responses (CORS), separated by commas. Each must name the start and the end of a host: '^https://example\\.com(:|$)'.",
    inCode:
      "Regular expressions (RE2) of origins whose scripts can read responses; each names the start and the end of a host.",
    unset: "",
  },
  {
    name: "strict-transport-security-directives",
    option: "strictTransportSecurity",
    type: list("directives"),
    help: "Directives of the header Strict-Transport-Security, separated by commas: max-age=SECONDS, includeSubDomains, preload. If unset, the header is not sent.",
    inCode: "Directives of the header Strict-Transport-Security: `max-age=…`, `includeSubDomains`, `preload`.",
    unset: "",
  },
  {
    name: "tls-cert-file",
    option: "tlsCertFile",
    type: file,
    default: undefined,
    help: "PEM file with the serving certificate, followed by its intermediate certificates. If unset, a certificate is created in --data-dir.",
  },
  {
    name: "tls-private-key-file",
    option: "tlsPrivateKeyFile",
    type: file,
    default: undefined,
    help: "PEM file with the private key of --tls-cert-file.",
  },
  {
    name: "cert-dir",
    option: "certDir",
    type: unlessEmpty(text("dir")),
    help: "Directory of apiserver.crt and apiserver.key, which are created if missing; ignored if --tls-cert-file is set. If --data-dir is unset, it is the directory coxswain in this one.",
    upstream: "/var/run/kubernetes",
  },
  {
    name: "tls-min-version",
    option: "tls.minVersion",
    type: text("version", minVersionNames),
    help: `Minimum TLS version; versions below VersionTLS12 are never accepted. Possible values: ${minVersionNames.join(", ")}`,
  },
  {
    name: "tls-cipher-suites",
    option: "tls.cipherSuites",
    type: list("names"),
    help: `Comma-separated list of cipher suites; those of TLS 1.3 are always enabled. If unset, Node's defaults. Possible values: ${cipherSuiteNames.join(", ")}`,
  },
  {
    name: "tls-curve-preferences",
    option: "tls.curvePreferences",
    type: curveNumbers,
    help: "Comma-separated list of allowed key exchanges, by the numbers of Go's crypto/tls: 23, 24 and 25 are P-256, P-384 and P-521, 29 is X25519, 4587, 4588 and 4589 are the hybrids with ML-KEM. If unset, Node's defaults.",
  },
  {
    name: "tls-sni-cert-key",
    option: "tls.named",
    type: repeated("cert,key[:names]", parseNamedCertificate),
    help: 'PEM files with a certificate and its private key for some names, such as "foo.crt,foo.key:*.foo.com,foo.com"; without names, those of the certificate. Names without a wildcard precede names with one, and names of the flag precede names of the certificate. IP addresses apply to clients that connect to them without a server name. May be repeated; the first match is used.',
  },
];

export const flowControlFlags: readonly Flag[] = [
  {
    name: "enable-priority-and-fairness",
    option: "enablePriorityAndFairness",
    type: bool,
    default: true,
    help: "Limits requests by priority levels and flow schemas. Otherwise only --max-requests-inflight and --max-mutating-requests-inflight limit them.",
  },
  {
    name: "max-requests-inflight",
    option: "maxRequestsInflight",
    type: requestCount("max-requests-inflight"),
    default: 400,
    help: "This and --max-mutating-requests-inflight are added up to the number of requests that the server executes at once, if --enable-priority-and-fairness is true. Otherwise it is the limit of non-mutating requests; 0 disables it.",
  },
  {
    name: "max-mutating-requests-inflight",
    option: "maxMutatingRequestsInflight",
    type: requestCount("max-mutating-requests-inflight"),
    default: 200,
    help: "As --max-requests-inflight, for mutating requests.",
  },
  {
    name: "goaway-chance",
    option: "goawayChance",
    type: goawayChance,
    default: 0,
    help: "Probability, up to 0.02, that a request over HTTP/2 closes its connection after the open requests, so that clients connect to another server behind a load balancer.",
  },
];

/** Source: `k8s.io/component-base@v0.36.0/cli/flag/namedcertkey_flag.go`. @throws FlagValueError */
function parseNamedCertificate(text: string): NamedCertificateFiles {
  const colon = text.indexOf(":");
  const [files, names] = colon === -1 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1).trim()];
  if (names === "") throw new FlagValueError("empty names list is not allowed");
  const [certFile, keyFile, ...rest] = files.split(",").map((one) => one.trim());
  if (certFile === undefined || keyFile === undefined || rest.length > 0)
    throw new FlagValueError("expected comma separated certificate and key file paths");
  return { certFile, keyFile, names: names?.split(",").map((name) => name.trim()) ?? [] };
}
