/** HTTP/2 on connections that are through their TLS handshake. */
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

/** Bytes of request bodies that a client may send ahead: on one stream, and on all of a connection together. */
const streamWindow = 256 << 10;
const connectionWindow = 4 << 20;

export function createHttp2(parts: Parts): Protocol {
  const sessions = new Map<http2.ServerHttp2Session, Peer>();
  return {
    accept(socket) {
      const peer = peerOf(socket, parts.clock);
      const session = openSession(socket, peer, parts);
      sessions.set(session, peer);
      session.once("close", () => sessions.delete(session));
    },
    dropRefused() {
      for (const [session, { refused }] of sessions) if (refused) session.close();
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
  // Whatever is wrong with a connection ends it; each open stream hears of it by its own close.
  session.on("error", () => session.destroy());
  return session;
}

/** A quiet connection with watches on it is asked whether the client is still there. */
function checkAlive(session: http2.ServerHttp2Session, clock: Clock, pingMs: number): void {
  if (session.destroyed) return;
  const cancel = clock.after(pingMs, () => session.destroy());
  session.ping((error) => {
    cancel();
    if (error !== null) session.destroy();
  });
}
