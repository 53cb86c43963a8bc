/** HTTP/1.1 on connections that are through their TLS handshake. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../apimachinery/clock.ts";
import type { Exchange } from "../contract.ts";
import { Http1Exchange, targetOf } from "./http1-exchange.ts";
import type { Connection } from "./http2-exchange.ts";
import type { Limits } from "./limits.ts";
import type { Protocol } from "./listen.ts";
import { peerOf } from "./peer.ts";

/** An import statement would load every export of the module, a whole HTTP client among them: a sixth of what a start may take. */
const http = process.getBuiltinModule("node:http");

const timeoutChecksMax = 10_000;

interface Parts {
  readonly limits: Limits;
  readonly clock: Clock;
  readonly onExchange: (exchange: Exchange) => void;
  /** Whether a GET of this path and query may be answered over a WebSocket. */
  readonly takesWebSocket: (target: string) => boolean;
}

interface OpenConnection extends Connection {
  /** To the latest request; those before it are answered first. */
  latest: ServerResponse | undefined;
  /** Takes no request after the one that comes next, if any. */
  ending: boolean;
}

export function createHttp1({ limits, clock, onExchange, takesWebSocket }: Parts): Protocol {
  const connections = new WeakMap<TLSSocket, OpenConnection>();
  /** Few and short-lived: each request on them is answered with 401, unless it has a token, too. */
  const refused = new Set<TLSSocket>();
  const connectionOf = ({ socket }: IncomingMessage): OpenConnection =>
    connections.get(socket as TLSSocket) as OpenConnection;
  let stopped = false;
  const server = http.createServer(
    {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.headersMs + limits.bodyMs,
      keepAliveTimeout: limits.idleMs,
      connectionsCheckingInterval: Math.min(limits.headersMs, timeoutChecksMax),
      joinDuplicateHeaders: true,
      // Other requests to upgrade, and those behind others that are not answered yet, are served as if they had not asked.
      shouldUpgradeCallback: (request) =>
        isForWebSocket(request) &&
        connectionOf(request).latest?.writableFinished !== false &&
        takesWebSocket(targetOf(request)),
    },
    (request, response) => {
      const connection = connectionOf(request);
      connection.latest = response;
      response.shouldKeepAlive &&= !stopped && !connection.ending;
      onExchange(new Http1Exchange(request, response, connection));
    },
  );
  server.maxHeadersCount = limits.headersMax;
  server.on("upgrade", (request, duplex, head) => {
    const socket = duplex as TLSSocket; // As it has no body.
    onExchange(new Http1Exchange(request, responseOf(request, socket), connectionOf(request), { socket, head }));
  });
  // This server never listens itself, and watches over its timeouts only from this event on.
  server.emit("listening");
  return {
    accept(socket) {
      const { bodyMs, lingerMs } = limits;
      const peer = peerOf(socket, clock);
      connections.set(socket, { peer, clock, bodyMs, lingerMs, latest: undefined, ending: false });
      if (peer.refused) {
        refused.add(socket);
        socket.once("close", () => refused.delete(socket));
      }
      server.emit("connection", socket);
    },
    dropRefused() {
      for (const socket of refused) {
        const connection = connections.get(socket) as OpenConnection;
        connection.ending = true;
        if (connection.latest !== undefined && !connection.latest.headersSent)
          connection.latest.shouldKeepAlive = false;
      }
    },
    stop() {
      stopped = true;
      server.close();
    },
  };
}

function isForWebSocket({ method, headers, httpVersion }: IncomingMessage): boolean {
  if (method !== "GET" || httpVersion !== "1.1" || headers.upgrade?.toLowerCase() !== "websocket") return false;
  if (headers.host === undefined) return false; // Which the HTTP server refuses.
  return (headers["content-length"] ?? "0") === "0" && headers["transfer-encoding"] === undefined;
}

/** For an ordinary answer, the last one of a connection that the HTTP server has let go of. */
function responseOf(request: IncomingMessage, socket: TLSSocket): ServerResponse {
  const response = new http.ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.on("finish", () => socket.destroySoon());
  socket.on("error", () => socket.destroy());
  return response;
}
