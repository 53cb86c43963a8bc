/** The addresses of etcd's members, and the TLS of connections to them. */
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { connect, createSecureContext, type SecureContext } from "node:tls";
import { CallCredentials, ChannelCredentials, type ChannelOptions, credentials } from "@grpc/grpc-js";
import { ipVersion } from "../../../lib/ip-range/ip-version.ts";
import { trimEndOf } from "../../../lib/text/trim.ts";

/** How long a handshake may take. Source: the shortest connection timeout of gRPC (`MIN_CONNECT_TIMEOUT`). */
const handshakeMs = 20_000;

type SecureConnector = ReturnType<ChannelCredentials["_createSecureConnector"]>;

/** PEM files for connections to `https` URLs. */
export interface EtcdTls {
  /** Authorities of the members; those of the system when unset. */
  readonly caFile?: string;
  /** The client certificate; requires `keyFile`. */
  readonly certFile?: string;
  /** The key of `certFile`. */
  readonly keyFile?: string;
}

/** A member to connect to. */
export interface Endpoint {
  /** As gRPC names it. */
  readonly address: string;
  readonly credentials: ChannelCredentials;
  readonly options: ChannelOptions;
}

/**
 * The limit of an answer is etcd's. Connections that a network or a stopped member has broken
 * without an error are found by pings; etcd rejects pings that come faster than every 5 s.
 */
const channelOptions: ChannelOptions = {
  "grpc.max_receive_message_length": -1,
  "grpc.max_send_message_length": -1,
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 5_000,
  "grpc.initial_reconnect_backoff_ms": 50,
  "grpc.min_reconnect_backoff_ms": 50,
  "grpc.max_reconnect_backoff_ms": 1_000,
  "grpc.enable_retries": 0,
  // Statistics of each message, which only gRPC's own admin service shows.
  "grpc.enable_channelz": 0,
  // Two servers of one process do not share connections.
  "grpc.use_local_subchannel_pool": 1,
};

/**
 * Reads the URL of a member. Without a scheme, the files of TLS decide on TLS.
 * @throws Error when the URL is not valid, or the files of TLS cannot be used
 */
export function endpointOf(url: string, tls: EtcdTls = {}): Endpoint {
  const [, scheme = tls.certFile === undefined ? "http" : "https", rest = ""] =
    /^(?:([a-z]+):\/\/)?(.+)$/.exec(url) ?? [];
  const isSecure = scheme === "https" || scheme === "unixs";
  const isHost = URL.canParse(`https://${rest}`);
  if (!["http", "https", "unix", "unixs"].includes(scheme) || rest === "" || !(isHost || scheme.startsWith("unix")))
    throw new Error(`invalid URL of an etcd server: ${JSON.stringify(url)}`);
  return {
    address: scheme.startsWith("unix") ? `unix:${rest}` : `dns:///${trimEndOf(rest, "/")}`,
    credentials: isSecure ? new FileCredentials(hostOf(scheme, rest), tls) : credentials.createInsecure(),
    options: channelOptions,
  };
}

/** The host whose name the certificate must have; of `unixs`, this one. */
function hostOf(scheme: string, rest: string): string {
  if (scheme === "unixs") return "localhost";
  return new URL(`https://${rest}`).hostname.replace(/^\[|\]$/g, "");
}

/**
 * TLS with files that are read for each connection, so that replaced ones are used without a
 * restart, as etcd's own client reads its certificate. gRPC's TLS cannot connect to addresses,
 * because it requests them as server names, which Node rejects (RFC 6066, section 3).
 */
class FileCredentials extends ChannelCredentials {
  readonly #host: string;
  readonly #tls: EtcdTls;

  /** @throws Error when the files cannot be used, so that a start with such files fails at once */
  constructor(host: string, tls: EtcdTls) {
    super();
    this.#host = host;
    this.#tls = tls;
    readContext(tls);
  }

  _isSecure(): boolean {
    return true;
  }

  _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  _createSecureConnector(): SecureConnector {
    return {
      connect: async (socket) => ({ socket: await this.#handshake(socket), secure: true }),
      waitForReady: async () => {},
      getCallCredentials: () => CallCredentials.createEmpty(),
      destroy() {},
    };
  }

  #handshake(socket: Socket): Promise<Socket> {
    const host = this.#host;
    const secureContext = readContext(this.#tls);
    return new Promise((resolve, reject) => {
      const name = ipVersion(host) === 0 ? { servername: host } : {};
      const secured = connect({ socket, secureContext, host, ...name, ALPNProtocols: ["h2"] }, () => resolve(secured));
      secured.on("error", reject);
      const timer = setTimeout(() => secured.destroy(new Error("TLS handshake timeout")), handshakeMs);
      for (const end of ["secureConnect", "close"]) secured.once(end, () => clearTimeout(timer));
    });
  }
}

/** @throws Error that names the files, when one cannot be read or does not contain its part in PEM */
function readContext({ caFile, certFile, keyFile }: EtcdTls): SecureContext {
  const read = (file: string | undefined): Buffer | undefined => (file === undefined ? undefined : readFileSync(file));
  try {
    return createSecureContext({ ca: read(caFile), cert: read(certFile), key: read(keyFile) });
  } catch (error) {
    const files = [caFile, certFile, keyFile].filter((file) => file !== undefined).join(", ");
    throw new Error(`cannot use the TLS files of etcd (${files}): ${(error as Error).message}`, { cause: error });
  }
}
