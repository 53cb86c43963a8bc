/**
 * Random answers of backends over HTTP/1.1: valid ones with odd values, damaged bytes, and ends at any byte, late or
 * never.
 */
import type { Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import {
  encodeDataHead,
  encodeGoAway,
  encodePing,
  encodeRstStream,
  encodeSynReply,
} from "../../src/lib/spdy/frames.ts";
import { HeaderEncoder } from "../../src/lib/spdy/headers.ts";
import type { seededRandom } from "./seeded-random.ts";

/** Each opens a connection to a backend that answers at random. */
export interface RandomBackends {
  /** Answers with a random response, and ends, breaks off, or leaves the connection open. */
  openServer(): Promise<Socket>;
  /** A kubelet that answers each piece of a request for streams with the next one of a random answer. */
  openKubelet(): Promise<Socket>;
  /** A kubelet that sends a random log in pieces, over several turns of the event loop. */
  openLog(): Promise<Socket>;
}

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

type Random = ReturnType<typeof seededRandom>;

/** A random generator, and choices by it. */
interface Choices {
  readonly random: Random;
  pick<T>(items: readonly T[]): T;
  /** The value in three of four calls. */
  usually<T>(value: T, others: readonly T[]): T;
}

export function randomBackends(random: Random): RandomBackends {
  const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;
  const usually = <T>(value: T, others: readonly T[]): T => (random(4) > 0 ? value : pick(others));
  const choices = { random, pick, usually };
  return {
    openServer: async () => answerOnce(choices),
    openKubelet: async () => answerInTurn(choices),
    openLog: async () => answerSlowly(choices),
  };
}

function openPair(): { readonly near: Socket; readonly far: Duplex } {
  const [near, far] = duplexPair();
  far.on("error", () => {}); // The proxy closes the connection.
  return { near: near as Socket, far }; // What Node's HTTP client uses of it is that of a Duplex.
}

function answerOnce(choices: Choices): Socket {
  const { random } = choices;
  const { near, far } = openPair();
  far.resume();
  const end = random(4);
  if (end !== 3 || random(2) === 0) far.write(randomResponse(choices));
  if (end === 0) far.end();
  else if (end === 1) setImmediate(() => far.destroy());
  return near;
}

function randomResponse({ random, pick }: Choices): Buffer {
  const lines = Array.from({ length: random(5) }, () => pick(headers));
  const bytes = Buffer.from(`HTTP/1.1 ${pick(statuses)} Odd\r\n${lines.join("\r\n")}\r\n\r\n${pick(bodies)}`, "latin1");
  for (let left = random(3); left > 0; left--) if (random(4) === 0) bytes[random(bytes.length)] = random(256);
  return random(3) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes;
}

function answerInTurn(choices: Choices): Socket {
  const { near, far } = openPair();
  const pieces = randomUpgrade(choices);
  const end = choices.random(4);
  far.on("data", () => {
    const next = pieces.shift();
    if (next !== undefined && !far.writableEnded) far.write(next);
    else if (end === 0) far.end();
    else if (end === 1) setImmediate(() => far.destroy());
  });
  return near;
}

/** The pieces of a kubelet's answer to a request for streams: the head, and frames of SPDY. */
function randomUpgrade({ random, pick, usually }: Choices): Buffer[] {
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

/** Usually a log that the server forwards, in pieces whose length need not be the announced one. */
function randomLog({ random, pick, usually }: Choices): Buffer[] {
  const framing = usually("Transfer-Encoding: chunked", headers);
  const lines = [framing, ...Array.from({ length: random(3) }, () => pick(headers))];
  const head = Buffer.from(`HTTP/1.1 ${usually("200", statuses)} Odd\r\n${lines.join("\r\n")}\r\n\r\n`, "latin1");
  const pieces = Array.from({ length: random(9) }, () => {
    const text = pick(bodies);
    return Buffer.from(
      usually(`${text.length.toString(16)}\r\n${text}\r\n`, [text, "0\r\n\r\n", "fffffffff\r\n"]),
      "latin1",
    );
  });
  return [head, ...pieces].map((bytes) => {
    if (bytes.length > 0 && random(20) === 0) bytes[random(bytes.length)] = random(256);
    return random(20) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes;
  });
}

function answerSlowly(choices: Choices): Socket {
  const { near, far } = openPair();
  far.resume();
  const pieces = randomLog(choices);
  const end = choices.random(3);
  const sendNext = (): void => {
    const next = pieces.shift();
    if (far.destroyed) return;
    if (next !== undefined) far.write(next, () => setImmediate(sendNext));
    else if (end === 0) far.end();
    else if (end === 1) far.destroy();
  };
  far.once("data", sendNext);
  return near;
}
