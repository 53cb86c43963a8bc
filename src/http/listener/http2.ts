/** HTTP/2 on connections after their TLS handshake. */
import http2 from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../apimachinery/clock.ts";
import type { Exchange } from "../contract.ts";
import { Http2Exchange } from "./http2-exchange.ts";
import type { Limits } from "./limits.ts";
import type { Protocol } from "./listen.ts";
import { type Peer, peerOf } from "./peer.ts";

interface Parts {
  readonly limits: Limits;
  readonly clock: Clock;
  readonly onExchange: (exchange: Exchange) => void;
}

/** Flow control windows for request bodies, in bytes: per stream and per connection. */
const streamWindow = 256 << 10;
const connectionWindow = 4 << 20;

/** Creates the HTTP/2 protocol of a listener. */
export function createHttp2(parts: Parts): Protocol {
  const sessions = new Map<http2.ServerHttp2Session, Peer>();
  return {
    accept(socket) {
      const peer = peerOf(socket, parts.clock);
      const session = openSession(socket, peer, parts);
      sessions.set(session, peer);
      session.once("close", () => sessions.delete(session));
    },
    dropRejected() {
      for (const [session, { certificateRejected }] of sessions) if (certificateRejected) session.close();
    },
    stop() {
      for (const session of sessions.keys()) session.close();
    },
  };
}

function openSession(socket: TLSSocket, peer: Peer, { limits, clock, onExchange }: Parts): http2.ServerHttp2Session {
  const about = { peer, clock, bodyMs: limits.bodyMs, lingerMs: limits.lingerMs };
  const session = http2.performServerHandshake(socket, {
    settings: {
      maxConcurrentStreams: limits.streamsMax,
      maxHeaderListSize: limits.headerBytesMax,
      initialWindowSize: streamWindow,
      enablePush: false,
    },
    maxHeaderListPairs: limits.headersMax,
    maxSessionMemory: limits.sessionMiBMax,
  });
  session.setLocalWindowSize(connectionWindow);
  let open = 0;
  session.on("stream", (stream, headers, _flags, rawHeaders) => {
    open++;
    const exchange = new Http2Exchange(stream, headers, rawHeaders, about);
    exchange.onClose(() => {
      open--;
    });
    onExchange(exchange);
  });
  session.setTimeout(limits.idleMs, () => (open === 0 ? session.close() : checkAlive(session, clock, limits.pingMs)));
  // Any error ends the connection; open streams are notified by their close.
  session.on("error", () => session.destroy());
  return session;
}

/** Pings the client of a quiet connection with open watches. */
function checkAlive(session: http2.ServerHttp2Session, clock: Clock, pingMs: number): void {
  if (session.destroyed) return;
  const cancel = clock.after(pingMs, () => session.destroy());
  session.ping((error) => {
    cancel();
    if (error !== null) session.destroy();
  });
}
