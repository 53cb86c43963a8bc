/** One TLS port for HTTP/2 and HTTP/1.1, chosen by ALPN. */
import net, { type AddressInfo, type Socket } from "node:net";
import tls from "node:tls";
import { type Clock, realClock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { Exchange } from "../../request/exchange.ts";
import type { RequestedUpgrade, WorkObserver } from "./contract.ts";
import { createHttp1 } from "./http1.ts";
import { createHttp2 } from "./http2.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import {
  defaultTlsLimits,
  type SecureContexts,
  type ServingMaterial,
  secureContexts,
  type TlsLimits,
} from "./secure-contexts.ts";

/** Options of a listener. */
export interface ListenOptions {
  /** 0 chooses a free port. */
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly serving: ServingMaterial;
  readonly tls?: TlsLimits;
  /** False: all connections use HTTP/1.1. True by default. */
  readonly http2?: boolean;
  /** Whether other processes can listen on the same port (SO_REUSEPORT). */
  readonly reusePort?: boolean;
  /** Called for each request, in the order of their headers; must not throw. */
  readonly onExchange: (exchange: Exchange) => void;
  /**
   * Whether a request without a body may use its connection for another protocol; must not throw.
   * Others are served as if they had not requested it.
   */
  readonly acceptsUpgrade: (request: RequestedUpgrade) => boolean;
  readonly work?: WorkObserver;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits?: Partial<Limits>;
}

/** A listening port. */
export interface Listener {
  readonly port: number;
  /** The number of connections that failed before HTTP. */
  readonly handshakeErrors: number;
  /**
   * Uses new certificates for new connections. Existing connections keep theirs, except those whose
   * client certificate was rejected: they end after their open requests, because another handshake
   * may accept it.
   * @throws Error when a certificate does not match its key; the old ones remain in use
   */
  replaceCertificates(serving: ServingMaterial): void;
  /** From now on, neither the port nor its connections hold the process, until it is stopped. */
  unref(): void;
  /** Accepts no new connections; existing ones close after their open requests. */
  stop(): void;
  /**
   * Resolves when the HTTP/2 connections have ended after `stop`, or after this time. A client that
   * has sent a request meanwhile needs the GOAWAY frame to know that it was not processed.
   */
  ended(withinMs: number): Promise<void>;
  /** Closes all connections. */
  close(): Promise<void>;
}

const keepAliveMs = 15_000;

/**
 * Starts a listener.
 * @throws Error when the address is not available, or a certificate does not match its key
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const limits = { ...defaultLimits, ...options.limits };
  const parts = { ...options, limits };
  const http1 = createHttp1(parts);
  const http2 = createHttp2(parts);
  const sockets = new Set<Socket>();
  const { tls: tlsLimits = defaultTlsLimits, http2: hasHttp2 = true } = options;
  const http2Sockets = new Set<tls.TLSSocket>();
  let stopped = false;
  const accept = (socket: tls.TLSSocket): void => {
    if (socket.alpnProtocol !== "h2") return http1.accept(socket);
    track(socket, http2Sockets);
    http2.accept(socket);
    if (stopped) http2.stop();
  };
  let handshakeErrors = 0;
  const failed = (): void => void handshakeErrors++;
  const open = (serving: ServingMaterial): Handshakes =>
    openHandshakes(secureContexts(serving, tlsLimits), { hasHttp2, limits, accept, failed });
  let handshakes = open(options.serving);
  const server = net.createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs });
  server.maxConnections = limits.connectionsMax;
  server.on("connection", (socket: Socket) => {
    track(socket, sockets);
    handshakes.begin(socket);
  });
  await bind(server, options);
  // For example too many open files; later connections may succeed.
  server.on("error", (error) => options.logger.error("Failed to accept a connection", { err: error }));
  return {
    port: (server.address() as AddressInfo).port,
    get handshakeErrors() {
      return handshakeErrors;
    },
    replaceCertificates(serving) {
      handshakes = open(serving);
      http1.dropRejected();
      http2.dropRejected();
    },
    unref: () => unref(server, sockets),
    stop() {
      stopped = true;
      for (const socket of sockets) socket.ref(); // The process must not end before they have.
      server.close();
      http1.stop();
      http2.stop();
    },
    ended: (withinMs) => endedWithin(http2Sockets, realClock(options.clock), withinMs),
    close() {
      const closed = new Promise<void>((resolve) => (server.listening ? server.close(() => resolve()) : resolve()));
      http1.stop();
      http2.stop();
      for (const socket of sockets) socket.destroy();
      return closed;
    },
  };
}

/** Adds a socket to those that are open, until it closes. */
function track<Open extends Socket>(socket: Open, open: Set<Open>): void {
  open.add(socket);
  socket.once("close", () => open.delete(socket));
}

/** Neither the server nor its sockets, also later ones, hold the process. */
function unref(server: net.Server, sockets: Iterable<Socket>): void {
  server.unref();
  for (const socket of sockets) socket.unref();
  server.on("connection", (socket: Socket) => socket.unref());
}

function endedWithin(sockets: Iterable<Socket>, clock: Clock, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(withinMs, resolve);
    void allClosed(sockets).then(cancel).then(resolve);
  });
}

async function allClosed(sockets: Iterable<Socket>): Promise<void> {
  await Promise.all([...sockets].map((socket) => new Promise<void>((done) => socket.once("close", () => done()))));
}

function bind(
  server: net.Server,
  { host, port, reusePort = false }: Pick<ListenOptions, "host" | "port" | "reusePort">,
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, reusePort }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

interface Handshakes {
  begin(socket: Socket): void;
}

interface HandshakeOptions {
  readonly hasHttp2: boolean;
  readonly limits: Pick<Limits, "handshakeMs">;
  readonly accept: (socket: tls.TLSSocket) => void;
  readonly failed: () => void;
}

/**
 * TLS servers that never listen: one for all clients, and one for each address with a specific
 * certificate.
 */
function openHandshakes(
  { main, mainContext, byAddress, forName }: SecureContexts,
  { hasHttp2, limits, accept, failed }: HandshakeOptions,
): Handshakes {
  const choose = (otherwise: tls.SecureContext | undefined): tls.TlsOptions["SNICallback"] => {
    return (name, done) => done(null, forName?.(name) ?? otherwise);
  };
  const open = (secureOptions: tls.SecureContextOptions): tls.Server => {
    const server = tls.createServer({
      ...secureOptions,
      ALPNProtocols: hasHttp2 ? ["h2", "http/1.1"] : ["http/1.1"],
      handshakeTimeout: limits.handshakeMs,
      requestCert: secureOptions.ca !== undefined,
      // A request with a rejected certificate is answered with 401, which needs a connection.
      rejectUnauthorized: false,
      ...(forName !== undefined && { SNICallback: choose(secureOptions === main ? undefined : mainContext) }),
    });
    // Clients that disconnect, stall or do not trust the certificate are not logged.
    server.on("tlsClientError", (_error, socket) => {
      failed();
      socket.destroy();
    });
    server.on("secureConnection", accept);
    return server;
  };
  const ofAll = open(main);
  const ofAddress = new Map([...byAddress].map(([address, secureOptions]) => [address, open(secureOptions)]));
  return { begin: (socket) => void (ofAddress.get(socket.localAddress ?? "") ?? ofAll).emit("connection", socket) };
}
