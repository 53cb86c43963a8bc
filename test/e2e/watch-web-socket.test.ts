/** Watches over WebSocket, with a client that keeps the rules and with some that do not. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { after, before, describe, test } from "node:test";
import { type ClientOptions, type RawData, WebSocket } from "ws";
import { field } from "../support/kubeconfig-fields.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { clientFrame, type RawSocket, rawSocket } from "../support/raw-socket.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

let server: TestServer;
let client: RawClient;
before(async () => {
  server = await startTestServer();
  client = rawClient(server.kubeconfig);
  await create("first");
});
after(async () => {
  client.close();
  await server.close();
});

async function create(name: string, data: Record<string, string> = {}): Promise<string> {
  const { status, text, body } = await client.send({
    method: "POST",
    path: configMaps,
    body: { metadata: { name }, data },
  });
  assert.equal(status, 201, text);
  return body.metadata.resourceVersion;
}

interface Connected {
  readonly webSocket: WebSocket;
  readonly messages: { readonly text: string; readonly isBinary: boolean }[];
  /** Waits for so many messages. */
  count(messages: number): Promise<void>;
  /** The code of the close frame. */
  readonly closed: Promise<number>;
}

interface Asked extends ClientOptions {
  readonly protocols?: string[];
  readonly to?: TestServer;
  readonly anonymous?: boolean;
}

function dial(path: string, { protocols = [], to = server, anonymous = false, ...options }: Asked): WebSocket {
  const { kubeconfig } = to;
  return new WebSocket(`${to.url.replace("https", "wss")}${path}`, protocols, {
    origin: "https://page.example.com",
    ca: field(kubeconfig, "certificate-authority-data"),
    ...(!anonymous && {
      cert: field(kubeconfig, "client-certificate-data"),
      key: field(kubeconfig, "client-key-data"),
    }),
    ...options,
  });
}

async function connect(path: string, asked: Asked = {}): Promise<Connected> {
  const webSocket = dial(path, asked);
  const messages: Connected["messages"] = [];
  webSocket.on("message", (data: RawData, isBinary: boolean) =>
    messages.push({ text: (data as Buffer).toString("latin1"), isBinary }),
  );
  const closed = once(webSocket, "close").then(([code]) => code as number);
  await once(webSocket, "open");
  return {
    webSocket,
    messages,
    closed,
    async count(wanted) {
      while (messages.length < wanted) await tick();
    },
  };
}

/** The ordinary answer to a request to upgrade. */
async function refused(path: string, asked: Asked = {}): Promise<{ status: number; type: string; text: string }> {
  const webSocket = dial(path, asked);
  webSocket.on("error", () => undefined); // Follows when the answer is not waited for.
  const [, response] = (await once(webSocket, "unexpected-response")) as [unknown, IncomingMessage];
  response.setEncoding("utf8");
  let text = "";
  for await (const piece of response) text += piece;
  return { status: response.statusCode ?? 0, type: response.headers["content-type"] ?? "", text };
}

const namesOf = ({ messages }: Connected): string[] =>
  messages.map(({ text }) => JSON.parse(text).object.metadata.name);

describe("a client that keeps the rules", () => {
  const paths: [what: string, path: string][] = [
    ["a collection", `${configMaps}?watch=1&fieldSelector=metadata.name%3Dfirst`],
    ["one object", `${configMaps}/first?watch=1`],
    ["the old path", "/api/v1/watch/namespaces/default/configmaps/first"],
  ];
  for (const [what, path] of paths) {
    test(`${what}: an event a message, text that ends with a newline`, async () => {
      const watch = await connect(path);
      await watch.count(1);
      assert.match(
        watch.messages[0]?.text ?? "",
        /^\{"type":"ADDED","object":\{"kind":"ConfigMap","apiVersion":"v1".*"name":"first".*\}\}\n$/,
      );
      assert.equal(watch.messages[0]?.isBinary, false);
      watch.webSocket.close();
      assert.equal(await watch.closed, 1005);
    });
  }

  test("what happens at once are messages of their own, in order", async () => {
    const watch = await connect(`${configMaps}?watch=1&labelSelector=none`);
    const following = await connect(`${configMaps}?watch=1&resourceVersion=${await create("second")}`);
    const names = Array.from({ length: 20 }, (_, index) => `many-${index}`);
    await Promise.all(names.map((name) => create(name, { text: "x".repeat(200 * Number(name.slice(5))) })));
    await following.count(20);
    assert.deepEqual(namesOf(following).sort(), names.sort());
    const versions = following.messages.map(({ text }) => Number(JSON.parse(text).object.metadata.resourceVersion));
    assert.deepEqual(
      versions,
      versions.toSorted((a, b) => a - b),
    );
    assert.deepEqual(watch.messages, []);
    for (const { webSocket, closed } of [watch, following]) {
      webSocket.close();
      await closed;
    }
  });

  test("protobuf: binary, WatchEvent without a length before it", async () => {
    const watch = await connect(`${configMaps}/first?watch=1`, {
      headers: { accept: "application/vnd.kubernetes.protobuf" },
    });
    await watch.count(1);
    assert.equal(watch.messages[0]?.isBinary, true);
    assert.equal(watch.messages[0]?.text.slice(0, 8), "\n\x05ADDED\x12");
    watch.webSocket.terminate();
  });

  test("a Table: columns in the first message only", async () => {
    const watch = await connect(`${configMaps}?watch=1`, {
      headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
    });
    await watch.count(2);
    assert.deepEqual(
      watch.messages.slice(0, 2).map(({ text }) => JSON.parse(text).object.columnDefinitions?.length),
      [3, undefined],
    );
    watch.webSocket.terminate();
  });

  test("initial events end with a bookmark; the timeout with another, and a close frame", async () => {
    const watch = await connect(
      `${configMaps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&fieldSelector=metadata.name%3Dfirst&timeoutSeconds=1`,
    );
    assert.equal(await watch.closed, 1000);
    assert.deepEqual(
      watch.messages.map(({ text }) => JSON.parse(text).type),
      ["ADDED", "BOOKMARK", "BOOKMARK"],
    );
  });

  test("one sub-protocol, whatever its name, is taken; a token is none", async () => {
    const watch = await connect(`${configMaps}?watch=1`, { protocols: ["base64.binary.k8s.io"] });
    assert.equal(watch.webSocket.protocol, "base64.binary.k8s.io");
    watch.webSocket.terminate();
    const withToken = await connect(`${configMaps}?watch=1`, {
      protocols: ["base64url.bearer.authorization.k8s.io.eA", "x"],
    });
    assert.equal(withToken.webSocket.protocol, "x", "the certificate decides, the token is left out");
    withToken.webSocket.terminate();
  });

  test("what it sends is thrown away, pings are answered", async () => {
    const watch = await connect(`${configMaps}/first?watch=1`);
    await watch.count(1);
    watch.webSocket.send("text");
    watch.webSocket.send(Buffer.alloc(64 << 10));
    watch.webSocket.ping("there?");
    const [pong] = await once(watch.webSocket, "pong");
    assert.deepEqual(
      [pong.toString(), watch.messages.length, watch.webSocket.readyState],
      ["there?", 1, WebSocket.OPEN],
    );
    watch.webSocket.terminate();
  });

  test("metrics count it as a watch, until it is over", async () => {
    const open = async (): Promise<string | undefined> => {
      const { text } = await client.send({ path: "/metrics" });
      return /^apiserver_longrunning_requests\{[^}]*resource="secrets"[^}]*\} (\d+)$/m.exec(text)?.[1];
    };
    const watch = await connect("/api/v1/secrets?watch=1");
    assert.equal(await open(), "1");
    watch.webSocket.close();
    await watch.closed;
    while ((await open()) !== undefined) await tick();
    const { text } = await client.send({ path: "/metrics" });
    assert.match(text, /^apiserver_request_total\{verb="WATCH"[^}]*resource="secrets"[^}]*code="101"\} 1$/m);
    assert.match(text, /^apiserver_watch_events_total\{group="",version="v1",resource="configmaps"\} [1-9]/m);
  });
});

describe("ordinary answers to requests to upgrade", () => {
  const rows: [what: string, path: string, asked: Asked, status: number, text: RegExp][] = [
    [
      "not logged in",
      `${configMaps}?watch=1`,
      { anonymous: true },
      403,
      /"message":"configmaps is forbidden: User \\"system:anonymous\\" cannot watch/,
    ],
    [
      "a token nobody knows",
      `${configMaps}?watch=1`,
      { anonymous: true, protocols: ["base64url.bearer.authorization.k8s.io.eA", "x"] },
      401,
      /"reason":"Unauthorized"/,
    ],
    ["an unknown resource", "/api/v1/nothings?watch=1", {}, 404, /"reason":"NotFound"/],
    ["a bad selector", `${configMaps}?watch=1&labelSelector=%3D%3D`, {}, 400, /"reason":"BadRequest"/],
    [
      "a form there is none of",
      `${configMaps}?watch=1`,
      { headers: { accept: "text/plain" } },
      406,
      /"reason": "NotAcceptable"/,
    ],
    ["a list", `${configMaps}?limit=1`, {}, 200, /"kind":"ConfigMapList"/],
    ["an object", `${configMaps}/first`, {}, 200, /"kind":"ConfigMap"/],
    ["a badly escaped path", "/api/v1/%zz?watch=1", {}, 400, /invalid URL escape/],
  ];
  for (const [what, path, asked, status, text] of rows) {
    test(what, async () => {
      const answer = await refused(path, asked);
      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.type, "application/json");
      assert.match(answer.text, text);
    });
  }
});

const handshake: Readonly<Record<string, string>> = {
  Host: "x",
  Connection: "keep-alive, Upgrade",
  Upgrade: "WebSocket",
  "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
  "Sec-WebSocket-Version": "13",
  Origin: "https://page.example.com",
};
const watchLine = `GET ${configMaps}?watch=1&fieldSelector=metadata.name%3Dfirst&timeoutSeconds=60 HTTP/1.1`;

/** @param changes a header that is undefined is left out */
function request(changes: Readonly<Record<string, string | undefined>> = {}, line = watchLine): string {
  const headers = Object.entries({ ...handshake, ...changes }).filter(([, value]) => value !== undefined);
  return [line, ...headers.map(([name, value]) => `${name}: ${value}`), "", ""].join("\r\n");
}

/** A raw connection on which a watch has begun. */
async function rawWatch(): Promise<RawSocket> {
  const raw = await rawSocket(server.kubeconfig);
  raw.socket.write(request());
  await raw.until(/"ADDED"/);
  return raw;
}

const switched =
  /^HTTP\/1\.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n\r\n/;

describe("handshakes", () => {
  test("a proper one", async () => {
    const raw = await rawWatch();
    assert.match(raw.received(), switched);
    raw.socket.destroy();
  });

  const refusedRows: [
    what: string,
    changes: Readonly<Record<string, string | undefined>>,
    status: number,
    text: string,
    header?: string,
  ][] = [
    ["without a key", { "Sec-WebSocket-Key": undefined }, 400, "mismatch challenge/response"],
    ["a key that is none", { "Sec-WebSocket-Key": "short" }, 400, "mismatch challenge/response"],
    [
      "another version",
      { "Sec-WebSocket-Version": "8" },
      400,
      "missing or bad WebSocket Version",
      "sec-websocket-version: 13",
    ],
    [
      "no version",
      { "Sec-WebSocket-Version": undefined },
      400,
      "missing or bad WebSocket Version",
      "sec-websocket-version: 13",
    ],
    ["no origin", { Origin: undefined }, 403, ""],
    ["the origin of no page", { Origin: "null" }, 403, ""],
    ["two sub-protocols", { "Sec-WebSocket-Protocol": "a, b" }, 400, ""],
    ["a sub-protocol that is no name", { "Sec-WebSocket-Protocol": "a b" }, 400, ""],
    ["an empty sub-protocol", { "Sec-WebSocket-Protocol": "a," }, 400, ""],
  ];
  for (const [what, changes, status, text, header = "Connection: close"] of refusedRows) {
    test(`${what}: refused, and the connection ends`, async () => {
      const raw = await rawSocket(server.kubeconfig);
      raw.socket.write(request(changes));
      const [head = "", body] = (await raw.all()).split("\r\n\r\n");
      assert.deepEqual([head.slice(0, 12), body], [`HTTP/1.1 ${status}`, text]);
      assert.ok(head.split("\r\n").includes(header), head);
      raw.socket.destroy();
    });
  }

  const plainRows: [what: string, text: string][] = [
    ["HTTP/1.0", request({}, watchLine.replace("1.1", "1.0"))],
    ["another protocol", request({ Upgrade: "h2c" })],
    ["Connection does not say so", request({ Connection: "keep-alive" })],
    ["with a body", `${request({ "Content-Length": "2" })}{}`],
    ["behind a request that is not answered yet", `GET ${configMaps} HTTP/1.1\r\nHost: x\r\n\r\n${request()}`],
  ];
  for (const [what, text] of plainRows) {
    test(`${what}: an ordinary watch`, async () => {
      const raw = await rawSocket(server.kubeconfig);
      raw.socket.write(text);
      const answer = await raw.until(/\r\n\{"type":"ADDED"/);
      assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
      assert.doesNotMatch(answer, /101 Switching/);
      raw.socket.destroy();
    });
  }

  test("on a connection that has answered others", async () => {
    const raw = await rawSocket(server.kubeconfig);
    raw.socket.write(`GET ${configMaps}/first HTTP/1.1\r\nHost: x\r\n\r\n`);
    const before = await raw.until(/\}\n$/);
    raw.socket.write(request());
    assert.match((await raw.until(/"ADDED"/)).slice(before.length), switched);
    raw.socket.destroy();
  });

  test("frames right behind the request are read", async () => {
    const raw = await rawSocket(server.kubeconfig);
    raw.socket.write(Buffer.concat([Buffer.from(request()), clientFrame(0x89, "hi")]));
    assert.ok((await raw.until(/\x8a.hi/)).includes("\x8a\x02hi"));
    raw.socket.destroy();
  });
});

describe("a client that breaks the rules ends its watch", () => {
  /** @param code of the close frame that comes last */
  const rows: [what: string, bytes: Buffer, code: number][] = [
    ["a frame without a mask", Buffer.from([0x81, 0x01, 0x61]), 1002],
    ["a reserved opcode", clientFrame(0x83, "x"), 1002],
    ["a reserved bit", clientFrame(0xc1, "x"), 1002],
    ["a ping in pieces", clientFrame(0x09, "x"), 1002],
    ["a piece of nothing", clientFrame(0x80, "x"), 1002],
    ["a close frame with half a code", clientFrame(0x88, "x"), 1002],
    [
      "a message over the limit",
      Buffer.concat([clientFrame(0x01, Buffer.alloc(65_535)), clientFrame(0x80, "12")]),
      1009,
    ],
    ["a length beyond all bounds", Buffer.from([0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), 1009],
    [
      "a message in too many pieces",
      Buffer.concat([clientFrame(0x01), ...Array.from({ length: 1025 }, () => clientFrame(0x00))]),
      1008,
    ],
    ["HTTP", Buffer.from("GET / HTTP/1.1\r\n\r\n"), 1002],
    ["a close frame", clientFrame(0x88, Buffer.from([0x03, 0xe8])), 1000],
  ];
  for (const [what, bytes, code] of rows) {
    test(what, async () => {
      const raw = await rawWatch();
      raw.socket.write(bytes);
      const last = Buffer.from((await raw.all()).slice(-4), "latin1");
      assert.deepEqual([last.toString("hex", 0, 2), last.readUInt16BE(2)], ["8802", code]);
      raw.socket.destroy();
    });
  }

  test("half a connection", async () => {
    const raw = await rawWatch();
    raw.socket.end();
    await raw.all();
    raw.socket.destroy();
  });

  test("half a frame and then silence holds nothing up", async () => {
    const raw = await rawWatch();
    raw.socket.write(clientFrame(0x81, "x", 1000));
    await create("after-half-a-frame");
    raw.socket.destroy();
  });

  test("pings without end, and no reading: cut off", async () => {
    const raw = await rawWatch();
    raw.socket.pause();
    const pings = Buffer.concat(Array.from({ length: 500 }, () => clientFrame(0x89, "x".repeat(125))));
    const closed = new Promise((resolve) => raw.socket.once("close", resolve));
    const send = (): void => {
      while (!raw.socket.destroyed && raw.socket.write(pings));
    };
    raw.socket.on("drain", send);
    send();
    await closed;
  });
});

test("a client that does not read waits alone, and gets no more than its socket takes", async () => {
  const stalled = await connect(`${configMaps}?watch=1`);
  const reader = await connect(`${configMaps}?watch=1&fieldSelector=metadata.name%3Dlast`);
  stalled.webSocket.pause();
  const text = "x".repeat(500_000);
  for (let index = 0; index < 20; index++) await create(`big-${index}`, { text });
  await create("last");
  await reader.count(1);
  assert.equal(stalled.messages.filter(({ text }) => text.includes('"big-19"')).length, 0);
  stalled.webSocket.resume();
  while (!stalled.messages.some(({ text }) => text.includes('"name":"last"'))) await tick();
  assert.deepEqual(
    namesOf(stalled).filter((name) => name.startsWith("big-")),
    Array.from({ length: 20 }, (_, index) => `big-${index}`),
    "it goes on where it stopped",
  );
  stalled.webSocket.terminate();
  reader.webSocket.terminate();
});

test("a server that stops ends them cleanly", async () => {
  const own = await startTestServer();
  const watch = await connect("/api/v1/namespaces?watch=1", { to: own });
  await watch.count(4);
  await own.close();
  assert.equal(await watch.closed, 1000);
});
