/**
 * Random answers of backends: valid ones with odd values, damaged bytes, and ends at any byte, late or never.
 *
 * - Each forwarded request ends: with a response, an error, or a broken stream; at its deadline at the latest.
 * - Each stream of exec, attach and portforward ends with its client.
 * - Each answer of a webhook, a converter and etcd is accepted, or rejected with an error of its kind.
 */
import assert from "node:assert/strict";
import http2 from "node:http2";
import https from "node:https";
import type { Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { after, before, test } from "node:test";
import { denial } from "../src/admission/webhooks/denial.ts";
import { InvalidReview, type ReviewResponse, readResponse } from "../src/admission/webhooks/review-response.ts";
import { forwardTo } from "../src/aggregator/forward-to.ts";
import { ReviewProblem, readReview } from "../src/apis/apiextensions/conversion/review.ts";
import type { RequestContext } from "../src/http/contract.ts";
import { type Listener, listen } from "../src/http/listener/listen.ts";
import { json } from "../src/http/representation/json.ts";
import { createServe } from "../src/http/serve.ts";
import { isTranslated, translateStreams } from "../src/kubelet/stream-translator.ts";
import { isTunnel, tunnelStreams } from "../src/kubelet/tunnel.ts";
import { ProtobufError } from "../src/lib/protobuf/reader.ts";
import { encodeDataHead, encodeGoAway, encodePing, encodeRstStream, encodeSynReply } from "../src/lib/spdy/frames.ts";
import { HeaderEncoder } from "../src/lib/spdy/headers.ts";
import { proxyRequest } from "../src/proxy/proxy-request.ts";
import type { RegistryContext } from "../src/registry/contract.ts";
import { type Certificates, createCertificates } from "../src/serving/certificates.ts";
import { decodeMessage } from "../src/storage/etcd/api/codec.ts";
import { rangeResponse, txnResponse, watchResponse } from "../src/storage/etcd/api/messages.ts";
import { WebhookError } from "../src/webhook/contract.ts";
import { manualClock } from "./support/manual-clock.ts";
import { seededRandom } from "./support/seeded-random.ts";

const seed = Number(process.env.SEED ?? Date.now() % 2 ** 32);
const random = seededRandom(seed);
const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;
const isFull = process.env.COXSWAIN_TEST_FULL === "1";
/** A million together. */
const counts = isFull
  ? { forwarded: 200_000, aggregated: 50_000, streams: 30_000, webhook: 300_000, converter: 250_000, etcd: 250_000 }
  : { forwarded: 300, aggregated: 100, streams: 100, webhook: 2000, converter: 2000, etcd: 2000 };

const deadlineMs = 1000;
const clock = manualClock();
const failures: string[] = [];
let certificates: Certificates;
let listener: Listener;
let session: http2.ClientHttp2Session;
const agent = new https.Agent({ keepAlive: true });
/** The denials that requests are answered with, by number. */
const denials = new Map<string, ReviewResponse["result"]>();

before(async () => {
  certificates = await createCertificates({ now: Date.now(), names: ["127.0.0.1"] });
  const logger = {
    info() {},
    warn() {},
    error: (message: string, values?: object) => void failures.push(`${message} ${JSON.stringify(values)}`),
  };
  listener = await listen({
    host: "127.0.0.1",
    port: 0,
    serving: { certificate: certificates.serving, named: [], clientCa: undefined },
    acceptsUpgrade: ({ target }) => target.startsWith("/streams/"),
    onExchange: createServe({
      filters: [],
      registry: {} as RegistryContext,
      endpoints: { verbs: {}, computed: {}, subresources: {} },
      routes: [
        {
          path: "/forwarded/*",
          handler(context) {
            const ended = new AbortController();
            const expire = (): void => ended.abort(new WebhookError("timeout", "context deadline exceeded"));
            context.exchange.onClose(clock.after(deadlineMs, expire));
            const target = { scheme: "http", host: "backend", path: "/", open: openRandomBackend } as const;
            return proxyRequest(context, { target, clock, isWrapped: true, signal: ended.signal });
          },
        },
        {
          path: "/aggregated/*",
          handler(context) {
            const address = { host: "backend", port: 443 };
            const user = { name: "ann", uid: "", groups: ["a"], extra: new Map() };
            const endsAt = clock.now() + deadlineMs;
            const options = { address, open: openRandomBackend, user, rejectsRedirects: random(2) === 0, clock };
            return forwardTo({ ...context, endsAt }, options);
          },
        },
        { path: "/streams/*", handler: serveRandomStreams },
        {
          path: "/denied/*",
          handler({ info }) {
            throw denial("webhook.example.com", denials.get(info.path));
          },
        },
      ],
      encodings: [json],
      clock,
      logger,
    }),
    clock,
    logger,
  });
  session = http2.connect(`https://127.0.0.1:${listener.port}`, { ca: certificates.ca.cert });
  session.on("error", () => {}); // The streams report it.
});
after(async () => {
  session.destroy();
  agent.destroy();
  await listener.close();
});

const statuses = [
  "000",
  "099",
  "100",
  "101",
  "102",
  "199",
  "200",
  "201",
  "204",
  "205",
  "301",
  "304",
  "404",
  "503",
  "599",
  "600",
  "999",
  "1000",
  "",
];
const headers = [
  "Content-Type: text/plain",
  "Content-Type: text/html",
  "Content-Type: text/html; charset=utf-8",
  "Content-Encoding: gzip",
  "Content-Length: 3",
  "Content-Length: -1",
  "Transfer-Encoding: chunked",
  "HTTP2-Settings: AAMAAABkAAQAAP__",
  "Connection: close, X-A",
  "Upgrade: h2c",
  "TE: trailers",
  "Trailer: X-T",
  'ETag: "a"',
  "Location: http://[::1",
  "Location: /x",
  "Set-Cookie: a=\xff",
  "X-A: \x01",
  "X A: b",
  ": b",
  ":status: 200",
  `X-Long: ${"x".repeat(70_000)}`,
  "Date: now",
  "Content-Length: 99999999999999999999",
];
const bodies = ["", "abc", "3\r\nabc\r\n0\r\n\r\n", "<a href='/x'>", "\x1f\x8b\x08", "x".repeat(200_000)];

function randomResponse(): Buffer {
  const lines = Array.from({ length: random(5) }, () => pick(headers));
  const bytes = Buffer.from(`HTTP/1.1 ${pick(statuses)} Odd\r\n${lines.join("\r\n")}\r\n\r\n${pick(bodies)}`, "latin1");
  for (let left = random(3); left > 0; left--) if (random(4) === 0) bytes[random(bytes.length)] = random(256);
  return random(3) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes;
}

function openPair(): { readonly near: Socket; readonly far: Duplex } {
  const [near, far] = duplexPair();
  far.on("error", () => {}); // The proxy closes the connection.
  return { near: near as Socket, far }; // What Node's HTTP client uses of it is that of a Duplex.
}

/** Answers with a random response, and ends, breaks off, or leaves the connection open. */
async function openRandomBackend(): Promise<Socket> {
  const { near, far } = openPair();
  far.resume();
  const end = random(4);
  if (end !== 3 || random(2) === 0) far.write(randomResponse());
  if (end === 0) far.end();
  else if (end === 1) setImmediate(() => far.destroy());
  return near;
}

const usually = <T>(value: T, others: readonly T[]): T => (random(4) > 0 ? value : pick(others));

/** The pieces of a kubelet's answer to a request for streams: the head, and frames of SPDY. */
function randomUpgrade(): Buffer[] {
  const status = usually("101", statuses);
  const upgrade = usually("SPDY/3.1", ["websocket", "h2c", ""]);
  const version = usually("v4.channel.k8s.io", ["channel.k8s.io", "v5.channel.k8s.io", "portforward.k8s.io", "x"]);
  const lines = [`Connection: ${usually("Upgrade", ["close", "X-A"])}`, `Upgrade: ${upgrade}`];
  const more = Array.from({ length: random(3) }, () => pick(headers));
  const head = [`HTTP/1.1 ${status} Odd`, ...lines, `X-Stream-Protocol-Version: ${version}`, ...more].join("\r\n");
  const encoder = new HeaderEncoder();
  const frames = Array.from({ length: random(9) }, (_, index) => {
    const id = usually(1 + 2 * index, [0, 1, 2, 3, 5, 2 ** 31 - 1]);
    const text = pick(bodies);
    return usually(encodeSynReply(id, encoder.encode(new Map())), [
      Buffer.concat([encodeDataHead(id, { length: text.length, fin: random(2) === 0 }), Buffer.from(text, "latin1")]),
      encodeRstStream(id, random(12)),
      encodePing(id),
      encodeGoAway(id),
      Buffer.from("\x80\x03\x00\x02\x00\xff\xff\xff", "latin1"),
    ]);
  });
  return [Buffer.from(`${head}\r\n\r\n`, "latin1"), ...frames].map((bytes) => {
    if (random(20) === 0) bytes[random(bytes.length)] = random(256);
    return random(20) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes;
  });
}

/** A kubelet that answers each piece of the request with the next one of a random answer. */
async function openRandomKubelet(): Promise<Socket> {
  const { near, far } = openPair();
  const pieces = randomUpgrade();
  const end = random(4);
  far.on("data", () => {
    const next = pieces.shift();
    if (next !== undefined && !far.writableEnded) far.write(next);
    else if (end === 0) far.end();
    else if (end === 1) setImmediate(() => far.destroy());
  });
  return near;
}

const observer = {
  logRequested() {},
  logVerificationFailed() {},
  streamsRequested() {},
  translated() {},
  tunneled() {},
};

function serveRandomStreams(context: RequestContext): Promise<void> {
  const { upgrade } = context.exchange;
  const kubelet = { host: "kubelet", port: 10250, servesWebSockets: false };
  const location = { kubelet, path: "/exec/n/p/c", query: "command=x" };
  const parts = { location, open: openRandomKubelet, observer, clock };
  const isOn = (): boolean => random(2) === 0;
  const connection = { metadata: {}, stdin: isOn(), stdout: isOn(), stderr: isOn(), tty: isOn() } as never;
  if (upgrade !== undefined && isTranslated(context.exchange, upgrade))
    return translateStreams(context, upgrade, connection, parts);
  if (upgrade !== undefined && isTunnel(context.exchange, upgrade)) return tunnelStreams(context, upgrade, parts);
  const target = { scheme: "https", host: "kubelet:10250", path: location.path, open: openRandomKubelet } as const;
  return proxyRequest(context, { target, clock, isWrapped: false, requiresUpgrade: true });
}

/** @returns the status; 0 for a broken stream */
function send(path: string): Promise<number> {
  return new Promise((resolve) => {
    const stream = session.request({ ":path": path });
    let status = 0;
    stream.on("response", (answered) => {
      status = Number(answered[":status"]);
    });
    stream.on("error", () => {}); // A close follows.
    stream.on("close", () => resolve(status));
    stream.resume();
    stream.end();
  });
}

/** HTTP/1.1 carries statuses up to 999, HTTP/2 does not. */
async function sendOverHttp2(path: string): Promise<number> {
  const status = await send(path);
  assert.ok(status <= 599, String(status));
  return status;
}

/** @returns the status; 0 for a broken connection */
function sendOverHttp1(path: string): Promise<number> {
  return new Promise((resolve) => {
    const request = https.request({ host: "127.0.0.1", port: listener.port, ca: certificates.ca.cert, agent, path });
    let isAnswered = false;
    request.on("response", (response) => {
      isAnswered = true;
      response.on("error", () => {}); // A close follows.
      response.on("close", () => resolve(response.complete ? (response.statusCode as number) : 0)).resume();
    });
    request.on("error", () => {}); // A close follows.
    request.on("close", () => void (isAnswered || resolve(0))).end();
  });
}

/** Clients that leave after some turns. */
const leaving = new Set<{ turns: number; leave(): void }>();

const protocols = ["v5.channel.k8s.io", "SPDY/3.1+portforward.k8s.io", "v4.channel.k8s.io"];

/** Requests streams, sends random bytes, and leaves. @returns the status; 0 for a broken connection */
function openStreams(path: string): Promise<number> {
  return new Promise((resolve) => {
    const request = https.request({
      ...{ host: "127.0.0.1", port: listener.port, ca: certificates.ca.cert, agent: false, path },
      headers: {
        connection: "Upgrade",
        upgrade: usually("websocket", ["SPDY/3.1"]),
        "sec-websocket-version": "13",
        "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "sec-websocket-protocol": pick(protocols),
      },
    });
    const client = { turns: random(200), leave: () => void request.destroy() };
    leaving.add(client);
    let isAnswered = false;
    const finish = (status: number): void => {
      leaving.delete(client);
      resolve(status);
    };
    request.on("upgrade", (_response, socket) => {
      isAnswered = true;
      socket.on("error", () => {}); // A close follows.
      socket.on("close", () => finish(101)).resume();
      client.leave = () => void socket.destroy();
      if (random(2) === 0) socket.write(Buffer.from(Array.from({ length: random(60) }, () => random(256))));
    });
    request.on("response", (response) => {
      isAnswered = true;
      response.on("error", () => {}); // A close follows.
      response.on("close", () => finish(response.statusCode as number)).resume();
    });
    request.on("error", () => {}); // A close follows.
    request.on("close", () => void (isAnswered || finish(0))).end();
  });
}

const atOnce = 50;

/** Sends requests until the time of all of them has passed. */
async function sendAll(count: number, sendOne: (index: number) => Promise<number>): Promise<void> {
  for (let at = 0; at < count; at += atOnce) {
    let open = atOnce;
    const all = Promise.all(Array.from({ length: atOnce }, (_, index) => sendOne(at + index).finally(() => open--)));
    while (open > 0) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(deadlineMs / 100);
      for (const client of leaving) if (client.turns-- === 0) client.leave();
    }
    for (const status of await all)
      assert.ok(status === 0 || status === 101 || (status >= 200 && status <= 999), String(status));
  }
  assert.deepEqual(failures, []);
}

const options = { timeout: 1_200_000 };

test(`a forwarded request ends at its deadline at the latest, SEED=${seed}`, options, () =>
  sendAll(counts.forwarded, (index) => (index % 3 === 0 ? sendOverHttp1 : sendOverHttp2)(`/forwarded/${index}`)),
);

test(`a request to an aggregated server ends at its deadline at the latest, SEED=${seed}`, options, () =>
  sendAll(counts.aggregated, (index) => (index % 3 === 0 ? sendOverHttp1 : sendOverHttp2)(`/aggregated/${index}`)),
);

test(`the streams of a kubelet end with their client, SEED=${seed}`, options, () =>
  sendAll(counts.streams, (index) => openStreams(`/streams/${index}`)),
);

/** Values in place of others. */
const odd = [
  null,
  true,
  0,
  -1,
  99,
  204,
  599,
  600,
  1000,
  2 ** 31,
  1e21,
  1.5,
  "",
  "x",
  "\0",
  "\ud800",
  [],
  [null],
  {},
  { a: 1 },
] as const;

/** A copy in which some values are others. */
function disturbed(value: unknown): unknown {
  if (random(8) === 0) return pick(odd);
  if (Array.isArray(value)) return value.map(disturbed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) => (random(12) === 0 ? [] : [[key, disturbed(one)]])),
  );
}

function randomAnswer(template: object): { status: number; headers: Record<string, string>; body: Buffer } {
  const text = Buffer.from(JSON.stringify(random(4) === 0 ? template : disturbed(template)));
  if (random(6) === 0) text[random(text.length)] = random(256);
  const body = random(8) === 0 ? text.subarray(0, random(text.length)) : text;
  return {
    status: random(4) === 0 ? pick([199, 204, 304, 400, 429, 500, 599, 600, 999]) : 200,
    headers: {
      "content-type": pick(["application/json", "text/plain", ""]),
      "retry-after": pick(["1", "-1", "x", "99999999999"]),
    },
    body,
  };
}

const review = (version: string): object => ({
  apiVersion: `admission.k8s.io/${version}`,
  kind: "AdmissionReview",
  response: {
    uid: "u",
    allowed: false,
    status: {
      metadata: { continue: "x", resourceVersion: "1" },
      status: "Failure",
      message: "no",
      reason: "Invalid",
      code: 1000,
      details: { name: "n", causes: [{ reason: "r", message: "m", field: "f" }], retryAfterSeconds: 3 },
    },
    warnings: ["w"],
    auditAnnotations: { a: "b" },
  },
});

test(`an answer of an admission webhook is accepted or rejected, SEED=${seed}`, { timeout: 1_200_000 }, async () => {
  for (let at = 0; at < counts.webhook; at++) {
    const version = pick(["v1", "v1beta1"] as const);
    try {
      const { allowed, result } = readResponse(randomAnswer(review(version)), {
        version,
        uid: "u",
        isMutating: random(2) === 0,
      });
      if (allowed || result === undefined) continue;
      const path = `/denied/${at}`;
      denials.set(path, result);
      const status = await send(path);
      denials.delete(path);
      assert.ok(status >= 400 && status <= 599, JSON.stringify(result));
    } catch (error) {
      if (!(error instanceof WebhookError || error instanceof InvalidReview)) throw error;
    }
  }
  assert.deepEqual(failures, []);
});

const conversion = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "ConversionReview",
  response: {
    uid: "u",
    result: { status: "Success", message: "m" },
    convertedObjects: [{ apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" } }],
  },
};

test(`an answer of a converter is accepted or rejected, SEED=${seed}`, { timeout: 1_200_000 }, () => {
  for (let at = 0; at < counts.converter; at++) {
    try {
      assert.ok(Array.isArray(readReview(randomAnswer(conversion), { version: "v1", uid: "u" })));
    } catch (error) {
      if (!(error instanceof WebhookError || error instanceof ReviewProblem)) throw error;
    }
  }
});

test(`a message of etcd is decoded or rejected, SEED=${seed}`, { timeout: 1_200_000 }, () => {
  for (let at = 0; at < counts.etcd; at++) {
    const bytes = Buffer.from(
      Array.from({ length: random(60) }, () =>
        random(3) === 0 ? random(256) : pick([8, 10, 16, 18, 26, 34, 90, 1, 2, 0]),
      ),
    );
    try {
      decodeMessage(pick([rangeResponse, txnResponse, watchResponse]), bytes);
    } catch (error) {
      if (!(error instanceof ProtobufError)) throw error;
    }
  }
});
