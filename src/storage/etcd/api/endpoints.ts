/** The addresses of etcd's members, and the TLS of connections to them. */
import { readFileSync } from "node:fs";
import { connect, isIP, type NetConnectOpts, type Socket } from "node:net";
import { connect as connectTls, createSecureContext, type SecureContext } from "node:tls";

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
  /** The host and port in the headers of calls. */
  readonly authority: string;
  /** The URL of the connection. */
  readonly origin: string;
  /** Opens a socket, with the handshake of TLS. @param signal ends the attempt */
  connect(signal: AbortSignal): Promise<Socket>;
}

/**
 * Reads the URL of a member. Without a scheme, the files of TLS decide on TLS.
 * @throws Error when the URL is not valid, or the files of TLS cannot be used
 */
export function endpointOf(url: string, tls: EtcdTls = {}): Endpoint {
  const [, scheme = tls.certFile === undefined ? "http" : "https", rest = ""] =
    /^(?:([a-z]+):\/\/)?(.+)$/.exec(url) ?? [];
  const isUnix = scheme === "unix" || scheme === "unixs";
  const isSecure = scheme === "https" || scheme === "unixs";
  if (!["http", "https", "unix", "unixs"].includes(scheme) || !(isUnix || URL.canParse(`https://${rest}`)))
    throw new Error(`invalid URL of an etcd server: ${JSON.stringify(url)}`);
  const { host: authority, hostname, port } = new URL(`https://${isUnix ? "localhost" : rest}`);
  // The name that the certificate must have; of `unixs`, this host.
  const host = hostname.replace(/^\[|\]$/g, "");
  const address = isUnix ? { path: rest } : { host, port: Number(port || 443) };
  if (isSecure) readContext(tls); // A start with files that cannot be used fails at once.
  return {
    authority,
    origin: `${isSecure ? "https" : "http"}://${authority}`,
    async connect(signal) {
      const socket = await openSocket({ ...address, signal, noDelay: true });
      return isSecure ? secure(socket, host, tls) : socket;
    },
  };
}

function openSocket(options: NetConnectOpts): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(options, () => resolve(socket));
    socket.on("error", reject);
  });
}

/**
 * Makes the handshake of TLS, with files that are read for each connection, so that replaced ones
 * are used without a restart, as etcd's own client reads its certificate.
 */
function secure(socket: Socket, host: string, tls: EtcdTls): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // Addresses are not requested as server names (RFC 6066, section 3).
    const name = isIP(host) === 0 ? { servername: host } : {};
    const options = { socket, secureContext: readContext(tls), host, ...name, ALPNProtocols: ["h2"] };
    const secured = connectTls(options, () => resolve(secured));
    secured.on("error", reject);
  });
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
