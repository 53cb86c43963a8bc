/** HTTP/1.1 on connections that are through their TLS handshake. */
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../api/clock.ts";
import type { Exchange } from "../contract.ts";
import { Http1Exchange } from "./http1-exchange.ts";
import type { Limits } from "./limits.ts";
import type { Protocol } from "./listen.ts";
import { type Peer, peerOf } from "./peer.ts";

/** An import statement would load every export of the module, a whole HTTP client among them: a sixth of what a start may take. */
const http = process.getBuiltinModule("node:http");

const timeoutChecksMax = 10_000;

export function createHttp1({ limits, clock, onExchange }: { limits: Limits; clock: Clock; onExchange: (exchange: Exchange) => void }): Protocol {
  const peers = new WeakMap<TLSSocket, Peer>();
  let stopped = false;
  const server = http.createServer(
    {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.headersMs + limits.bodyMs,
      keepAliveTimeout: limits.idleMs,
      connectionsCheckingInterval: Math.min(limits.headersMs, timeoutChecksMax),
      joinDuplicateHeaders: true,
    },
    (request, response) => {
      const peer = peers.get(request.socket as TLSSocket) as Peer;
      response.shouldKeepAlive &&= !stopped;
      onExchange(new Http1Exchange(request, response, { peer, clock, bodyMs: limits.bodyMs }));
    },
  );
  server.maxHeadersCount = limits.headersMax;
  // This server never listens itself, and watches over its timeouts only from this event on.
  server.emit("listening");
  return {
    accept(socket) {
      peers.set(socket, peerOf(socket, clock));
      server.emit("connection", socket);
    },
    stop() {
      stopped = true;
      server.close();
    },
  };
}
