/** Requests through a proxy to backends that the tests script. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import https from "node:https";
import net, { type AddressInfo, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import tls from "node:tls";
import { gzipSync } from "node:zlib";
import { untilSteady } from "../../../test/support/until.ts";
import { systemClock } from "../../apimachinery/clock.ts";
import { type Listener, listen } from "../../http/listener/listen.ts";
import { json } from "../../http/representation/json.ts";
import { createServe } from "../../http/serve.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { type Certificates, createCertificates } from "../../server/serving/certificates.ts";
import { connect } from "../../webhook/connect.ts";
import type { ProxyOptions } from "./contract.ts";
import { proxyRequest } from "./proxy-request.ts";

const silent = { info() {}, warn() {}, error() {} };
let certificates: Certificates;
let listener: Listener;
/** The options of the next requests; the target is the backend of the test. */
let options: Partial<ProxyOptions> = {};
/** What the backend does with a connection after the headers of a request. */
let serve: (socket: Socket, head: string) => void = () => undefined;
const open = new Set<Socket>();
const backend = net.createServer((socket) => {
  open.add(socket);
  socket.on("error", () => socket.destroy());
  socket.on("close", () => open.delete(socket));
  let head = "";
  socket.on("data", function take(piece: Buffer) {
    head += piece.toString("latin1");
    if (!head.includes("\r\n\r\n")) return;
    socket.off("data", take);
    serve(socket, head);
  });
});

before(async () => {
  certificates = await createCertificates({ now: Date.now(), names: ["127.0.0.1"] });
  backend.listen(0, "127.0.0.1");
  await once(backend, "listening");
  const { port } = backend.address() as AddressInfo;
  listener = await listen({
    host: "127.0.0.1",
    port: 0,
    serving: { certificate: certificates.serving, named: [], clientCa: undefined },
    acceptsUpgrade: () => true,
    onExchange: createServe({
      filters: [],
      registry: {} as RegistryContext,
      endpoints: { verbs: {}, computed: {}, subresources: {} },
      routes: [
        {
          path: "/proxy*",
          handler: (context) =>
            proxyRequest(context, {
              target: {
                scheme: "http",
                host: "10.0.0.1:80",
                path: context.info.path.slice("/proxy".length),
                open: (signal) => connect({ host: "127.0.0.1", port, signal }),
              },
              clock: systemClock,
              isWrapped: true,
              ...options,
            }),
        },
      ],
      encodings: [json],
      clock: systemClock,
      logger: silent,
    }),
    clock: systemClock,
    logger: silent,
  });
});
after(async () => {
  for (const socket of open) socket.destroy();
  backend.close();
  await listener.close();
});

/** Sends a request and returns the text of the response, with its headers. */
async function send(text: string): Promise<string> {
  const socket = await connected();
  socket.write(text);
  let received = "";
  socket.on("data", (piece: Buffer) => {
    received += piece.toString("latin1");
  });
  await once(socket, "close");
  return received;
}

async function connected(): Promise<tls.TLSSocket> {
  const socket = tls.connect({
    host: "127.0.0.1",
    port: listener.port,
    ca: certificates.ca.cert,
    ALPNProtocols: ["http/1.1"],
  });
  socket.on("error", () => socket.destroy());
  await once(socket, "secureConnect");
  return socket;
}

const get = (path: string, headers = ""): string =>
  `GET ${path} HTTP/1.1\r\nHost: client\r\nConnection: close\r\n${headers}\r\n`;

/** The body of a response without its chunks. */
function bodyOf(response: string): string {
  const [head = "", ...rest] = response.split("\r\n\r\n");
  const body = rest.join("\r\n\r\n");
  return /transfer-encoding: chunked/i.test(head)
    ? body.replace(/[0-9a-f]+\r\n([\s\S]*?)\r\n(?=[0-9a-f]+\r\n)|0\r\n(\r\n)?$/g, "$1")
    : body;
}

/** The message of the Status in a response. */
const messageOf = (response: string): string => JSON.parse(bodyOf(response)).message;

function answerWith(...pieces: (string | Buffer)[]): void {
  serve = (socket) => {
    for (const piece of pieces) socket.write(piece as string, "latin1");
    socket.end();
  };
}

describe("what the backend receives", () => {
  const rows: [what: string, request: string, options: Partial<ProxyOptions>, expected: string[]][] = [
    [
      "headers of the client without those of its connection",
      get("/proxy/a/?x=%20&y", "X-A: 1\r\nx-a: 2\r\nKeep-Alive: 1\r\nTE: trailers\r\nCookie: c=d\r\n"),
      {},
      [
        "GET /a/?x=%20&y HTTP/1.1",
        "host: client",
        "X-A: 1",
        "x-a: 2",
        "Cookie: c=d",
        "x-forwarded-for: 127.0.0.1",
        "x-forwarded-uri: /proxy/a/",
        "te: trailers",
        "connection: close",
      ],
    ],
    [
      "no credentials",
      get("/proxy/a", "Authorization: Bearer x\r\nProxy-Authorization: x\r\nImpersonate-User: x\r\n"),
      { isWrapped: false },
      ["GET /a HTTP/1.1", "host: client", "x-forwarded-for: 127.0.0.1", "connection: close"],
    ],
    [
      "no headers that Connection lists",
      "GET /proxy/a HTTP/1.1\r\nHost: client\r\nConnection: close, X-Secret\r\nX-Secret: 1\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n",
      { isWrapped: false },
      ["GET /a HTTP/1.1", "host: client", "x-forwarded-for: 1.2.3.4, 127.0.0.1", "connection: close"],
    ],
    [
      "own headers instead of those of the client",
      get("/proxy/a", "X-Remote-User: root\r\n"),
      { isWrapped: false, usesTargetHost: true, headers: { "x-remote-user": "eve", "x-remote-group": ["a", "b"] } },
      [
        "GET /a HTTP/1.1",
        "host: 10.0.0.1:80",
        "x-forwarded-for: 127.0.0.1",
        "x-remote-user: eve",
        "x-remote-group: a",
        "x-remote-group: b",
        "connection: close",
      ],
    ],
    [
      "escaped paths",
      get("/proxy/a%2fb%20%25%0d%0aX:y/../%C3%BC", ""),
      { isWrapped: false },
      ["GET /a/b%20%25%0D%0AX:y/../%C3%BC HTTP/1.1", "host: client", "x-forwarded-for: 127.0.0.1", "connection: close"],
    ],
    [
      "an empty body of a POST, and the path /",
      "POST /proxy HTTP/1.1\r\nHost: client\r\nConnection: close\r\n\r\n",
      { isWrapped: false },
      ["POST / HTTP/1.1", "host: client", "x-forwarded-for: 127.0.0.1", "connection: close", "content-length: 0"],
    ],
  ];
  for (const [what, request, chosen, expected] of rows)
    test(what, async () => {
      options = chosen;
      let received = "";
      serve = (socket, head) => {
        received = head;
        socket.end("HTTP/1.1 204 No Content\r\n\r\n");
      };
      assert.match(await send(request), /^HTTP\/1.1 204 /);
      assert.deepEqual(received.split("\r\n").slice(0, -2), expected);
    });

  for (const [encoding, sent] of [
    ["Content-Length: 5", "hello"],
    ["Transfer-Encoding: chunked", "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"],
  ])
    test(`a body with ${encoding}`, async () => {
      options = {};
      let received = "";
      serve = (socket, head) => {
        received = head;
        const check = (piece = ""): void => {
          received += piece;
          if (/hello$|\r\n0\r\n\r\n$/.test(received)) socket.end("HTTP/1.1 204 No Content\r\n\r\n");
        };
        socket.on("data", (piece: Buffer) => check(piece.toString()));
        check();
      };
      assert.match(
        await send(`PUT /proxy/a HTTP/1.1\r\nHost: client\r\nConnection: close\r\n${encoding}\r\n\r\n${sent}`),
        /^HTTP\/1.1 204 /,
      );
      assert.ok(received.toLowerCase().includes(`\r\n${encoding?.toLowerCase()}\r\n`), received);
      assert.equal((received.match(/content-length|transfer-encoding/gi) ?? []).length, 1);
    });
});

describe("what the client receives", () => {
  const ok = "HTTP/1.1 200 OK\r\n";
  const rows: [what: string, path: string, response: string, status: number, expected: RegExp][] = [
    [
      "a response until the end of the connection",
      "/proxy/a",
      `${ok}X-A: 1\r\nx-a: 2\r\n\r\nhello`,
      200,
      /x-a: 1\r\nx-a: 2\r\n.*hello/s,
    ],
    ["a chunked response", "/proxy/a", `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`, 200, /hello/],
    ["a redirect to a path with a slash", "/proxy?a=b", "", 301, /location: \/proxy\/\?a=b\r\n.*\r\n\r\n$/s],
    [
      "a rewritten location",
      "/proxy/a/b",
      "HTTP/1.1 302 Found\r\nLocation: /c?d\r\nContent-Length: 0\r\n\r\n",
      302,
      /location: \/proxy\/c\?d\r\n/,
    ],
    [
      "a location of the backend",
      "/proxy/a/b",
      "HTTP/1.1 302 Found\r\nLocation: http://10.0.0.1:80/c\r\nContent-Length: 0\r\n\r\n",
      302,
      /location: \/proxy\/c\r\n/,
    ],
    [
      "another location",
      "/proxy/a",
      "HTTP/1.1 302 Found\r\nLocation: http://x/c\r\nContent-Length: 0\r\n\r\n",
      302,
      /location: http:\/\/x\/c\r\n/,
    ],
    [
      "both values of a header",
      "/proxy/a",
      `${ok}Cache-Control: max-age=1\r\nContent-Length: 0\r\n\r\n`,
      200,
      /cache-control: no-cache, private\r\ncache-control: max-age=1\r\n/,
    ],
    [
      "no headers for other origins",
      "/proxy/a",
      `${ok}Access-Control-Allow-Origin: *\r\nContent-Length: 0\r\n\r\n`,
      200,
      /^(?!.*access-control)/s,
    ],
    ["an error of the backend", "/proxy/a", "HTTP/1.1 418 Teapot\r\nContent-Length: 2\r\n\r\nno", 418, /no$/],
    [
      "an informational response, which is dropped",
      "/proxy/a",
      `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${ok}Content-Length: 2\r\n\r\nhi`,
      200,
      /hi$/,
    ],
  ];
  for (const [what, path, response, status, expected] of rows)
    test(what, async () => {
      options = {};
      answerWith(response);
      const received = await send(get(path));
      assert.match(received, new RegExp(`^HTTP/1.1 ${status} `));
      assert.match(received, expected);
    });

  test("rewritten links, also of compressed pages", async () => {
    options = {};
    const page = `<a href="/x?a&amp;b">ü</a><script>"<a href='/y'>"</script><img src=/z>`;
    const expected = `<a href="/proxy/x?a&amp;b">ü</a><script>"<a href='/y'>"</script><img src="/proxy/z">`;
    const head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n";
    answerWith(`${head}\r\n`, Buffer.from(page));
    assert.equal(Buffer.from(bodyOf(await send(get("/proxy/a"))), "latin1").toString(), expected);
    const zipped = gzipSync(page);
    answerWith(`${head}Content-Encoding: gzip\r\nContent-Length: ${zipped.length}\r\n\r\n`, zipped);
    const received = await new Promise<IncomingMessage>((resolve, reject) =>
      https
        .get({ host: "127.0.0.1", port: listener.port, path: "/proxy/a", ca: certificates.ca.cert }, resolve)
        .on("error", reject),
    );
    const { createGunzip } = await import("node:zlib");
    const text = (await received.pipe(createGunzip()).toArray()).join("");
    assert.deepEqual([received.headers["content-length"], text], [undefined, expected]);
  });
});

describe("failures", () => {
  const rows: [what: string, response: string, status: number, message: RegExp][] = [
    ["a connection that ends", "", 503, /^error trying to reach service: EOF$/],
    [
      "text that is not HTTP",
      "SSH-2.0-x\r\n",
      503,
      /^error trying to reach service: net\/http: HTTP\/1.x transport connection broken: malformed HTTP response "SSH-2.0-x"$/,
    ],
    [
      "two lengths",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
      503,
      /transport connection broken/,
    ],
    [
      "a length and chunks",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
      503,
      /transport connection broken/,
    ],
    [
      "headers over the limit",
      `HTTP/1.1 200 OK\r\nX: ${"x".repeat(2 << 20)}\r\n\r\n`,
      503,
      /server response headers exceeded 1048576 bytes; aborted$/,
    ],
    [
      "an upgrade without a request",
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
      500,
      /^backend tried to switch protocol "x" when "" was requested$/,
    ],
    [
      "an invalid location",
      "HTTP/1.1 302 Found\r\nLocation: http://[x\r\nContent-Length: 0\r\n\r\n",
      500,
      /^Internal error occurred: error trying to parse Location header: parse "http:\/\/\[x": missing '\]' in host$/,
    ],
    [
      "a page that is not compressed",
      "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\nnot compressed",
      500,
      /^errorf making gzip reader: gzip: invalid header$/,
    ],
  ];
  for (const [what, response, status, message] of rows)
    test(what, async () => {
      options = {};
      answerWith(response);
      const received = await send(get("/proxy/a"));
      assert.match(received, new RegExp(`^HTTP/1.1 ${status} `), received);
      assert.match(messageOf(received), message);
    });

  test("a redirect that is not allowed", async () => {
    options = { rejectsRedirects: true };
    answerWith("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n");
    const received = await send(get("/proxy/a"));
    assert.match(
      received,
      /^HTTP\/1.1 502 .*\r\n\r\nthe backend attempted to redirect this request, which is not permitted$/s,
    );
  });

  test("a request without a required upgrade", async () => {
    options = { requiresUpgrade: true };
    const received = await send(get("/proxy/a"));
    assert.match(received, /^HTTP\/1.1 400 .*Upgrade request required/s);
  });

  test("a response that breaks off", async () => {
    options = {};
    answerWith("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
    assert.match(await send(get("/proxy/a")), /^HTTP\/1.1 200 .*content-length: 10\r\n.*hello$/s);
    answerWith("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
    assert.match(await send(get("/proxy/a")), /hello\r\n$/, "the last chunk is missing");
  });

  test("a body without a type has that of its beginning, if it begins in time", async () => {
    options = {};
    answerWith("HTTP/1.1 200 OK\r\n\r\n<p>");
    assert.match(await send(get("/proxy/a")), /content-type: text\/html; charset=utf-8\r\n/);
    answerWith("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n<p>");
    assert.doesNotMatch(await send(get("/proxy/a")), /content-type/);
    // The time that the headers wait passes at once.
    options = { clock: { ...systemClock, after: (ms, run) => systemClock.after(ms === 200 ? 0 : ms, run) } };
    const served = new Promise<Socket>((resolve) => {
      serve = resolve;
    });
    const client = await connected();
    client.write(get("/proxy/a"));
    const atBackend = await served;
    atBackend.write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n");
    const [head] = await once(client, "data");
    assert.match(String(head), /^HTTP\/1.1 200 .*\r\n\r\n$/s);
    assert.doesNotMatch(String(head), /content-type/);
    atBackend.end("<p>");
    assert.equal(String((await once(client, "data"))[0]), "<p>");
    client.destroy();
  });

  test("a client that disconnects ends the connection to the backend", async () => {
    options = {};
    const socket = await connected();
    const served = new Promise<Socket>((resolve) => {
      serve = resolve;
    });
    socket.write(get("/proxy/a"));
    const atBackend = await served;
    atBackend.resume();
    socket.destroy();
    await once(atBackend, "close");
  });

  test("a client that does not read stops the backend", async () => {
    options = {};
    const socket = await connected();
    let written = 0;
    serve = (atBackend) => {
      atBackend.write("HTTP/1.1 200 OK\r\n\r\n");
      const piece = Buffer.alloc(1 << 20);
      const write = (): void => {
        while (written < 256 << 20) {
          written += piece.length;
          if (!atBackend.write(piece)) return void atBackend.once("drain", write);
        }
      };
      write();
    };
    socket.pause();
    socket.write(get("/proxy/a"));
    await untilSteady(() => written);
    assert.ok(written < 64 << 20, `${written} bytes left the backend`);
    socket.destroy();
  });
});

describe("upgrades", () => {
  const request = (headers = ""): string =>
    `POST /proxy/a?b HTTP/1.1\r\nHost: client\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nAuthorization: x\r\n${headers}\r\n`;

  test("joins the connections after 101", async () => {
    options = { requiresUpgrade: true };
    let received = "";
    serve = (socket, head) => {
      received = head;
      socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-A: 1\r\n\r\nfirst ",
      );
      socket.on("data", (piece: Buffer) => socket.end(piece));
    };
    const response = await send(`${request()}second`);
    assert.equal(
      response,
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-A: 1\r\n\r\nfirst second",
    );
    assert.deepEqual(received.split("\r\n").slice(0, -2), [
      "POST /a HTTP/1.1",
      "host: client",
      "x-forwarded-for: 127.0.0.1",
      "connection: Upgrade",
      "upgrade: SPDY/3.1",
      "content-length: 0",
    ]);
  });

  test("sends no tokens of WebSocket clients", async () => {
    let received = "";
    serve = (socket, head) => {
      received = head;
      socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
    };
    const response = await send(
      request("Sec-WebSocket-Protocol: a, base64url.bearer.authorization.k8s.io.c2VjcmV0, b\r\n"),
    );
    assert.match(response, /^HTTP\/1.1 403 .*\r\n\r\nno$/s);
    assert.match(received, /\r\nsec-websocket-protocol: a, b\r\n/);
  });

  const rows: [response: string, message: RegExp][] = [
    ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", /^invalid upgrade response: status code 200$/],
    ["", /^unexpected EOF$/],
    ["x\r\n\r\n", /^malformed HTTP response "x"$/],
  ];
  for (const [response, message] of rows)
    test(`reports ${JSON.stringify(response)} as an error`, async () => {
      options = {};
      answerWith(response);
      const received = await send(request());
      assert.match(received, /^HTTP\/1.1 500 /);
      assert.match(messageOf(received), message);
    });

  test("ends both connections when the client disconnects", async () => {
    const socket = await connected();
    const served = new Promise<Socket>((resolve) => {
      serve = (atBackend) => {
        atBackend.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n");
        resolve(atBackend);
      };
    });
    socket.write(request());
    await once(socket, "data");
    const atBackend = await served;
    atBackend.resume();
    socket.destroy();
    await once(atBackend, "close");
  });
});

test("reports a backend that is not reachable", async () => {
  const unreachable = (signal: AbortSignal): Promise<Socket> => connect({ host: "127.0.0.1", port: 1, signal });
  const target = { scheme: "http", host: "x", path: "/", open: unreachable } as const;
  const rows: [request: string, options: Partial<ProxyOptions>, message: string][] = [
    [get("/proxy/"), { target }, "error trying to reach service: dial tcp 127.0.0.1:1: connect: connection refused"],
    [get("/proxy/"), { target, isWrapped: false }, "dial tcp 127.0.0.1:1: connect: connection refused"],
    [
      "GET /proxy/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
      { target },
      "error dialing backend: dial tcp 127.0.0.1:1: connect: connection refused",
    ],
  ];
  for (const [request, chosen, message] of rows) {
    options = chosen;
    assert.equal(messageOf(await send(request)), message);
  }
});
