/** HTTP/1.1 on connections after their TLS handshake. */
import type { IncomingMessage, ServerOptions, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import { realClock } from "../../apimachinery/clock.ts";
import type { Exchange } from "../../request/exchange.ts";
import type { RequestedUpgrade } from "./contract.ts";
import { Http1Exchange, targetOf } from "./http1-exchange.ts";
import type { Limits } from "./limits.ts";
import { endMalformed, endWith, type MalformedConnection } from "./malformed-requests.ts";
import { peerOf } from "./peer.ts";
import type { Connection, Protocol, ProtocolOptions } from "./protocol.ts";

/**
 * An import statement would load every export of the module, including its client, which takes a
 * sixth of the start time.
 */
const http = process.getBuiltinModule("node:http");

const timeoutChecksMax = 10_000;

/** Deno 2.9 breaks connections of `node:http` after one or two responses, without announcing it. */
const canKeepAlive = process.versions.deno === undefined;

/** What a `Host` header may consist of. Source: `ValidHostHeader` in `golang.org/x/net/http/httpguts`. */
const hostPattern = /^[\w!$%&'()*+,.:;=[\]~-]*$/;

interface Parts extends ProtocolOptions {
  /** Whether a request without a body may use its connection for another protocol. */
  readonly acceptsUpgrade: (request: RequestedUpgrade) => boolean;
}

interface OpenConnection extends Connection, MalformedConnection {
  /** The response to the latest request; those before it are sent first. */
  latest: ServerResponse | undefined;
  /** Accepts at most one more request. */
  ending: boolean;
}

/** Creates the HTTP/1.1 protocol of a listener. */
export function createHttp1({ limits, clock, onExchange, work, acceptsUpgrade }: Parts): Protocol {
  const connections = new WeakMap<TLSSocket, OpenConnection>();
  /**
   * Connections with a rejected client certificate: their requests without a token are answered
   * with 401.
   */
  const rejected = new Set<TLSSocket>();
  const begin = (exchange: Exchange): void => {
    work?.begins(exchange);
    onExchange(exchange);
  };
  const connectionOf = ({ socket }: IncomingMessage): OpenConnection =>
    connections.get(socket as TLSSocket) as OpenConnection;
  let stopped = false;
  const server = http.createServer(
    {
      ...serverLimits(limits),
      // Other upgrade requests, and those behind unanswered requests, are served without an
      // upgrade.
      shouldUpgradeCallback: (request) =>
        isUpgradable(request) &&
        connectionOf(request).latest?.writableFinished !== false &&
        acceptsUpgrade(requestedUpgrade(request)),
    },
    (request, response) => {
      const connection = connectionOf(request);
      connection.latest = response;
      const hostProblem = problemOfHost(request);
      if (hostProblem !== undefined) return rejectHost(response, hostProblem);
      response.shouldKeepAlive &&= canKeepAlive && !stopped && !connection.ending;
      begin(new Http1Exchange(request, response, connection));
    },
  );
  server.maxHeadersCount = limits.headersMax;
  // Runtimes without `shouldUpgradeCallback` call this for every request with `Upgrade`, and do not
  // read its body.
  server.on("upgrade", (request, duplex, head) => {
    const socket = duplex as TLSSocket; // All connections use TLS.
    socket.on("error", () => socket.destroy()); // The HTTP server has released it.
    const connection = connectionOf(request);
    if (connection.latest?.writableFinished === false) return void socket.destroy();
    if (!isUpgradable(request)) return endWith(socket, "400 Bad Request", connection);
    const upgrade = acceptsUpgrade(requestedUpgrade(request)) ? { socket, head } : undefined;
    begin(new Http1Exchange(request, responseOf(request, socket), connection, upgrade));
  });
  server.on("clientError", (error, socket) => endMalformed(error, socket, connections.get(socket as TLSSocket)));
  // The server never listens, but starts checking timeouts only after this event.
  server.emit("listening");
  return {
    accept(socket) {
      const { bodyMs, lingerMs } = limits;
      const peer = peerOf(socket, clock);
      const open = { latest: undefined, malformed: false, ending: false };
      connections.set(socket, { peer, clock: realClock(clock), bodyMs, lingerMs, work, ...open });
      if (peer.certificateRejected) {
        rejected.add(socket);
        socket.once("close", () => rejected.delete(socket));
      }
      server.emit("connection", socket);
    },
    dropRejected() {
      for (const socket of rejected) endAfterRequests(connections.get(socket) as OpenConnection);
    },
    stop() {
      stopped = true;
      server.close();
    },
  };
}

/** The limits that Node enforces. */
export function serverLimits({ headerBytesMax, headersMs, idleMs }: Limits): ServerOptions {
  return {
    maxHeaderSize: headerBytesMax,
    headersTimeout: headersMs,
    requestTimeout: 0, // The exchange limits the time of bodies, except those that are proxied.
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(headersMs, timeoutChecksMax),
    joinDuplicateHeaders: true,
  };
}

/** Accepts at most one more request, or none after one that is not answered. */
function endAfterRequests(connection: OpenConnection): void {
  connection.ending = true;
  if (connection.latest !== undefined && !connection.latest.headersSent) connection.latest.shouldKeepAlive = false;
}

function requestedUpgrade(request: IncomingMessage): RequestedUpgrade {
  const { method = "", headers } = request;
  return { method, target: targetOf(request), protocol: headers.upgrade?.toLowerCase() ?? "" };
}

function isUpgradable(request: IncomingMessage): boolean {
  const { headers, httpVersion } = request;
  if (httpVersion !== "1.1" || headers.host === undefined) return false; // The HTTP server rejects the latter.
  if (problemOfHost(request) !== undefined) return false;
  return (headers["content-length"] ?? "0") === "0" && headers["transfer-encoding"] === undefined;
}

/** Source: `readRequest` in Go's `net/http/server.go`, and RFC 9112 section 3.2. */
function problemOfHost({ headers, rawHeaders }: IncomingMessage): string | undefined {
  const { host } = headers;
  if (host === undefined) return undefined; // Of HTTP/1.0.
  // A proxy before this server may have used another one than this server would. Node joins them with commas.
  const isMany =
    host.includes(",") &&
    rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host").length > 1;
  if (isMany) return "too many Host headers";
  return hostPattern.test(host) ? undefined : "malformed Host header";
}

function rejectHost(response: ServerResponse, problem: string): void {
  const status = `Bad Request: ${problem}`;
  const text = `400 ${status}`;
  response.shouldKeepAlive = false;
  response.writeHead(400, status, { "content-type": "text/plain; charset=utf-8", "content-length": text.length });
  response.end(text);
}

/**
 * An ordinary response on a connection that the HTTP server has released; the last one of the
 * connection.
 */
function responseOf(request: IncomingMessage, socket: TLSSocket): ServerResponse {
  const response = new http.ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.on("finish", () => socket.destroySoon());
  return response;
}
