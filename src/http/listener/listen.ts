/** One TLS port that speaks HTTP/2 and HTTP/1.1, chosen by ALPN. */
import net, { type AddressInfo, type Socket } from "node:net";
import tls from "node:tls";
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { Exchange } from "../contract.ts";
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

export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly serving: ServingMaterial;
  readonly tls?: TlsLimits;
  /** Called for each request, in the turn its headers came in; must not throw. */
  readonly onExchange: (exchange: Exchange) => void;
  /** Whether a GET of this path and query may be answered over a WebSocket; must not throw. */
  readonly takesWebSocket: (target: string) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits?: Partial<Limits>;
}

export interface Listener {
  readonly port: number;
  /** Connections that came to nothing before they could speak HTTP, so far. */
  readonly handshakeErrors: number;
  /**
   * New connections get the new certificates. Those there keep theirs, but for those whose client certificate was found wrong: they end after what
   * is under way, for another handshake may find it right.
   * @throws Error when they do not fit; the old ones stay then
   */
  replaceCertificates(serving: ServingMaterial): void;
  /** Takes no new connections; those there are told to go once their requests are answered. */
  stop(): void;
  /** Cuts what is still open. */
  close(): Promise<void>;
}

/** One protocol: takes connections after their handshake. */
export interface Protocol {
  accept(socket: tls.TLSSocket): void;
  /** Ends the connections whose client certificate the handshake found wrong, once their open requests are answered. */
  dropRefused(): void;
  /** Lets open requests finish and closes each connection after its last one. */
  stop(): void;
}

const keepAliveMs = 15_000;

/** @throws Error when the address cannot be had, or the certificate and the key do not fit */
export async function listen(options: ListenOptions): Promise<Listener> {
  const limits = { ...defaultLimits, ...options.limits };
  const parts = { ...options, limits };
  const http1 = createHttp1(parts);
  const http2 = createHttp2(parts);
  const sockets = new Set<Socket>();
  const { tls: tlsLimits = defaultTlsLimits } = options;
  const accept = (socket: tls.TLSSocket): void => (socket.alpnProtocol === "h2" ? http2 : http1).accept(socket);
  let handshakeErrors = 0;
  const open = (serving: ServingMaterial): Handshakes =>
    openHandshakes(secureContexts(serving, tlsLimits), {
      handshakeMs: limits.handshakeMs,
      accept,
      failed: () => void handshakeErrors++,
    });
  let handshakes = open(options.serving);
  const server = net.createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs });
  server.maxConnections = limits.connectionsMax;
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    handshakes.begin(socket);
  });
  await bind(server, options);
  // Such as too many open files: the next connection may be taken again.
  server.on("error", (error) => options.logger.error("a connection could not be accepted", { err: error }));
  return {
    port: (server.address() as AddressInfo).port,
    get handshakeErrors() {
      return handshakeErrors;
    },
    replaceCertificates(serving) {
      handshakes = open(serving);
      http1.dropRefused();
      http2.dropRefused();
    },
    stop() {
      server.close();
      http1.stop();
      http2.stop();
    },
    close() {
      const closed = new Promise<void>((resolve) => (server.listening ? server.close(() => resolve()) : resolve()));
      http1.stop();
      http2.stop();
      for (const socket of sockets) socket.destroy();
      return closed;
    },
  };
}

function bind(server: net.Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

interface Handshakes {
  begin(socket: Socket): void;
}

interface HandshakeOptions {
  readonly handshakeMs: number;
  readonly accept: (socket: tls.TLSSocket) => void;
  readonly failed: () => void;
}

/** Servers of TLS that never listen themselves: one for all clients, and one for each address that has a certificate of its own. */
function openHandshakes(
  { main, mainContext, byAddress, forName }: SecureContexts,
  { handshakeMs, accept, failed }: HandshakeOptions,
): Handshakes {
  const choose = (otherwise: tls.SecureContext | undefined): tls.TlsOptions["SNICallback"] => {
    return (name, done) => done(null, forName?.(name) ?? otherwise);
  };
  const open = (secureOptions: tls.SecureContextOptions): tls.Server => {
    const server = tls.createServer({
      ...secureOptions,
      ALPNProtocols: ["h2", "http/1.1"],
      handshakeTimeout: handshakeMs,
      requestCert: secureOptions.ca !== undefined,
      // A request with a wrong certificate is answered with 401, which needs a connection.
      rejectUnauthorized: false,
      ...(forName !== undefined && { SNICallback: choose(secureOptions === main ? undefined : mainContext) }),
    });
    // Clients that hang up, stall or do not trust us are no news.
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
