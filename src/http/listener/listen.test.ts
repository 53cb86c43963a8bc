import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import net from "node:net";
import { after, before, describe, type TestContext, test } from "node:test";
import tls from "node:tls";
import { peerLatency } from "../../../test/support/peer-latency.ts";
import { until } from "../../../test/support/until.ts";
import { type Clock, systemClock } from "../../apimachinery/clock.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import { type Authorities, parseAuthorities } from "../../lib/x509/authorities.ts";
import type { BodyStream, Exchange } from "../../request/exchange.ts";
import { type Certificates, createCertificates } from "../../server/serving/certificates.ts";
import type { Limits } from "./limits.ts";
import { type Listener, listen } from "./listen.ts";

const silent = { info() {}, warn() {}, error() {} };
const bodyBytesMax = 1000;
let certificates: Certificates;
let authorities: Authorities;
before(async () => {
  certificates = await createCertificates({ now: Date.now(), names: ["127.0.0.1"] });
  authorities = parseAuthorities(certificates.ca.cert);
});

/** What the server under test does, by path. */
function answerer(streams: BodyStream[]): (exchange: Exchange) => void {
  return (exchange) => {
    const { pathname } = new URL(exchange.target, "https://x");
    const say = (status: number, value: unknown): void =>
      exchange.respond(status, { "content-type": "application/json" }, Buffer.from(JSON.stringify(value)));
    if (pathname === "/about") {
      const { method, target, protocol, remote, peerCertificate } = exchange;
      const peer = peerCertificate && { ...peerCertificate, verified: peerCertificate.isTrustedBy(authorities) };
      return say(200, {
        method,
        target,
        protocol,
        remoteAddress: remote.address,
        peerCertificate: peer,
        a: exchange.header("x-a"),
      });
    }
    if (pathname === "/forget") {
      exchange.forgetHeaders((name) => name.startsWith("x-secret"));
      const { rawHeaders } = exchange;
      return say(200, {
        secret: exchange.header("x-secret"),
        kept: exchange.header("x-kept"),
        lines: rawHeaders.filter((_, at) => at % 2 === 0),
      });
    }
    if (pathname === "/last") {
      exchange.endConnection();
      return say(200, {});
    }
    if (pathname === "/unread") return say(403, {});
    if (pathname === "/echo") return void echo(exchange);
    if (pathname === "/upgrade") {
      const { upgrade } = exchange;
      if (upgrade === undefined) return say(200, { upgrade: null });
      const socket = upgrade.take(101);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${upgrade.protocol}\r\n\r\n`);
      streams.push(exchange.stream(200, {}));
      exchange.onClose(() => streams.pop());
      return void socket.pipe(socket);
    }
    if (pathname === "/late") {
      say(504, {});
      exchange.stream(200, {}).write(Buffer.from("late"));
      return say(200, { late: true });
    }
    if (pathname === "/empty") return exchange.respond(204, {});
    if (pathname === "/watch") {
      const begin = (stream: BodyStream): void => {
        streams.push(stream);
        exchange.onClose(() => streams.splice(streams.indexOf(stream), 1));
        stream.write(Buffer.from("first\n"));
      };
      const { webSocket } = exchange;
      if (webSocket === undefined) begin(exchange.stream(200, { "content-type": "application/json" }));
      else void webSocket.accept(undefined).then(begin);
      return;
    }
    exchange.body(bodyBytesMax).then(
      (body) => say(200, { length: body.length, text: body.toString() }),
      (error: unknown) => (error instanceof ApiError ? say(error.status.code, error.status) : say(500, String(error))),
    );
  };
}

/** Sends each piece of the body back, or the first one alone. */
async function echo(exchange: Exchange): Promise<void> {
  const pieces = exchange.bodyPieces();
  const body = exchange.stream(200, { "x-body": String(exchange.hasBody) });
  try {
    for await (const piece of pieces) {
      if (!body.write(piece)) await body.drained();
      if (exchange.target.endsWith("?first")) break;
    }
    body.end();
  } catch {
    body.abort();
  }
}

async function open({
  limits,
  clock = systemClock,
  onExchange,
}: {
  limits?: Partial<Limits>;
  clock?: Clock;
  onExchange?: (exchange: Exchange) => void;
} = {}): Promise<Listener & { streams: BodyStream[] }> {
  const streams: BodyStream[] = [];
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    serving: { certificate: certificates.serving, named: [], clientCa: certificates.ca.cert },
    onExchange: onExchange ?? answerer(streams),
    acceptsUpgrade: ({ method, target, protocol }) =>
      target.startsWith("/upgrade") || (method === "GET" && protocol === "websocket" && target.startsWith("/watch")),
    clock,
    logger: silent,
    ...(limits && { limits }),
  });
  return { ...listener, streams };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Record<string, unknown>;
}
type Send = (method: string, path: string, headers?: Record<string, string>, body?: Buffer) => Promise<Answer>;

const withCertificate = (): tls.ConnectionOptions => ({
  ca: certificates.ca.cert,
  cert: certificates.admin.cert,
  key: certificates.admin.key,
});

function overHttp2(
  port: number,
  credentials: tls.ConnectionOptions = withCertificate(),
): { send: Send; session: http2.ClientHttp2Session } {
  const session = http2.connect(`https://127.0.0.1:${port}`, credentials);
  session.on("error", () => session.destroy());
  const send: Send = (method, path, headers = {}, body) =>
    new Promise((resolve, reject) => {
      const stream = session.request(
        { ":method": method, ":path": path, ...headers },
        { endStream: body === undefined },
      );
      let text = "";
      let answer: http2.IncomingHttpHeaders = {};
      stream.setEncoding("utf8");
      stream.on("response", (received) => {
        answer = received;
      });
      stream.on("data", (piece: string) => {
        text += piece;
      });
      stream.on("close", () => {
        if (stream.rstCode === http2.constants.NGHTTP2_NO_ERROR)
          resolve({ status: Number(answer[":status"]), text, headers: answer });
        else reject(new Error(`reset with code ${stream.rstCode}`));
      });
      stream.on("error", reject);
      if (body !== undefined) stream.end(body);
    });
  return { send, session };
}

function overHttp1(
  port: number,
  credentials: tls.ConnectionOptions = withCertificate(),
): { send: Send; agent: https.Agent } {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1, ...(credentials as https.AgentOptions) });
  const send: Send = (method, path, headers = {}, body) =>
    new Promise((resolve, reject) => {
      const request = https.request({ host: "127.0.0.1", port, method, path, headers, agent }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (piece: string) => {
          text += piece;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
        response.on("error", reject);
      });
      request.on("error", reject);
      request.end(body);
    });
  return { send, agent };
}

/** Over a connection that speaks the protocol given, raw from there on. */
async function rawConnection(port: number, protocol: "h2" | "http/1.1"): Promise<tls.TLSSocket> {
  const socket = tls.connect({ port, host: "127.0.0.1", ALPNProtocols: [protocol], ...withCertificate() });
  socket.on("error", () => socket.destroy());
  await once(socket, "secureConnect");
  return socket;
}

for (const protocol of ["HTTP/2.0", "HTTP/1.1"] as const) {
  describe(protocol, () => {
    let listener: Awaited<ReturnType<typeof open>>;
    let send: Send;
    let hangUp: () => void;
    before(async () => {
      listener = await open();
      if (protocol === "HTTP/2.0") {
        const client = overHttp2(listener.port);
        send = client.send;
        hangUp = () => client.session.destroy();
      } else {
        const client = overHttp1(listener.port);
        send = client.send;
        hangUp = () => client.agent.destroy();
      }
    });
    after(async () => {
      hangUp();
      await listener.close();
    });

    test("the exchange has the request and its client", async () => {
      const { status, text } = await send("GET", "/about?x=%20", { "x-a": "1" });
      const about = JSON.parse(text);
      assert.equal(status, 200);
      assert.match(about.peerCertificate.fingerprint, /^[0-9a-f]{64}$/);
      assert.ok(about.peerCertificate.expiresAt > Date.now());
      delete about.peerCertificate.fingerprint;
      delete about.peerCertificate.expiresAt;
      assert.deepEqual(about, {
        method: "GET",
        target: "/about?x=%20",
        protocol,
        remoteAddress: "127.0.0.1",
        a: "1",
        peerCertificate: {
          commonName: "kubernetes-admin",
          organizations: ["system:masters"],
          uids: [],
          verified: true,
        },
      });
    });

    test("removes forgotten headers everywhere", async () => {
      const { text } = await send("GET", "/forget", { "x-kept": "1", "X-Secret": "2", "x-secret-too": "3" });
      const { secret, kept, lines } = JSON.parse(text);
      assert.deepEqual([secret, kept], [undefined, "1"]);
      assert.deepEqual(
        lines.filter((name: string) => name.toLowerCase().startsWith("x-")),
        ["x-kept"],
      );
    });

    const bodyRows: [what: string, path: string, body: Buffer | undefined, status: number, text: RegExp][] = [
      ["no body", "/body", undefined, 200, /"length":0/],
      ["an empty body", "/body", Buffer.alloc(0), 200, /"length":0/],
      ["a body", "/body", Buffer.from("hello"), 200, /"text":"hello"/],
      ["a body of the largest size", "/body", Buffer.alloc(bodyBytesMax, "x"), 200, /"length":1000/],
      [
        "a body over the limit",
        "/body",
        Buffer.alloc(bodyBytesMax + 1, "x"),
        413,
        /Request entity too large: limit is 1000/,
      ],
      [
        "a body far over the limit",
        "/body",
        Buffer.alloc(8 << 20, "x"),
        413,
        /Request entity too large: limit is 1000/,
      ],
      ["a body that is not read", "/unread", Buffer.alloc(200_000, "x"), 403, /\{\}/],
      ["an answer without a body", "/empty", undefined, 204, /^$/],
      ["an answer after an answer", "/late", undefined, 504, /^\{\}$/],
    ];
    for (const [what, path, body, status, text] of bodyRows) {
      test(what, async () => {
        const answer = await send(body === undefined ? "GET" : "POST", path, {}, body);
        assert.equal(answer.status, status, answer.text);
        assert.match(answer.text, text);
      });
    }

    test("sends a body back piece by piece", async () => {
      const sent = Buffer.alloc(3 << 20, "0123456789");
      const { status, text, headers } = await send("POST", "/echo", {}, sent);
      assert.deepEqual([status, headers["x-body"]], [200, "true"]);
      assert.ok(text === sent.toString());
      const empty = await send("GET", "/echo");
      assert.deepEqual([empty.status, empty.headers["x-body"], empty.text], [200, "false", ""]);
    });

    test("ends a response before the end of the body", async () => {
      const sent = Buffer.alloc(3 << 20, "0123456789");
      const { status, text } = await send("POST", "/echo?first", {}, sent);
      assert.equal(status, 200);
      assert.ok(text !== "" && sent.toString().startsWith(text));
      assert.equal((await send("GET", "/about")).status, 200);
    });

    test("HEAD has the length and no body", async () => {
      const { status, text, headers } = await send("HEAD", "/about");
      assert.equal(status, 200);
      assert.equal(text, "");
      assert.ok(Number(headers["content-length"]) > 0);
    });

    test("the client is notified of a stream's end", async () => {
      const watching = send("GET", "/watch");
      await until(() => listener.streams.length > 0);
      const stream = listener.streams[0] as BodyStream;
      stream.write(Buffer.from("second\n"));
      await stream.drained();
      await until(() => stream.pendingBytes === 0);
      stream.end();
      assert.equal((await watching).text, "first\nsecond\n");
    });

    test("an aborted stream is an error for the client", async () => {
      const watching = send("GET", "/watch");
      await until(() => listener.streams.length > 0);
      listener.streams[0]?.abort();
      await assert.rejects(watching);
      await until(() => listener.streams.length === 0);
    });

    test("a client that goes away closes its exchanges", async () => {
      const watching = send("GET", "/watch").catch(() => undefined);
      await until(() => listener.streams.length > 0);
      const stream = listener.streams[0] as BodyStream;
      hangUp();
      await watching;
      await until(() => listener.streams.length === 0);
      assert.equal(stream.write(Buffer.from("late\n")), true, "unaccepted data is not kept");
      await stream.drained();
    });
  });
}

describe("client certificates", () => {
  const certificateOf = async (
    listener: Listener,
    credentials: tls.ConnectionOptions,
  ): Promise<{ verified: boolean } | undefined> => {
    const { send, session } = overHttp2(listener.port, { ca: certificates.ca.cert, ...credentials });
    const { text } = await send("GET", "/about");
    session.destroy();
    return JSON.parse(text).peerCertificate;
  };

  test("none", async () => {
    const listener = await open();
    assert.equal(await certificateOf(listener, {}), undefined);
    await listener.close();
  });

  test("of another authority", async () => {
    const listener = await open();
    const other = await createCertificates({ now: Date.now(), names: [] });
    assert.equal((await certificateOf(listener, other.admin))?.verified, false);
    await listener.close();
  });

  test("made for servers", async () => {
    const listener = await open();
    assert.equal((await certificateOf(listener, certificates.serving))?.verified, false);
    await listener.close();
  });

  test("that expires while the connection is open", async () => {
    const listener = await open({ clock: { ...systemClock, now: () => Date.now() + 400 * 24 * 3600_000 } });
    assert.equal((await certificateOf(listener, certificates.admin))?.verified, false);
    await listener.close();
  });

  test("a second connection, which may offer to resume the first one's session, shows its certificate again", async () => {
    const listener = await open();
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      let session: Buffer | undefined;
      for (let connection = 0; connection < 2; connection++) {
        const socket = tls.connect({
          port: listener.port,
          host: "127.0.0.1",
          ALPNProtocols: ["http/1.1"],
          minVersion: version,
          maxVersion: version,
          ...withCertificate(),
          ...(session && { session }),
        });
        socket.on("session", (fresh: Buffer) => {
          session = fresh;
        });
        await once(socket, "secureConnect");
        socket.write("GET /about HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let text = "";
        for await (const piece of socket) text += piece;
        assert.match(text, /"commonName":"kubernetes-admin"/, `${version}, connection ${connection}`);
      }
    }
    await listener.close();
  });
});

describe("an answer that has ended", () => {
  const rows: [what: string, begin: (port: number) => Promise<tls.TLSSocket>][] = [
    [
      "HTTP/1.1",
      async (port) => {
        const socket = await rawConnection(port, "http/1.1");
        socket.write("GET /watch HTTP/1.1\r\nHost: x\r\n\r\n");
        return socket;
      },
    ],
    [
      "a WebSocket",
      async (port) => {
        const socket = await rawConnection(port, "http/1.1");
        socket.write(webSocketRequest);
        return socket;
      },
    ],
    [
      "HTTP/2.0",
      async (port) => {
        const socket = await rawConnection(port, "h2");
        socket.write(http2Watch());
        return socket;
      },
    ],
  ];
  for (const [what, begin] of rows) {
    test(`${what}: what is left of it must be taken in time`, async () => {
      const listener = await open({ limits: { lingerMs: 50 } });
      const socket = await begin(listener.port);
      await until(() => listener.streams.length > 0);
      const stream = listener.streams[0] as BodyStream;
      for (let written = 0; written < 32; written++) stream.write(Buffer.alloc(1 << 20));
      stream.end();
      await until(() => listener.streams.length === 0);
      socket.destroy();
      await listener.close();
    });
  }
});

test("HTTP/2.0: a client that does not end its side is not waited for", async () => {
  const listener = await open({ limits: { lingerMs: 50 } });
  const { session } = overHttp2(listener.port);
  const about = session.request({ ":path": "/about" }, { endStream: false });
  const watch = session.request({ ":path": "/watch" }, { endStream: false });
  for (const stream of [about, watch]) stream.resume();
  await until(() => listener.streams.length > 0);
  listener.streams[0]?.end();
  await Promise.all([about, watch].map((stream) => once(stream, "close")));
  assert.deepEqual(
    [about.rstCode, watch.rstCode],
    [http2.constants.NGHTTP2_NO_ERROR, http2.constants.NGHTTP2_NO_ERROR],
  );
  assert.deepEqual(listener.streams, []);
  session.destroy();
  await listener.close();
});

describe("upgrades", () => {
  const lines = (method: string, headers: string): string =>
    `${method} /upgrade HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: SPDY/3.1\r\n${headers}\r\n`;

  for (const method of ["GET", "POST"])
    test(`gives the handler of a ${method} the connection and the bytes after the request`, async () => {
      const listener = await open({ limits: { headersMs: 20, bodyMs: 20, idleMs: 20 } });
      const socket = await rawConnection(listener.port, "http/1.1");
      socket.write(`${lines(method, "Content-Length: 0\r\n")}early `);
      let text = "";
      socket.on("data", (piece: Buffer) => {
        text += piece.toString();
      });
      await until(() => text.endsWith("early "));
      socket.write("late");
      await until(() => text.endsWith("late"));
      assert.equal(
        text,
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\nearly late",
      );
      assert.equal(listener.streams.length, 1);
      socket.destroy();
      await until(() => listener.streams.length === 0);
      await listener.close();
    });

  const plain: [what: string, request: string][] = [
    ["with a body", `${lines("POST", "Content-Length: 2\r\n")}{}`],
    ["with a chunked body", `${lines("POST", "Transfer-Encoding: chunked\r\n")}0\r\n\r\n`],
    ["over HTTP/1.0", lines("GET", "").replace("HTTP/1.1", "HTTP/1.0")],
  ];
  for (const [what, request] of plain)
    test(`serves a request ${what} without an upgrade`, async () => {
      const listener = await open();
      const socket = await rawConnection(listener.port, "http/1.1");
      let text = "";
      socket.on("data", (piece: Buffer) => {
        text += piece.toString();
      });
      socket.write(request);
      await until(() => text.includes("}"));
      assert.match(text, /^HTTP\/1.1 200 OK\r\n.*\{"upgrade":null\}$/s);
      socket.destroy();
      await listener.close();
    });
});

describe("upgrades on a runtime that does not ask which requests can upgrade", () => {
  const request = (method: string, headers: string, path = "/upgrade"): string =>
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: SPDY/3.1\r\n${headers}\r\n`;
  const rows: [what: string, sent: string, answer: RegExp][] = [
    ["upgrades where the handler accepts it", request("GET", ""), /^HTTP\/1.1 101 /],
    ["serves other paths without an upgrade", request("GET", "", "/about"), /^HTTP\/1.1 200 OK\r\n/],
    ["rejects a body, which it cannot read", `${request("POST", "Content-Length: 2\r\n")}{}`, /^HTTP\/1.1 400 /],
    ["rejects a chunked body", `${request("POST", "Transfer-Encoding: chunked\r\n")}0\r\n\r\n`, /^HTTP\/1.1 400 /],
    ["rejects two hosts", request("GET", "Host: y\r\n"), /^HTTP\/1.1 400 /],
    ["rejects a request without a host", request("GET", "").replace("Host: x\r\n", ""), /^HTTP\/1.1 400 /],
    [
      "closes the connection behind an unanswered request",
      `GET /watch HTTP/1.1\r\nHost: x\r\n\r\n${request("GET", "")}`,
      /^$|^HTTP\/1.1 200 /,
    ],
  ];
  const openWithoutCallback = (t: TestContext, options?: Parameters<typeof open>[0]): ReturnType<typeof open> => {
    const { createServer } = http;
    t.mock.method(http, "createServer", (options: http.ServerOptions, handler: http.RequestListener) => {
      const { shouldUpgradeCallback: _, ...others } = options as http.ServerOptions & Record<string, unknown>;
      return createServer(others, handler);
    });
    return open(options);
  };

  test("closes the connection of a client that goes on after it was rejected", async (t) => {
    const listener = await openWithoutCallback(t, { limits: { lingerMs: 20 } });
    const socket = await rawConnection(listener.port, "http/1.1");
    socket.allowHalfOpen = true;
    socket.resume().write(request("POST", "Content-Length: 10000\r\n"));
    // own wait: the client sends its body slowly
    const sending = setInterval(() => socket.write("x"), 5);
    await new Promise((resolve) => socket.once("close", resolve));
    clearInterval(sending);
    await listener.close();
  });

  for (const [what, sent, answer] of rows)
    test(what, async (t) => {
      const listener = await openWithoutCallback(t);
      const socket = await rawConnection(listener.port, "http/1.1");
      let text = "";
      const ended = new Promise((resolve) => socket.once("close", resolve));
      socket.on("data", (piece: Buffer) => {
        text += piece.toString();
        if (text.startsWith("HTTP/1.1 101 ")) socket.destroy();
      });
      socket.on("error", () => {});
      socket.write(sent);
      await ended;
      assert.match(text, answer);
      assert.doesNotMatch(text, /HTTP\/1.1 101 .*HTTP|HTTP.*HTTP\/1.1 101 /s);
      await until(() => listener.streams.length === 0);
      await listener.close();
    });
});

test("a WebSocket outlives the limits on requests", async () => {
  const listener = await open({ limits: { headersMs: 20, bodyMs: 20, idleMs: 20 } });
  const socket = await rawConnection(listener.port, "http/1.1");
  socket.write(webSocketRequest);
  let text = "";
  socket.on("data", (piece: Buffer) => {
    text += piece.toString("latin1");
  });
  await until(() => text.includes("first"));
  await peerLatency(100); // Longer than the limits.
  listener.streams[0]?.write(Buffer.from("second"));
  await until(() => text.endsWith("second"));
  socket.destroy();
  await listener.close();
});

const webSocketRequest =
  "GET /watch HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/** The first bytes of a connection that asks for /watch and says nothing more. */
function http2Watch(): Buffer {
  const emptySettings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
  const path = Buffer.from("/watch");
  // In HPACK: GET, https, and as literals :authority and :path.
  const fields = Buffer.concat([Buffer.from([0x82, 0x87, 0x01, 1, 0x78, 0x04, path.length]), path]);
  const headers = Buffer.concat([Buffer.from([0, 0, fields.length, 1, 5, 0, 0, 0, 1]), fields]);
  return Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), emptySettings, headers]);
}

describe("hosts of HTTP/1.1", () => {
  const served = /^HTTP\/1\.1 200 OK\r\n/;
  const rejected = /^HTTP\/1\.1 400 Bad Request: too many Host headers\r\n.*\r\nConnection: close\r\n/is;
  const malformed =
    /^HTTP\/1\.1 400 Bad Request: malformed Host header\r\n.*\r\n\r\n400 Bad Request: malformed Host header$/is;
  const rows: [what: string, headers: string, answer: RegExp][] = [
    ["one host", "Host: x", served],
    ["a host with a comma", "Host: x,y", served],
    ["an IPv6 address with a zone and a port", "Host: [fe80::1%25eth0]:6443", served],
    ["an empty host", "Host:", served],
    ["every character that a host may have", "Host: aZ09!$%&'()*+,-.:;=[]_~", served],
    ["a host with a path", "Host: x/y", malformed],
    ["a host with a user", "Host: a@x", malformed],
    ["a host with a space", "Host: x y", malformed],
    ["a host with a letter that is not ASCII", "Host: \u00e9", malformed],
    ["a malformed host and an upgrade", "Host: x/\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1", malformed],
    ["two hosts", "Host: x\r\nHost: y", rejected],
    ["the same host twice", "Host: x\r\nhOST: x", rejected],
    ["an empty and another host", "Host:\r\nHost: x", rejected],
    ["two hosts and an upgrade", "Host: x\r\nHost: y\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1", rejected],
  ];
  for (const [what, headers, answer] of rows)
    test(what, async () => {
      const listener = await open();
      const socket = await rawConnection(listener.port, "http/1.1");
      const path = headers.includes("Upgrade") ? "/upgrade" : "/about";
      socket.write(`GET ${path} HTTP/1.1\r\n${headers}\r\n\r\n`);
      const [piece] = (await once(socket, "data")) as [Buffer];
      socket.destroy();
      await listener.close();
      assert.match(piece.toString(), answer);
    });
});

describe("bytes of HTTP/1.1 that are no request", () => {
  const host = "Host: x\r\n\r\n";
  const bad =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request";
  const all = async (socket: net.Socket): Promise<string> => Buffer.concat(await socket.toArray()).toString();

  test("are rejected", async () => {
    const listener = await open();
    const socket = await rawConnection(listener.port, "http/1.1");
    socket.write("{}\r\n\r\n");
    assert.equal(await all(socket), bad);
    await listener.close();
  });

  for (const target of ["/about", "/later"])
    test(`are rejected after the response to the request before them: ${target}`, async () => {
      const exchanges: Exchange[] = [];
      const answer = answerer([]);
      const listener = await open({
        onExchange: (exchange) => void (target === "/about" ? answer(exchange) : exchanges.push(exchange)),
      });
      const socket = await rawConnection(listener.port, "http/1.1");
      socket.write(`DELETE ${target} HTTP/1.1\r\n${host}{"gracePeriodSeconds":0}`);
      const received = all(socket);
      if (target === "/later") {
        await until(() => exchanges.length > 0);
        socket.write("more");
        exchanges[0]?.respond(200, {}, Buffer.from("{}"));
      }
      const text = await received;
      assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
      assert.ok(text.endsWith(bad), text);
      await listener.close();
    });

  test("end a request whose body they are in", async () => {
    const listener = await open();
    const socket = await rawConnection(listener.port, "http/1.1");
    socket.write(`POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n${host}zz`);
    assert.equal(await all(socket), bad);
    await listener.close();
  });
});

describe("a client that stalls is cut off", () => {
  const rows: [
    what: string,
    limits: Partial<Limits>,
    stall: (port: number, streams: readonly BodyStream[]) => Promise<net.Socket>,
  ][] = [
    ["before the TLS handshake", { handshakeMs: 50 }, async (port) => net.connect(port, "127.0.0.1")],
    [
      "within the TLS handshake",
      { handshakeMs: 50 },
      async (port) => {
        const socket = net.connect(port, "127.0.0.1");
        socket.write(Buffer.from([22, 3, 1]));
        return socket;
      },
    ],
    ["before the first byte of HTTP/1.1", { headersMs: 50 }, (port) => rawConnection(port, "http/1.1")],
    [
      "within the headers of HTTP/1.1",
      { headersMs: 50 },
      async (port) => {
        const socket = await rawConnection(port, "http/1.1");
        socket.write("GET /about HTTP/1.1\r\nHost:");
        return socket;
      },
    ],
    [
      "within a body of HTTP/1.1",
      { headersMs: 50, bodyMs: 50 },
      async (port) => {
        const socket = await rawConnection(port, "http/1.1");
        socket.write("POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhal");
        return socket;
      },
    ],
    [
      "within a body of HTTP/1.1 that is not read",
      { headersMs: 50, bodyMs: 50 },
      async (port) => {
        const socket = await rawConnection(port, "http/1.1");
        socket.write("POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhal");
        return socket;
      },
    ],
    ["before the first byte of HTTP/2", { idleMs: 50 }, (port) => rawConnection(port, "h2")],
    [
      "with a watch open, not answering pings",
      { idleMs: 50, pingMs: 50 },
      async (port, streams) => {
        const socket = await rawConnection(port, "h2");
        socket.write(http2Watch());
        await until(() => streams.length > 0);
        return socket;
      },
    ],
  ];
  for (const [what, limits, stall] of rows) {
    test(what, async () => {
      const listener = await open({ limits });
      const socket = await stall(listener.port, listener.streams);
      socket.on("error", () => socket.destroy());
      socket.resume();
      await once(socket, "close");
      assert.deepEqual(listener.streams, []);
      await listener.close();
    });
  }

  test("within a body of HTTP/2: answered 504", async () => {
    const listener = await open({ limits: { bodyMs: 20 } });
    const { session } = overHttp2(listener.port);
    const stream = session.request({ ":method": "POST", ":path": "/body" }, { endStream: false });
    stream.write("hal");
    const [headers] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
    assert.equal(headers[":status"], 504);
    stream.resume();
    await once(stream, "close");
    session.destroy();
    await listener.close();
  });
});

describe("limits", () => {
  test("rejects headers over the limit, over both protocols", async () => {
    const listener = await open({ limits: { headerBytesMax: 8 << 10 } });
    const huge = { "x-huge": "x".repeat(32 << 10) };
    const http1 = overHttp1(listener.port);
    const outcome = await http1.send("GET", "/about", huge).then(
      ({ status }) => String(status),
      (error: NodeJS.ErrnoException) => error.code ?? "",
    );
    assert.match(outcome, /^(431|ECONNRESET|EPIPE)$/);
    const overTwo = overHttp2(listener.port);
    await overTwo.send("GET", "/about"); // The limit holds once the client has acknowledged it.
    await assert.rejects(overTwo.send("GET", "/about", huge));
    assert.equal((await overHttp2Once(listener.port)).status, 200);
    http1.agent.destroy();
    overTwo.session.destroy();
    await listener.close();
  });

  test("requests that the client resets at once are not begun, beyond those of one turn", async () => {
    let begun = 0;
    const listener = await open({ onExchange: () => void begun++ });
    const { session } = overHttp2(listener.port);
    await once(session, "connect");
    const closed = Array.from({ length: 500 }, () => {
      const stream = session.request({ ":path": "/watch" });
      stream.on("error", () => {});
      stream.close(http2.constants.NGHTTP2_CANCEL);
      return once(stream, "close");
    });
    await Promise.all(closed);
    await new Promise((resolve) => session.ping(resolve));
    assert.ok(begun < 250, String(begun)); // The frames can arrive in several turns.
    session.destroy();
    await listener.close();
  });

  test("connections over the limit are closed", async () => {
    const listener = await open({ limits: { connectionsMax: 1 } });
    const { send, session } = overHttp2(listener.port);
    await send("GET", "/about");
    const second = net.connect(listener.port, "127.0.0.1");
    second.on("error", () => second.destroy());
    await once(second.resume(), "close");
    assert.equal((await send("GET", "/about")).status, 200);
    session.destroy();
    await listener.close();
  });
});

async function overHttp2Once(port: number): Promise<Answer> {
  const { send, session } = overHttp2(port);
  const answer = await send("GET", "/about");
  session.destroy();
  return answer;
}

describe("the end", () => {
  for (const protocol of ["HTTP/2.0", "HTTP/1.1"] as const) {
    test(`${protocol}: stop lets what is open finish, closes its connection and takes no new one`, async () => {
      const listener = await open();
      const client = protocol === "HTTP/2.0" ? overHttp2(listener.port) : overHttp1(listener.port);
      const watching = client.send("GET", "/watch");
      await until(() => listener.streams.length > 0);
      listener.stop();
      await assert.rejects(overHttp1(listener.port).send("GET", "/about"), /ECONNREFUSED/);
      listener.streams[0]?.end();
      assert.equal((await watching).text, "first\n");
      if ("session" in client && !client.session.closed) await once(client.session, "close");
      await listener.close();
      if ("agent" in client) client.agent.destroy();
    });
  }

  test("HTTP/2.0: the client of a request that crosses the end of its connection knows that it was not processed", async () => {
    const listener = await open();
    const { send, session } = overHttp2(listener.port);
    await send("GET", "/about");
    listener.stop();
    const crossing = assert.rejects(send("GET", "/about"), /NGHTTP2_REFUSED_STREAM/);
    await listener.ended(10_000);
    await listener.close();
    await crossing;
    session.destroy();
  });

  for (const [protocol, open2] of [
    ["HTTP/2.0", overHttp2],
    ["HTTP/1.1", overHttp1],
  ] as const) {
    test(`${protocol}: a connection that was ended answers, and takes no further request`, async () => {
      const listener = await open();
      const client = open2(listener.port);
      const { status, headers } = await client.send("GET", "/last");
      assert.equal(status, 200);
      if ("session" in client) {
        if (!client.session.closed) await once(client.session, "close");
      } else {
        assert.equal(headers.connection, "close");
        client.agent.destroy();
      }
      await listener.close();
    });
  }

  test("serves the certificate of the local address, unless the client requests a name", async () => {
    const other = await createCertificates({ now: Date.now(), names: ["other.example"] });
    const listener = await open();
    listener.replaceCertificates({
      certificate: certificates.serving,
      named: [
        { ...other.admin, names: ["127.0.0.1"] },
        { ...other.serving, names: [] },
      ],
      clientCa: undefined,
    });
    const shown = async (servername: string | undefined): Promise<string | undefined> => {
      const socket = tls.connect({
        port: listener.port,
        host: "127.0.0.1",
        rejectUnauthorized: false,
        ...(servername !== undefined && { servername }),
      });
      await once(socket, "secureConnect");
      const fingerprint = socket.getPeerX509Certificate()?.fingerprint256;
      socket.destroy();
      return fingerprint;
    };
    const fingerprint = ({ cert }: { cert: string }): string => new X509Certificate(cert).fingerprint256;
    assert.equal(await shown(undefined), fingerprint(other.admin));
    assert.equal(await shown("other.example"), fingerprint(other.serving));
    assert.equal(await shown("unknown.example"), fingerprint(certificates.serving));
    await listener.close();
  });

  test("uses new certificates for new connections", async () => {
    const listener = await open();
    const fresh = await createCertificates({ now: Date.now(), names: ["127.0.0.1"] });
    listener.replaceCertificates({ certificate: fresh.serving, named: [], clientCa: fresh.ca.cert });
    const before = authorities;
    authorities = parseAuthorities(fresh.ca.cert);
    const { send, session } = overHttp2(listener.port, { ca: fresh.ca.cert, ...fresh.admin });
    assert.equal(JSON.parse((await send("GET", "/about")).text).peerCertificate.verified, true);
    authorities = before;
    session.destroy();
    await listener.close();
  });

  test("a taken port is an error", async () => {
    const listener = await open();
    const again = {
      host: "127.0.0.1",
      port: listener.port,
      serving: { certificate: certificates.serving, named: [], clientCa: undefined },
      clock: systemClock,
      logger: silent,
    };
    await assert.rejects(listen({ ...again, onExchange() {}, acceptsUpgrade: () => false }), /EADDRINUSE/);
    await listener.close();
  });
});
