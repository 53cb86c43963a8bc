/**
 * Watches over WebSocket, with a client that follows the protocol and with clients that violate it.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { before, describe, test } from "node:test";
import { type ClientOptions, type RawData, WebSocket } from "ws";
import { field } from "../support/kubeconfig-fields.ts";
import { clientFrame, type RawSocket, rawSocket } from "../support/raw-socket.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";
import { configMaps, watchedConfigMaps } from "../support/watched-config-maps.ts";

const { server, client } = await startServerWithClient();
const { create } = watchedConfigMaps(client);
before(() => create("first"));

interface Connected {
  readonly webSocket: WebSocket;
  readonly messages: { readonly text: string; readonly isBinary: boolean }[];
  /** Waits until this number of messages has arrived. */
  count(messages: number): Promise<void>;
  /** The code of the close frame. */
  readonly closed: Promise<number>;
}

interface DialOptions extends ClientOptions {
  readonly protocols?: string[];
  readonly to?: TestServer;
  readonly anonymous?: boolean;
}

function dial(path: string, { protocols = [], to = server, anonymous = false, ...options }: DialOptions): WebSocket {
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

async function connect(path: string, dialOptions: DialOptions = {}): Promise<Connected> {
  const webSocket = dial(path, dialOptions);
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
    async count(expected) {
      await until(() => messages.length >= expected);
    },
  };
}

/** @returns the HTTP answer to a request for an upgrade that is rejected */
async function rejected(
  path: string,
  dialOptions: DialOptions = {},
): Promise<{ status: number; type: string; text: string }> {
  const webSocket = dial(path, dialOptions);
  webSocket.on("error", () => undefined); // The client reports an error after an unexpected answer.
  const [, response] = (await once(webSocket, "unexpected-response")) as [unknown, IncomingMessage];
  response.setEncoding("utf8");
  let text = "";
  for await (const piece of response) text += piece;
  return { status: response.statusCode ?? 0, type: response.headers["content-type"] ?? "", text };
}

const namesOf = ({ messages }: Connected): string[] =>
  messages.map(({ text }) => JSON.parse(text).object.metadata.name);

describe("a client that follows the protocol", () => {
  const paths: [what: string, path: string][] = [
    ["a collection", `${configMaps}?watch=1&fieldSelector=metadata.name%3Dfirst`],
    ["one object", `${configMaps}/first?watch=1`],
    ["the deprecated watch path", "/api/v1/watch/namespaces/default/configmaps/first"],
  ];
  for (const [what, path] of paths) {
    test(`gets one event per text message, with a newline, for ${what}`, async () => {
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

  test("gets concurrent changes as separate messages in order", async () => {
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

  test("gets protobuf events as binary messages without a length prefix", async () => {
    const watch = await connect(`${configMaps}/first?watch=1`, {
      headers: { accept: "application/vnd.kubernetes.protobuf" },
    });
    await watch.count(1);
    assert.equal(watch.messages[0]?.isBinary, true);
    assert.equal(watch.messages[0]?.text.slice(0, 8), "\n\x05ADDED\x12");
    watch.webSocket.terminate();
  });

  test("gets the columns of a Table in the first message only", async () => {
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

  test("gets a bookmark after the initial events, and another before the close frame at the timeout", async () => {
    const watch = await connect(
      `${configMaps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&fieldSelector=metadata.name%3Dfirst&timeoutSeconds=1`,
    );
    assert.equal(await watch.closed, 1000);
    assert.deepEqual(
      watch.messages.map(({ text }) => JSON.parse(text).type),
      ["ADDED", "BOOKMARK", "BOOKMARK"],
    );
  });

  test("negotiates a subprotocol with any name, but not the one with a token", async () => {
    const watch = await connect(`${configMaps}?watch=1`, { protocols: ["base64.binary.k8s.io"] });
    assert.equal(watch.webSocket.protocol, "base64.binary.k8s.io");
    watch.webSocket.terminate();
    const withToken = await connect(`${configMaps}?watch=1`, {
      protocols: ["base64url.bearer.authorization.k8s.io.eA", "x"],
    });
    assert.equal(withToken.webSocket.protocol, "x", "the certificate authenticates, and the token is not selected");
    withToken.webSocket.terminate();
  });

  test("can send messages, which the server ignores, and pings, which it answers", async () => {
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

  test("is counted as a watch in the metrics until it disconnects", async () => {
    const open = async (): Promise<string | undefined> => {
      const { text } = await client.send({ path: "/metrics" });
      return /^apiserver_longrunning_requests\{[^}]*resource="secrets"[^}]*\} (\d+)$/m.exec(text)?.[1];
    };
    const watch = await connect("/api/v1/secrets?watch=1");
    assert.equal(await open(), "1");
    watch.webSocket.close();
    await watch.closed;
    await until(async () => (await open()) === undefined);
    const { text } = await client.send({ path: "/metrics" });
    assert.match(text, /^apiserver_request_total\{verb="WATCH"[^}]*resource="secrets"[^}]*code="0"\} 1$/m);
    assert.match(text, /^apiserver_watch_events_total\{group="",version="v1",resource="configmaps"\} [1-9]/m);
  });
});

describe("answers a request for an upgrade without upgrading", () => {
  const rows: [what: string, path: string, dialOptions: DialOptions, status: number, text: RegExp][] = [
    [
      "for an anonymous client",
      `${configMaps}?watch=1`,
      { anonymous: true },
      403,
      /"message":"configmaps is forbidden: User \\"system:anonymous\\" cannot watch/,
    ],
    [
      "for an unknown token",
      `${configMaps}?watch=1`,
      { anonymous: true, protocols: ["base64url.bearer.authorization.k8s.io.eA", "x"] },
      401,
      /"reason":"Unauthorized"/,
    ],
    ["for an unknown resource", "/api/v1/nothings?watch=1", {}, 404, /"reason":"NotFound"/],
    ["for an invalid selector", `${configMaps}?watch=1&labelSelector=%3D%3D`, {}, 400, /"reason":"BadRequest"/],
    [
      "for an unsupported media type",
      `${configMaps}?watch=1`,
      { headers: { accept: "text/plain" } },
      406,
      /"reason": "NotAcceptable"/,
    ],
    ["for a list", `${configMaps}?limit=1`, {}, 200, /"kind":"ConfigMapList"/],
    ["for an object", `${configMaps}/first`, {}, 200, /"kind":"ConfigMap"/],
    ["for an invalid escape in the path", "/api/v1/%zz?watch=1", {}, 400, /invalid URL escape/],
  ];
  for (const [what, path, dialOptions, status, text] of rows) {
    test(what, async () => {
      const answer = await rejected(path, dialOptions);
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

/** @param changes to the headers; undefined removes one */
function request(changes: Readonly<Record<string, string | undefined>> = {}, line = watchLine): string {
  const headers = Object.entries({ ...handshake, ...changes }).filter(([, value]) => value !== undefined);
  return [line, ...headers.map(([name, value]) => `${name}: ${value}`), "", ""].join("\r\n");
}

/** @returns a raw connection with a watch that has sent its first event */
async function rawWatch(): Promise<RawSocket> {
  const raw = await rawSocket(server.kubeconfig);
  raw.socket.write(request());
  await raw.until(/"ADDED"/);
  return raw;
}

const switchingProtocols =
  /^HTTP\/1\.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n\r\n/;

describe("handshakes", () => {
  test("switches protocols for a valid handshake", async () => {
    const raw = await rawWatch();
    assert.match(raw.received(), switchingProtocols);
    raw.socket.destroy();
  });

  const invalidRows: [
    what: string,
    changes: Readonly<Record<string, string | undefined>>,
    status: number,
    text: string,
    header?: string,
  ][] = [
    ["without a key", { "Sec-WebSocket-Key": undefined }, 400, "mismatch challenge/response"],
    ["with an invalid key", { "Sec-WebSocket-Key": "short" }, 400, "mismatch challenge/response"],
    [
      "with another version",
      { "Sec-WebSocket-Version": "8" },
      400,
      "missing or bad WebSocket Version",
      "sec-websocket-version: 13",
    ],
    [
      "without a version",
      { "Sec-WebSocket-Version": undefined },
      400,
      "missing or bad WebSocket Version",
      "sec-websocket-version: 13",
    ],
    ["without an origin", { Origin: undefined }, 403, ""],
    ["with the origin null", { Origin: "null" }, 403, ""],
    ["with two subprotocols", { "Sec-WebSocket-Protocol": "a, b" }, 400, ""],
    ["with an invalid subprotocol", { "Sec-WebSocket-Protocol": "a b" }, 400, ""],
    ["with an empty subprotocol", { "Sec-WebSocket-Protocol": "a," }, 400, ""],
  ];
  for (const [what, changes, status, text, header = "Connection: close"] of invalidRows) {
    test(`rejects a handshake ${what}, and closes the connection`, async () => {
      const raw = await rawSocket(server.kubeconfig);
      raw.socket.write(request(changes));
      const [head = "", body] = (await raw.all()).split("\r\n\r\n");
      assert.deepEqual([head.slice(0, 12), body], [`HTTP/1.1 ${status}`, text]);
      assert.ok(head.split("\r\n").includes(header), head);
      raw.socket.destroy();
    });
  }

  const plainRows: [what: string, text: string][] = [
    ["over HTTP/1.0", request({}, watchLine.replace("1.1", "1.0"))],
    ["to another protocol", request({ Upgrade: "h2c" })],
    ["without Upgrade in Connection", request({ Connection: "keep-alive" })],
    ["with a body", `${request({ "Content-Length": "2" })}{}`],
    ["after a pipelined request", `GET ${configMaps} HTTP/1.1\r\nHost: x\r\n\r\n${request()}`],
  ];
  for (const [what, text] of plainRows) {
    test(`answers an upgrade ${what} with an ordinary watch`, async () => {
      const raw = await rawSocket(server.kubeconfig);
      raw.socket.write(text);
      const answer = await raw.until(/\r\n\{"type":"ADDED"/);
      assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
      assert.doesNotMatch(answer, /101 Switching/);
      raw.socket.destroy();
    });
  }

  test("switches protocols after other requests on the connection", async () => {
    const raw = await rawSocket(server.kubeconfig);
    raw.socket.write(`GET ${configMaps}/first HTTP/1.1\r\nHost: x\r\n\r\n`);
    const before = await raw.until(/\}\n$/);
    raw.socket.write(request());
    assert.match((await raw.until(/"ADDED"/)).slice(before.length), switchingProtocols);
    raw.socket.destroy();
  });

  test("reads frames in the same packet as the request", async () => {
    const raw = await rawSocket(server.kubeconfig);
    raw.socket.write(Buffer.concat([Buffer.from(request()), clientFrame(0x89, "hi")]));
    assert.ok((await raw.until(/\x8a.hi/)).includes("\x8a\x02hi"));
    raw.socket.destroy();
  });
});

describe("the server closes the watch of a client that sends", () => {
  const rows: [what: string, bytes: Buffer, closeCode: number][] = [
    ["a frame without a mask", Buffer.from([0x81, 0x01, 0x61]), 1002],
    ["a reserved opcode", clientFrame(0x83, "x"), 1002],
    ["a reserved bit", clientFrame(0xc1, "x"), 1002],
    ["a fragmented ping", clientFrame(0x09, "x"), 1002],
    ["a continuation frame without a message", clientFrame(0x80, "x"), 1002],
    ["a close frame with a truncated code", clientFrame(0x88, "x"), 1002],
    [
      "a message over the limit",
      Buffer.concat([clientFrame(0x01, Buffer.alloc(65_535)), clientFrame(0x80, "12")]),
      1009,
    ],
    [
      "a frame with an excessive length",
      Buffer.from([0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
      1009,
    ],
    [
      "a message in too many fragments",
      Buffer.concat([clientFrame(0x01), ...Array.from({ length: 1025 }, () => clientFrame(0x00))]),
      1008,
    ],
    ["an HTTP request", Buffer.from("GET / HTTP/1.1\r\n\r\n"), 1002],
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

  test("the end of its side of the connection", async () => {
    const raw = await rawWatch();
    raw.socket.end();
    await raw.all();
    raw.socket.destroy();
  });

  test("a truncated frame, without a delay of other clients", async () => {
    const raw = await rawWatch();
    raw.socket.write(clientFrame(0x81, "x", 1000));
    await create("after-half-a-frame");
    raw.socket.destroy();
  });

  test("pings without reading the answers", async () => {
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

test("a client that does not read delays no other client, and resumes where it stopped", async () => {
  const stalled = await connect(`${configMaps}?watch=1`);
  const reader = await connect(`${configMaps}?watch=1&fieldSelector=metadata.name%3Dlast`);
  stalled.webSocket.pause();
  const text = "x".repeat(500_000);
  for (let index = 0; index < 20; index++) await create(`big-${index}`, { text });
  await create("last");
  await reader.count(1);
  assert.equal(stalled.messages.filter(({ text }) => text.includes('"big-19"')).length, 0);
  stalled.webSocket.resume();
  await until(() => stalled.messages.some(({ text }) => text.includes('"name":"last"')));
  assert.deepEqual(
    namesOf(stalled).filter((name) => name.startsWith("big-")),
    Array.from({ length: 20 }, (_, index) => `big-${index}`),
    "the watch resumes where it stopped",
  );
  stalled.webSocket.terminate();
  reader.webSocket.terminate();
});

test("a server that shuts down closes WebSockets with code 1000", async () => {
  const own = await startTestServer();
  const watch = await connect("/api/v1/namespaces?watch=1", { to: own });
  await watch.count(4);
  await own.close();
  assert.equal(await watch.closed, 1000);
});
