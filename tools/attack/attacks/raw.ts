/** Requests that no HTTP library sends. */
import { once } from "node:events";
import { type Attack, type Bound, usualBound } from "../contract.ts";
import type { Target } from "../target.ts";

interface RawRow {
  readonly name: string;
  readonly size: number;
  text(size: number, target: Target): string;
  /** What the first line of the answer must contain; any answer or none if unset. */
  readonly answer?: string;
  readonly bound?: Bound;
}

const rows: readonly RawRow[] = [
  {
    name: "two Host headers",
    size: 2,
    answer: " 400 ",
    text: (size, { authority }) => `GET /version HTTP/1.1\r\n${`Host: ${authority}\r\n`.repeat(size)}\r\n`,
  },
  {
    name: "thousands of headers",
    size: 50_000,
    text: (size, { authority }) => `GET /version HTTP/1.1\r\nHost: ${authority}\r\n${"a: b\r\n".repeat(size)}\r\n`,
  },
  {
    // Node's parser calls the server for each chunk.
    name: "a chunked body of one-byte chunks",
    size: 50_000,
    bound: { cpuMs: 5, cpuMsPer100KB: 150 },
    text: (size, { authority }) =>
      `POST /api/v1/namespaces HTTP/1.1\r\nHost: ${authority}\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n${"1\r\n \r\n".repeat(size)}0\r\n\r\n`,
  },
  {
    name: "thousands of requests in one write",
    size: 200,
    bound: { cpuMs: 200, cpuMsPer100KB: 5, stallMs: 200 },
    text: (size, { authority }) => `GET /nothing HTTP/1.1\r\nHost: ${authority}\r\n\r\n`.repeat(size),
  },
];

export const rawAttacks: readonly Attack[] = rows.map(({ name, size, text, answer, bound = usualBound }) => ({
  group: "n",
  name,
  size,
  bound,
  async run(target, count) {
    const sent = text(count, target);
    const first = await firstAnswer(target, sent);
    if (answer !== undefined && !first.includes(answer)) throw new Error(`answered ${first}, not${answer}`);
    return { bytes: sent.length, answer: first };
  },
}));

const answerMs = 10_000;

/** @returns the first line of the answer; empty if the server closed the connection without one */
async function firstAnswer(target: Target, text: string): Promise<string> {
  const socket = target.connect("http/1.1");
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.on("error", () => socket.destroy()); // The server may reset the connection.
  await once(socket, "secureConnect");
  const timer = setTimeout(() => socket.destroy(), answerMs);
  let received = "";
  const answered = new Promise<void>((resolve) => {
    socket.on("data", (piece: Buffer) => {
      received += piece.toString("latin1");
      if (received.includes("\r\n")) resolve();
    });
  });
  socket.write(text);
  await Promise.race([answered, closed]);
  clearTimeout(timer);
  socket.destroy();
  await closed;
  return received.split("\r\n", 1)[0] ?? "";
}
