/**
 * Reads an EgressSelectorConfiguration, with upstream's messages.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/egressselector/config.go.
 */
import { existsSync } from "node:fs";
import {
  aggregated,
  ConfigurationError,
  type ConfigurationKind,
  decodeConfiguration,
} from "../../apimachinery/configuration-file.ts";
import { configKind, configStruct, listOf, text } from "../../apimachinery/configuration-schema.ts";
import { FieldErrors, plainText } from "../../apimachinery/field-errors.ts";

/** A validated egress selection. */
export interface EgressSelection {
  /** `controlplane`, `cluster` or `etcd`. */
  readonly name: string;
  readonly connection: Connection;
}

/** How connections are opened. */
export interface Connection {
  readonly proxyProtocol: string;
  readonly transport?: Transport;
}

/** The transport to a proxy: exactly one of the fields. */
interface Transport {
  readonly tcp?: { readonly url?: string; readonly tlsConfig?: ProxyTls };
  readonly uds?: { readonly udsName?: string };
}

/** The paths of PEM files. */
interface ProxyTls {
  readonly caBundle?: string;
  readonly clientKey?: string;
  readonly clientCert?: string;
  readonly tlsServerName?: string;
}

const scheme = "pkg/server/egressselector/config.go:33";

/** Decodes and validates a configuration. @throws Error with upstream's message */
export function readEgressSelections(bytes: Buffer): readonly EgressSelection[] {
  const selections = decode(bytes);
  const errors = new FieldErrors();
  for (const { connection } of selections) validateConnection(connection, errors);
  validateNames(selections, errors);
  const problem = aggregated(errors);
  if (problem !== undefined) throw new Error(`failed to validate egress selector configuration: ${problem}`);
  return selections;
}

interface DecodedSelection {
  readonly name?: string;
  readonly connection?: Partial<Connection>;
}

function decode(bytes: Buffer): readonly EgressSelection[] {
  try {
    const { egressSelections = [] } = decodeConfiguration(bytes, kinds, scheme).object as {
      egressSelections?: readonly DecodedSelection[];
    };
    return egressSelections.map(({ name = "", connection }) => ({
      name: canonicalName(name),
      connection: { proxyProtocol: "", ...connection },
    }));
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new Error(`failed to read egress selector config: ${error.message}`);
  }
}

/** `master` is the old name of `controlplane`. */
function canonicalName(name: string): string {
  return name === "master" ? "controlplane" : name.toLowerCase();
}

const kinds: readonly ConfigurationKind[] = ["v1beta1", "v1alpha1"].map((version) => ({
  apiVersion: `apiserver.k8s.io/${version}`,
  kind: "EgressSelectorConfiguration",
  schema: schemaOf(version),
}));

function schemaOf(version: string): ConfigurationKind["schema"] {
  const struct = (name: string, fields: Parameters<typeof configStruct>[1]): ReturnType<typeof configStruct> =>
    configStruct(`${version}.${name}`, fields);
  const tls = struct("TLSConfig", { caBundle: text, clientKey: text, clientCert: text, tlsServerName: text });
  const transport = struct("Transport", {
    tcp: { type: struct("TCPTransport", { url: text, tlsConfig: { type: tls, pointer: true } }), pointer: true },
    uds: { type: struct("UDSTransport", { udsName: text }), pointer: true },
  });
  const connection = struct("Connection", {
    proxyProtocol: { type: text, goTypes: [`${version}.ProtocolType`] },
    transport: { type: transport, pointer: true },
  });
  return configKind(`${version}.EgressSelectorConfiguration`, {
    egressSelections: listOf(struct("EgressSelection", { name: text, connection })),
  });
}

/** Upstream uses this field path for all connections. */
const path = "service.connection";

function validateConnection({ proxyProtocol, transport }: Connection, errors: FieldErrors): void {
  if (proxyProtocol === "Direct") {
    if (transport !== undefined)
      errors.invalid(`${path}.transport`, "direct", "config must be absent for direct connect");
  } else if (proxyProtocol === "HTTPConnect") validateHttpConnect(transport, errors);
  else if (proxyProtocol === "GRPC") validateGrpc(transport, errors);
  else errors.notSupported(`${path}.protocol`, proxyProtocol, ["Direct", "HTTPConnect", "GRPC"]);
}

function validateHttpConnect(transport: Transport | undefined, errors: FieldErrors): void {
  if (transport === undefined) return errors.required(`${path}.transport`, "transport must be set for HTTPConnect");
  const { tcp, uds } = transport;
  if (tcp !== undefined && uds !== undefined) {
    const shown = { URL: tcp.url ?? "", TLSConfig: goTls(tcp.tlsConfig) };
    errors.invalid(`${path}.tcp`, shown, "TCP and UDS cannot both be set");
  } else if (tcp !== undefined) validateTcp(tcp, errors);
  else if (uds !== undefined) validateUds(uds, errors);
  else errors.required(`${path}.tcp`, "One of TCP or UDS must be set");
}

/** Uses the field names of upstream's Go struct. */
function goTls(tls: ProxyTls | undefined): object | null {
  if (tls === undefined) return null;
  const { caBundle = "", clientKey = "", clientCert = "", tlsServerName = "" } = tls;
  return { CABundle: caBundle, ClientKey: clientKey, ClientCert: clientCert, TLSServerName: tlsServerName };
}

function validateGrpc(transport: Transport | undefined, errors: FieldErrors): void {
  if (transport === undefined) errors.required(`${path}.transport`, "transport must be set for GRPC");
  else if (transport.uds === undefined) errors.required(`${path}.uds`, "UDS must be set with GRPC");
  else validateUds(transport.uds, errors);
}

function validateUds({ udsName = "" }: NonNullable<Transport["uds"]>, errors: FieldErrors): void {
  if (udsName === "") errors.invalid(`${path}.udsName`, "nil", "must be present for UDS connections");
}

function validateTcp({ url = "", tlsConfig }: NonNullable<Transport["tcp"]>, errors: FieldErrors): void {
  if (url.startsWith("https://")) validateTls(tlsConfig, errors);
  else if (!url.startsWith("http://"))
    errors.invalid(`${path}.url`, url, "supported connection protocols are http:// and https://");
  else if (tlsConfig !== undefined)
    errors.invalid(`${path}.tlsConfig`, "nil", "config must not be present when using HTTP");
}

function validateTls(tls: ProxyTls | undefined, errors: FieldErrors): void {
  const at = `${path}.tlsConfig`;
  if (tls === undefined) return errors.required(at, "TLSConfig must be present when using HTTPS");
  const { caBundle = "", clientCert = "", clientKey = "" } = tls;
  if (caBundle !== "" && !existsSync(caBundle))
    errors.invalid(`${at}.caBundle`, caBundle, "TLS config ca bundle does not exist");
  if (clientCert === "") errors.invalid(`${at}.clientCert`, "nil", "Using TLS requires clientCert");
  else if (!existsSync(clientCert)) errors.invalid(`${at}.clientCert`, clientCert, "TLS client cert does not exist");
  if (clientKey === "") errors.invalid(`${at}.clientKey`, "nil", "Using TLS requires requires clientKey");
  else if (!existsSync(clientKey)) errors.invalid(`${at}.clientKey`, clientKey, "TLS client key does not exist");
}

function validateNames(selections: readonly EgressSelection[], errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [index, { name }] of selections.entries()) {
    if (names.has(name)) errors.duplicate(`${path}[${index}]`, name);
    else if (!["cluster", "controlplane", "etcd"].includes(name))
      errors.notSupported(path, plainText(name), ["cluster", "controlplane", "etcd"]);
    names.add(name);
  }
}
