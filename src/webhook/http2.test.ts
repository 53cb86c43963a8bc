/** Calls of servers that offer HTTP/2. */
import assert from "node:assert/strict";
import http2, { type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { before, test } from "node:test";
import tls from "node:tls";
import { until } from "../../test/support/until.ts";
import { createAuthority, issueCertificate, type KeyPair } from "../server/serving/x509.ts";
import { type ClientOptions, webhookClient } from "./client.ts";
import { type WebhookClient, type WebhookEndpoint, WebhookError } from "./contract.ts";

interface Server {
  readonly url: string;
  /** Each with its protocol. */
  readonly connections: string[];
  readonly sessions: ServerHttp2Session[];
  readonly open: ServerHttp2Stream[];
  close(): void;
}

type Reply = (stream: ServerHttp2Stream, index: number) => void;

let authority: KeyPair;
let pair: KeyPair;
before(async () => {
  const [notBefore, notAfter] = [Date.now() - 3_600_000, Date.now() + 3_600_000];
  authority = await createAuthority({ subject: { commonName: "webhooks" }, notBefore, notAfter });
  const usage = "server" as const;
  const names = ["127.0.0.1"];
  pair = await issueCertificate(authority, { subject: { commonName: "w" }, usage, names, notBefore, notAfter });
});

async function serve(reply: Reply, settings: http2.Settings = {}): Promise<Server> {
  const server = http2.createSecureServer({ ...pair, allowHTTP1: true, settings });
  const [connections, sessions, open]: [string[], ServerHttp2Session[], ServerHttp2Stream[]] = [[], [], []];
  let index = 0;
  server.on("secureConnection", (socket) => void connections.push(socket.alpnProtocol || "none"));
  server.on("session", (session) => {
    sessions.push(session);
    session.on("error", () => {});
  });
  server.on("stream", (stream: ServerHttp2Stream) => {
    open.push(stream);
    stream.on("error", () => {});
    stream.resume().on("end", () => reply(stream, index++));
  });
  server.on("request", (request, response) => {
    if (request.httpVersionMajor === 1) request.resume().on("end", () => response.end("1.1"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/c`,
    connections,
    sessions,
    open,
    close() {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}

const answer: Reply = (stream) => {
  stream.respond({ ":status": 200, "content-type": "application/json" });
  stream.end("{}");
};

interface Scene {
  readonly server: Server;
  readonly client: WebhookClient;
  /** @returns the status and body, or the kind and the message of the failure without the URL */
  post(timeoutMs?: number): Promise<string>;
}

interface SceneOptions {
  readonly reply?: Reply;
  readonly settings?: http2.Settings;
  readonly endpoint?: Partial<WebhookEndpoint>;
  readonly options?: ClientOptions;
}

async function inScene(scene: SceneOptions, run: (scene: Scene) => Promise<void>): Promise<void> {
  const server = await serve(scene.reply ?? answer, scene.settings);
  const client = webhookClient(
    { url: server.url, ca: authority.cert, offersHttp2: true, ...scene.endpoint },
    scene.options,
  );
  const post = async (timeoutMs = 30_000): Promise<string> => {
    try {
      const { status, body } = await client.post("{}", { timeoutMs });
      return `${status} ${body}`;
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
      return `${error.kind}: ${error.message.replace(/^Post ".*?": /, "")}`;
    }
  };
  try {
    await run({ server, client, post });
  } finally {
    client.close();
    server.close();
  }
}

function times<Result>(count: number, run: () => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, run));
}

test("calls share one connection, and keep it", () =>
  inScene({}, async ({ server, post }) => {
    assert.equal(await post(), "200 {}");
    assert.deepEqual(new Set(await times(20, post)), new Set(["200 {}"]));
    assert.deepEqual(server.connections, ["h2"]);
  }));

test("the first calls may open several, of which one stays", () =>
  inScene({}, async ({ server, post }) => {
    assert.deepEqual(new Set(await times(5, post)), new Set(["200 {}"]));
    const opened = server.connections.length;
    await times(20, post);
    assert.equal(server.connections.length, opened);
  }));

test("calls of a Service use HTTP/1.1, so that they spread over its pods", () =>
  inScene({}, async ({ server, post }) => {
    const port = Number(new URL(server.url).port);
    const endpoint = { url: server.url, ca: authority.cert, resolve: () => ({ host: "127.0.0.1", port }) };
    const client = webhookClient(endpoint);
    try {
      assert.equal(String((await client.post("{}", { timeoutMs: 30_000 })).body), "1.1");
      assert.deepEqual(server.connections, ["http/1.1"]);
      assert.equal(await post(), "200 {}");
    } finally {
      client.close();
    }
  }));

test("a connection that the server ends takes no further calls, and those in progress finish", () => {
  let finish = (): void => {};
  const reply: Reply = (stream, index) => {
    if (index !== 1) return answer(stream, index);
    finish = () => answer(stream, index);
    stream.session?.close();
  };
  return inScene({ reply }, async ({ server, post }) => {
    await post();
    const slow = post();
    await until(() => server.open.length === 2);
    assert.equal(await post(), "200 {}");
    finish();
    assert.equal(await slow, "200 {}");
    assert.deepEqual(server.connections, ["h2", "h2"]);
  });
});

test("a call on a used connection that breaks without a response is sent again", () => {
  const reply: Reply = (stream, index) => (index === 1 ? stream.session?.destroy() : answer(stream, index));
  return inScene({ reply }, async ({ server, post }) => {
    assert.deepEqual([await post(), await post()], ["200 {}", "200 {}"]);
    assert.equal(server.connections.length, 2);
  });
});

test("a call on a new connection that breaks fails", () =>
  inScene({ reply: (stream) => stream.session?.destroy() }, async ({ post }) => {
    assert.match(await post(), /^(?:closed: EOF|reset: read: connection reset by peer)$/);
  }));

test("a stream that the server rejects unread is sent again on another connection", () => {
  const reply: Reply = (stream, index) =>
    index === 1 ? stream.close(http2.constants.NGHTTP2_REFUSED_STREAM) : answer(stream, index);
  return inScene({ reply }, async ({ server, post }) => {
    assert.deepEqual([await post(), await post()], ["200 {}", "200 {}"]);
    assert.equal(server.connections.length, 2);
  });
});

test("a stream that the server resets fails alone", () => {
  const reply: Reply = (stream, index) =>
    index === 1 ? stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR) : answer(stream, index);
  return inScene({ reply }, async ({ server, post }) => {
    await post();
    assert.equal(await post(), "malformed: stream error: stream ID 3; INTERNAL_ERROR; received from peer");
    assert.equal(await post(), "200 {}");
    assert.equal(server.connections.length, 1);
  });
});

test("a response that ends early fails", () => {
  const reply: Reply = (stream) => {
    stream.respond({ ":status": 200, "content-length": "10" });
    stream.write("{}", () => stream.close(http2.constants.NGHTTP2_NO_ERROR));
  };
  return inScene({ reply }, async ({ post }) => {
    assert.match(await post(), /^(?:closed|malformed): /);
  });
});

test("a deadline ends its stream, and no other call", () => {
  let finish = (): void => {};
  const reply: Reply = (stream, index) => {
    if (index === 1) finish = () => answer(stream, index);
    else if (index !== 2) answer(stream, index);
  };
  return inScene({ reply }, async ({ server, post }) => {
    await post();
    const other = post();
    await until(() => server.open.length === 2);
    assert.equal(await post(50), "timeout: context deadline exceeded");
    await until(() => server.open[2]?.rstCode === http2.constants.NGHTTP2_CANCEL);
    finish();
    assert.equal(await other, "200 {}");
    assert.equal(server.connections.length, 1);
  });
});

test("a response that is too large ends its stream", () => {
  const reply: Reply = (stream, index) => {
    if (index !== 1) return answer(stream, index);
    stream.respond({ ":status": 200 });
    stream.end("x".repeat(1000));
  };
  return inScene({ reply, options: { answerBytesMax: 100 } }, async ({ server, post }) => {
    await post();
    assert.match(await post(), /^tooLarge: /);
    assert.equal(await post(), "200 {}");
    assert.equal(server.connections.length, 1);
  });
});

test("large responses at once do not stop each other", () => {
  const text = "x".repeat(3 << 20);
  const reply: Reply = (stream) => {
    stream.respond({ ":status": 200 });
    stream.end(text);
  };
  return inScene({ reply }, async ({ post }) => {
    await post();
    assert.deepEqual(new Set(await times(10, post)), new Set([`200 ${text}`]));
  });
});

test("a server that allows one stream gets further connections, within the limit", () => {
  const settings = { maxConcurrentStreams: 1 };
  return inScene({ settings, options: { connectionsMax: 3 } }, async ({ server, post }) => {
    await post();
    assert.deepEqual(new Set(await times(20, post)), new Set(["200 {}"]));
    assert.ok(server.connections.length <= 3, String(server.connections.length));
  });
});

test("calls beyond the limit wait", () => {
  let most = 0;
  let now = 0;
  const reply: Reply = (stream, index) => {
    most = Math.max(most, ++now);
    setImmediate(() => {
      now--;
      answer(stream, index);
    });
  };
  return inScene({ reply, options: { connectionsMax: 4 } }, async ({ post }) => {
    assert.deepEqual(new Set(await times(30, post)), new Set(["200 {}"]));
    assert.ok(most <= 4, String(most));
  });
});

test("close ends the calls", () =>
  inScene({ reply: () => {} }, async ({ server, client, post }) => {
    const call = post();
    await until(() => server.open.length === 1);
    client.close();
    assert.equal(await call, "closed: EOF");
    assert.equal(await post(), "closed: EOF");
  }));

const hostile: readonly (readonly [what: string, bytes: Buffer | undefined, outcome: RegExp])[] = [
  [
    "text",
    Buffer.from("HTTP/1.1 200 OK\r\n\r\n"),
    /^(?:closed: EOF|closed: http2: .*|malformed: connection error: \w+)$/,
  ],
  ["nothing", undefined, /^timeout: context deadline exceeded$/],
  [
    "a frame that is too large",
    Buffer.from("ffffff000000000000", "hex"),
    /^(?:closed: EOF|closed: http2: .*|malformed: connection error: \w+)$/,
  ],
];
for (const [what, bytes, outcome] of hostile)
  test(`a server that chooses HTTP/2 and sends ${what} fails the call`, async () => {
    const server = tls.createServer({ ...pair, ALPNProtocols: ["h2"] }, (socket) => {
      socket.on("error", () => {}).resume();
      if (bytes !== undefined) socket.write(bytes);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/c`;
    const client = webhookClient({ url, ca: authority.cert, offersHttp2: true });
    try {
      const failure = client.post("{}", { timeoutMs: 500 }).then(
        () => "an answer",
        ({ kind, message }: WebhookError) => `${kind}: ${message.replace(/^Post ".*?": /, "")}`,
      );
      assert.match(await failure, outcome);
    } finally {
      client.close();
      server.close();
    }
  });
