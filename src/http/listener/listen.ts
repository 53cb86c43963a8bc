/** One TLS port that speaks HTTP/2 and HTTP/1.1, chosen by ALPN. */
import { constants } from "node:crypto";
import type { AddressInfo, Socket } from "node:net";
import tls from "node:tls";
import type { Clock } from "../../api/clock.ts";
import type { Logger } from "../../api/logger.ts";
import type { Exchange } from "../contract.ts";
import { createHttp1 } from "./http1.ts";
import { createHttp2 } from "./http2.ts";
import { defaultLimits, type Limits } from "./limits.ts";

export interface ServingCertificate {
  /** PEM, the leaf first. */
  readonly cert: string;
  readonly key: string;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly certificate: ServingCertificate;
  /** PEM bundle that client certificates must chain to; undefined: none is asked for. */
  readonly clientCa: string | undefined;
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
  /** New connections get the new certificates. */
  replaceCertificates(certificate: ServingCertificate, clientCa: string | undefined): void;
  /** Takes no new connections; those there are told to go once their requests are answered. */
  stop(): void;
  /** Cuts what is still open. */
  close(): Promise<void>;
}

/** One protocol: takes connections after their handshake. */
export interface Protocol {
  accept(socket: tls.TLSSocket): void;
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
  const server = tls.createServer({
    ...secureOptions(options.certificate, options.clientCa),
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: limits.handshakeMs,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMs,
  });
  server.maxConnections = limits.connectionsMax;
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  // Clients that hang up, stall or do not trust us are no news.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  server.on("secureConnection", (socket) => (socket.alpnProtocol === "h2" ? http2 : http1).accept(socket));
  await bind(server, options);
  // Such as too many open files: the next connection may be taken again.
  server.on("error", (error) => options.logger.error("a connection could not be accepted", { err: error }));
  return {
    port: (server.address() as AddressInfo).port,
    replaceCertificates: (certificate, clientCa) => server.setSecureContext(secureOptions(certificate, clientCa)),
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

function bind(server: tls.Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Sessions are not resumed, so that every connection shows its client certificate and the chain that leads from it. */
function secureOptions(certificate: ServingCertificate, clientCa: string | undefined): tls.TlsOptions {
  return {
    cert: certificate.cert,
    key: certificate.key,
    minVersion: "TLSv1.2",
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_CIPHER_SERVER_PREFERENCE,
    requestCert: clientCa !== undefined,
    // A request with a wrong certificate is answered with 401, which needs a connection.
    rejectUnauthorized: false,
    ...(clientCa !== undefined && { ca: clientCa }),
  };
}
