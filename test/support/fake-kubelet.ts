/**
 * A kubelet for tests: logs, and the streams of exec, attach and portforward over SPDY and WebSockets.
 * The container, the command or the port selects what it does. Source of its protocol:
 * k8s.io/cri-streaming@v0.36.0.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { SpdyConnection, type SpdyStream } from "../../src/lib/spdy/connection.ts";
import { createAuthority, issueCertificate, type KeyPair } from "../../src/server/serving/x509.ts";

/** A request that the kubelet received. */
export interface KubeletRequest {
  readonly method: string;
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The common name of the client's certificate; empty without one. */
  readonly clientName: string;
}

export interface FakeKubelet {
  readonly port: number;
  /** PEM of the authority of its serving certificate. */
  readonly ca: string;
  /** A client certificate that it accepts. */
  readonly client: KeyPair;
  readonly requests: KubeletRequest[];
  /** Bytes of endless output that were written, to show that a writer waits. */
  flooded(): number;
  /** Received pings of commands over SPDY. */
  pings(): number;
  openConnections(): number;
  /** Closes all connections. */
  disconnect(): void;
  close(): Promise<void>;
}

interface FakeKubeletOptions {
  readonly host?: string;
  readonly port?: number;
  /** Names and addresses in the serving certificate. */
  readonly names?: readonly string[];
}

const hour = 3_600_000;

export async function startFakeKubelet({
  host = "127.0.0.1",
  port: desiredPort = 0,
  names = [host],
}: FakeKubeletOptions = {}): Promise<FakeKubelet> {
  const validity = { notBefore: Date.now() - hour, notAfter: Date.now() + 24 * hour };
  const authority = await createAuthority({ subject: { commonName: "kubelets" }, ...validity });
  const serving = await issueCertificate(authority, {
    subject: { commonName: "kubelet" },
    usage: "server",
    names,
    ...validity,
  });
  const subject = { commonName: "kubelet-client", organizations: ["system:masters"] };
  const client = await issueCertificate(authority, { subject, usage: "client", names: [], ...validity });
  const requests: KubeletRequest[] = [];
  const state: State = { flooded: 0, pings: 0 };
  const server = https.createServer({
    ...serving,
    ca: authority.cert,
    requestCert: true,
    rejectUnauthorized: false,
    ALPNProtocols: ["http/1.1"],
  });
  const record = (request: IncomingMessage): void => {
    const { subject } = (request.socket as import("node:tls").TLSSocket).getPeerCertificate();
    const clientName = (subject?.CN as string | undefined) ?? "";
    requests.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, clientName });
  };
  server.on("request", (request, response) => {
    record(request);
    serveRequest(request, response, state);
  });
  server.on("upgrade", (request, socket, head) => {
    record(request);
    socket.on("error", () => socket.destroy());
    serveUpgrade(request, socket, head, state);
  });
  server.on("secureConnection", (socket) => socket.on("error", () => socket.destroy()));
  await new Promise<void>((resolve) => server.listen(desiredPort, host, resolve));
  const sockets = new Set<Duplex>();
  server.on("secureConnection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  const disconnect = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const { port } = server.address() as AddressInfo;
  return {
    port,
    ca: authority.cert,
    client,
    requests,
    flooded: () => state.flooded,
    pings: () => state.pings,
    openConnections: () => sockets.size,
    disconnect,
    close() {
      disconnect();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

interface State {
  flooded: number;
  pings: number;
}

/** The parts of a path such as `/exec/NAMESPACE/POD/CONTAINER`. */
function targetOf({ url = "" }: IncomingMessage): { kind: string; what: string; query: URLSearchParams } {
  const { pathname, searchParams: query } = new URL(url, "https://kubelet");
  const [kind = "", , , container = ""] = pathname.slice(1).split("/");
  const [command = ""] = query.getAll("command");
  return { kind, what: kind === "exec" ? command : container, query };
}

/** Logs, and the errors of requests for streams that are no upgrades. */
function serveRequest(request: IncomingMessage, response: ServerResponse, state: State): void {
  const { kind, what, query } = targetOf(request);
  const [, status] = /^status-(\d+)$/.exec(what) ?? [];
  if (status !== undefined) {
    response.writeHead(Number(status), { "content-type": "text/plain", "x-kubelet": "1" });
    response.end(`the kubelet answers ${status}\n`);
    return;
  }
  if (kind !== "containerLogs") {
    response.writeHead(400, { "content-type": "text/plain; charset=utf-8" });
    response.end("unable to upgrade: the kubelet needs an upgrade\n");
    return;
  }
  switch (what) {
    case "hang":
      return;
    case "garbage":
      request.socket.end("not HTTP\r\n\r\n");
      return;
    case "redirect":
      response.writeHead(302, { location: "https://example.com/a?b=c" }).end();
      return;
    case "long-error":
      response.writeHead(500).end("x".repeat(60_000));
      return;
    case "die":
      response.writeHead(200, { "content-length": "100" });
      response.write("half of ", () => request.socket.destroy());
      return;
    case "die-early":
      request.socket.destroy();
      return;
    case "flood":
      response.writeHead(200, { "content-type": "text/plain" });
      return flood(response, state);
    case "follow":
      response.writeHead(200, { "content-type": "text/plain" });
      response.write("first\n");
      return;
    case "typed":
      response.writeHead(200, { "content-type": "application/json", "x-kubelet": "1", "set-cookie": "a=b" });
      response.end("{}\n");
      return;
    case "empty":
      response.writeHead(200).end();
      return;
    default:
      response.writeHead(200, { "content-type": "text/plain" });
      response.end(`${request.method} ${request.url}\n${query.size} parameters\n`);
  }
}

const floodPiece = Buffer.alloc(64 << 10, "0123456789abcde\n");

/** Writes until the peer disconnects, no faster than it reads. */
function flood(to: NodeJS.WritableStream & { readonly destroyed?: boolean }, state: State): void {
  const more = (): void => {
    if (to.destroyed) return;
    let accepts = true;
    while (accepts && !to.destroyed) {
      accepts = to.write(floodPiece);
      state.flooded += floodPiece.length;
    }
  };
  to.on("drain", more);
  more();
}

function serveUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, state: State): void {
  const { what } = targetOf(request);
  const [, status] = /^status-(\d+)$/.exec(what) ?? [];
  if (status !== undefined) {
    const text = `the kubelet answers ${status}\n`;
    socket.end(
      `HTTP/1.1 ${status} No\r\nContent-Type: text/plain\r\nX-Kubelet: 1\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
    );
    return;
  }
  if (what === "hang-early") return void socket.resume();
  if (what === "die-early") return void socket.destroy();
  if (what === "garbage-early") return void socket.end("not HTTP\r\n\r\n");
  if (what === "other-protocol") {
    socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n");
    return;
  }
  if (request.headers.upgrade?.toLowerCase() === "websocket") return serveWebSocket(request, socket, head);
  const protocol = negotiate(request);
  if (protocol === undefined) {
    const text = "unable to upgrade: unable to negotiate protocol\n";
    socket.end(
      `HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
    );
    return;
  }
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
  );
  if (what === "garbage") return void socket.write("\x80 is not a frame of SPDY");
  if (what === "hang") return void socket.resume();
  if (targetOf(request).kind === "portForward") return forwardPorts(socket, head);
  return serveStreams(request, socket, head, state);
}

const commandProtocols = ["v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io"];

/** The first protocol of the client that this kubelet knows. */
function negotiate(request: IncomingMessage): string | undefined {
  const known = targetOf(request).kind === "portForward" ? ["portforward.k8s.io"] : commandProtocols;
  const offered = String(request.headers["x-stream-protocol-version"] ?? "")
    .split(",")
    .map((name) => name.trim());
  return offered.find((name) => known.includes(name));
}

/** The version and the type of a ping of SPDY. */
const pingHead = Buffer.from([0x80, 3, 0, 6]);

type Streams = ReadonlyMap<string, Duplex>;

/** Waits for the streams that the query announces, and runs the command. */
function serveStreams(request: IncomingMessage, socket: Duplex, head: Buffer, state: State): void {
  const { kind, query } = targetOf(request);
  const has = (name: string): boolean => query.get(name) === "1";
  const expected = [
    "error",
    ...(has("input") ? ["stdin"] : []),
    ...(has("output") ? ["stdout"] : []),
    ...(has("error") && !has("tty") ? ["stderr"] : []),
    ...(has("tty") ? ["resize"] : []),
  ];
  const streams = new Map<string, Duplex>();
  socket.on("data", (piece: Buffer) => {
    if (piece.indexOf(pingHead) === 0) state.pings++; // It is sent alone, when a timer runs.
  });
  const words = kind === "attach" ? ["cat"] : query.getAll("command");
  const connection = new SpdyConnection(socket, head, {
    role: "server",
    onStream({ headers, data }) {
      if (words[0] === "refuse") return false;
      streams.set(headers.get("streamtype")?.[0] ?? "", data);
      // After the reply was sent.
      if (expected.every((name) => streams.has(name)))
        setImmediate(() => runCommand(words, streams, { socket, connection, state }));
      return true;
    },
  });
}

interface Parts {
  readonly socket: Duplex;
  readonly connection: SpdyConnection;
  readonly state: State;
}

function runCommand([command, ...words]: readonly string[], streams: Streams, parts: Parts): void {
  const { stdin, stdout, stderr, resize } = Object.fromEntries(streams) as Record<string, Duplex | undefined>;
  const finish = (status: object): void => {
    stdout?.end();
    stderr?.end();
    (streams.get("error") as Duplex).end(JSON.stringify(status));
  };
  switch (command) {
    case "cat":
      stdin?.on("data", (piece) => stdout?.write(piece));
      stdin?.on("end", () => finish(success));
      return;
    case "both":
      stdout?.write("out\n");
      stderr?.write("err\n");
      return finish(success);
    case "exit":
      return finish(exitStatus(words[0] ?? ""));
    case "fail":
      return finish({ metadata: {}, status: "Failure", message: words.join(" "), reason: "InternalError", code: 500 });
    case "answer":
      stdout?.end();
      stderr?.end();
      (streams.get("error") as Duplex).end(words.join(" "));
      return;
    case "sizes": {
      let left = Number(words[0]);
      resize?.on("data", (piece) => {
        stdout?.write(piece);
        left -= String(piece).split("\n").length - 1;
        if (left === 0) finish(success);
      });
      return;
    }
    case "flood":
      return flood(stdout as Duplex, parts.state);
    case "wait":
      stdout?.write("waiting\n");
      return;
    case "die":
      stdout?.write("half\n", () => setImmediate(() => parts.socket.destroy()));
      return;
    case "reset":
      stdout?.write("half\n", () => {
        for (const stream of streams.values()) stream.destroy();
      });
      return;
    case "late-garbage":
      stdout?.write("half\n", () => parts.socket.write("\x80 is not a frame of SPDY"));
      return;
    default:
      stdout?.write(`${[command, ...words].join(" ")}\n`);
      return finish(success);
  }
}

const success = { metadata: {}, status: "Success" };

function exitStatus(code: string): object {
  return {
    metadata: {},
    status: "Failure",
    message: `command terminated with non-zero exit code: exit status ${code}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: code }] },
  };
}

/** Echoes the data of each pair of streams; port 1 fails. */
function forwardPorts(socket: Duplex, head: Buffer): void {
  const pairs = new Map<string, Map<string, SpdyStream>>();
  new SpdyConnection(socket, head, {
    role: "server",
    onStream(stream) {
      const id = stream.headers.get("requestid")?.[0] ?? "";
      const pair = pairs.get(id) ?? new Map<string, SpdyStream>();
      pairs.set(id, pair.set(stream.headers.get("streamtype")?.[0] ?? "", stream));
      const [error, data] = [pair.get("error"), pair.get("data")];
      if (error !== undefined && data !== undefined) setImmediate(() => forwardPort(error, data));
      return true;
    },
  });
}

function forwardPort(error: SpdyStream, data: SpdyStream): void {
  const port = data.headers.get("port")?.[0];
  if (port === "1") {
    error.data.end("error forwarding port 1 to pod: refused");
    data.data.destroy();
    return;
  }
  data.data.on("data", (piece) => data.data.write(piece));
  data.data.on("end", () => {
    data.data.end();
    error.data.end();
  });
}

/** Channel 0 comes back on channel 1, in any of the protocols that clients of kubelets request. */
function serveWebSocket(request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const server = new WebSocketServer({ noServer: true, handleProtocols: ([first]) => first ?? false });
  server.handleUpgrade(request, socket as import("node:net").Socket, head, (webSocket) => {
    webSocket.send(Buffer.from([1]));
    webSocket.on("message", (message: Buffer) => {
      webSocket.send(Buffer.concat([Buffer.from([1]), message.subarray(1)]));
      webSocket.send(Buffer.concat([Buffer.from([3]), Buffer.from(JSON.stringify(success))]));
      webSocket.close(1000);
    });
  });
}
