/** One TLS port that speaks HTTP/2 and HTTP/1.1, chosen by ALPN. */

import { constants } from "node:crypto";
import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import tls from "node:tls";
import type { Exchange } from "../contract.ts";
import { Http1Exchange } from "./http1-exchange.ts";
import { Http2Exchange } from "./http2-exchange.ts";
import { type Peer, peerOf } from "./peer.ts";

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
  readonly onExchange: (exchange: Exchange) => void;
}

export interface Listener {
  readonly port: number;
  /** New connections get the new certificates. */
  replaceCertificates(certificate: ServingCertificate, clientCa: string | undefined): void;
  /** Takes no new connections; those there are told to go once they are idle. */
  stop(): void;
  /** Cuts what is still open. */
  close(): Promise<void>;
}

const handshakeTimeoutMs = 10_000;
/** How long a client may take to send a request's headers. */
const headersTimeoutMs = 32_000;
/** A connection without a request is closed after so long. */
const idleTimeoutMs = 90_000;
const keepAliveMs = 15_000;
const headerBytesMax = 1 << 20;
const headerPairsMax = 2000;
const streamsMax = 1000;

/** @throws Error when the address cannot be had */
export async function listen(options: ListenOptions): Promise<Listener> {
  const sockets = new Set<Socket>();
  const sessions = new Set<http2.ServerHttp2Session>();
  const plain = http.createServer(
    {
      maxHeaderSize: headerBytesMax,
      headersTimeout: headersTimeoutMs,
      requestTimeout: 0,
      keepAliveTimeout: idleTimeoutMs,
      joinDuplicateHeaders: true,
    },
    (request, response) => options.onExchange(new Http1Exchange(request, response, peerOfSocket(request.socket as tls.TLSSocket))),
  );
  plain.maxHeadersCount = headerPairsMax;
  const server = tls.createServer({
    ...secureOptions(options.certificate, options.clientCa),
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: handshakeTimeoutMs,
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, keepAliveMs);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  server.on("secureConnection", (socket) => {
    if (socket.alpnProtocol === "h2") openSession(socket, sessions, options.onExchange);
    else plain.emit("connection", socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    replaceCertificates: (certificate, clientCa) => server.setSecureContext(secureOptions(certificate, clientCa)),
    stop() {
      server.close();
      for (const session of sessions) session.close();
      plain.closeIdleConnections();
    },
    close() {
      const closed = new Promise<void>((resolve) => (server.listening ? server.close(() => resolve()) : resolve()));
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
      return closed;
    },
  };
}

/** Sessions are not resumed, so that every connection shows its client certificate. */
function secureOptions(certificate: ServingCertificate, clientCa: string | undefined): tls.TlsOptions {
  return {
    cert: certificate.cert,
    key: certificate.key,
    minVersion: "TLSv1.2",
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_CIPHER_SERVER_PREFERENCE,
    requestCert: clientCa !== undefined,
    rejectUnauthorized: false,
    ...(clientCa !== undefined && { ca: clientCa }),
  };
}

function openSession(socket: tls.TLSSocket, sessions: Set<http2.ServerHttp2Session>, onExchange: (exchange: Exchange) => void): void {
  const peer = peerOfSocket(socket);
  const session = http2.performServerHandshake(socket, {
    settings: { maxConcurrentStreams: streamsMax, maxHeaderListSize: headerBytesMax, initialWindowSize: 256 * 1024, enablePush: false },
    maxHeaderListPairs: headerPairsMax,
    maxSessionMemory: 64,
    maxSettings: 64,
  });
  sessions.add(session);
  session.setLocalWindowSize(4 << 20);
  let streams = 0;
  session.on("stream", (stream, headers) => {
    streams++;
    stream.once("close", () => streams--);
    onExchange(new Http2Exchange(stream, headers, peer));
  });
  session.setTimeout(idleTimeoutMs, () => {
    if (streams === 0) session.close();
  });
  session.on("error", () => session.destroy());
  session.on("close", () => sessions.delete(session));
}

const peers = new WeakMap<tls.TLSSocket, Peer>();

/** Looked up once per connection. */
function peerOfSocket(socket: tls.TLSSocket): Peer {
  let peer = peers.get(socket);
  if (peer === undefined) {
    peer = peerOf(socket);
    peers.set(socket, peer);
  }
  return peer;
}
