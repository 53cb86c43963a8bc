/**
 * Keeps many lists of one user open at once, and discards their bodies. Arguments: a Flood as JSON.
 * Sends `{ lists, bytes, rejected }`, the counts since the last question, for each message.
 */
import http2 from "node:http2";
import tls from "node:tls";

/** The lists. */
export interface Flood {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
  readonly path: string;
  readonly protocol: "HTTP/1.1" | "HTTP/2";
  readonly parallel: number;
}

const streamsPerSession = 250;
const flood = JSON.parse(process.argv[2] as string) as Flood;
const { hostname, port } = new URL(flood.url);
let lists = 0;
let bytesRead = 0;
let rejected = 0;

process.on("message", () => {
  process.send?.({ lists, bytes: bytesRead, rejected });
  lists = 0;
  bytesRead = 0;
  rejected = 0;
});
process.on("disconnect", () => process.exit(0));

/** A client waits as long as the response says. */
function again(status: number, retryAfter: string, send: () => void): void {
  if (status === 200) {
    lists++;
    return send();
  }
  if (status !== 429) throw new Error(`status ${status}`);
  rejected++;
  setTimeout(send, Number(retryAfter) * 1000);
}

const request = Buffer.from(
  `GET ${flood.path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${flood.token}\r\naccept: application/json\r\n\r\n`,
);
const lastChunk = Buffer.from("\r\n0\r\n\r\n");
/** All connections read into it, because nothing of a body is kept. */
const shared = Buffer.allocUnsafe(256 << 10);

function listOverHttp1(): Promise<void> {
  return new Promise((resolve, reject) => {
    let status = 0;
    let retryAfter = "";
    /** Bytes of a body with a length; undefined for a body in chunks. */
    let left: number | undefined;
    let tail = Buffer.alloc(0);
    const send = (): void => {
      status = 0;
      socket.write(request);
    };
    const read = (length: number): void => {
      bytesRead += length;
      let bytes = shared.subarray(0, length);
      if (status === 0) {
        const end = bytes.indexOf("\r\n\r\n");
        if (end < 0) throw new Error("the headers come in several pieces");
        const head = bytes.toString("latin1", 0, end);
        status = Number(head.slice(9, 12));
        retryAfter = /\r\nretry-after: (\d+)/i.exec(head)?.[1] ?? "1";
        const sent = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
        left = sent === undefined ? undefined : Number(sent);
        bytes = bytes.subarray(end + 2); // The first chunk follows a line end.
        if (left !== undefined) left += 2;
      }
      if (left !== undefined) {
        left -= bytes.length;
        if (left === 0) again(status, retryAfter, send);
        return;
      }
      tail = Buffer.from(
        bytes.length >= lastChunk.length
          ? bytes.subarray(-lastChunk.length)
          : Buffer.concat([tail, bytes]).subarray(-lastChunk.length),
      );
      if (tail.equals(lastChunk)) again(status, retryAfter, send);
    };
    const socket = tls.connect({
      host: hostname,
      port: Number(port),
      ca: flood.ca,
      ALPNProtocols: ["http/1.1"],
      onread: {
        buffer: shared,
        callback: (length: number) => {
          read(length);
          return true;
        },
      },
    } as tls.ConnectionOptions);
    socket.once("secureConnect", () => {
      starters.push(send);
      resolve();
    });
    socket.once("error", reject);
  });
}

function openSession(): Promise<void> {
  return new Promise((resolve, reject) => {
    const session = http2.connect(flood.url, { ca: flood.ca, settings: { initialWindowSize: 1 << 20 } });
    session.setMaxListeners(0);
    session.once("error", reject);
    session.once("connect", () => {
      session.setLocalWindowSize(64 << 20);
      const count = Math.min(streamsPerSession, flood.parallel - starters.length);
      for (let index = 0; index < count; index++) starters.push(() => listOverHttp2(session));
      resolve();
    });
  });
}

function listOverHttp2(session: http2.ClientHttp2Session): void {
  const stream = session.request(
    { ":path": flood.path, authorization: `Bearer ${flood.token}`, accept: "application/json" },
    { endStream: true },
  );
  let status = 0;
  let retryAfter = "1";
  stream.once("response", (headers) => {
    status = Number(headers[":status"]);
    retryAfter = String(headers["retry-after"] ?? "1");
  });
  stream.once("end", () => again(status, retryAfter, () => listOverHttp2(session)));
  stream.on("data", ({ length }: Buffer) => {
    bytesRead += length;
  });
}

const starters: (() => void)[] = [];
if (flood.protocol === "HTTP/1.1") for (let index = 0; index < flood.parallel; index++) await listOverHttp1();
else while (starters.length < flood.parallel) await openSession();
for (const start of starters) start();
process.send?.("ready");
